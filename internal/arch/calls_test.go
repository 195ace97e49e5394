package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Only internal/httpcall makes clients of HTTP, so that the bounds of calls are in one place. Load and the kits of tests have
// their own.
func TestOneCaller(t *testing.T) {
	const room = "internal/httpcall"
	own := []string{"loadtest", "internal/testkit", "httpapi/apitest"}
	for pkg, files := range packages(sources(t)) {
		if slices.ContainsFunc(own, func(above string) bool { return pkg == above || strings.HasPrefix(pkg, above+"/") }) {
			continue
		}
		var at []string
		for _, s := range files {
			if !s.test() {
				at = append(at, httpClients(s)...)
			}
		}
		if len(at) > 0 != (pkg == room) {
			t.Errorf("%s makes clients of HTTP at %q; %s alone does", pkg, at, room)
		}
	}
}

// httpClients returns where a file makes a client, a transport or a request of HTTP, or uses those of net/http.
func httpClients(s source) (at []string) {
	name := ""
	for _, im := range s.file.Imports {
		if im.Path.Value == `"net/http"` {
			if name = "http"; im.Name != nil {
				name = im.Name.Name
			}
		}
	}
	pointers := map[ast.Node]bool{} // types of what another package has made
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			pointers[n.X] = true
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || id.Name != name || pointers[n] {
				return true
			}
			switch n.Sel.Name {
			case "Client", "Transport", "DefaultClient", "DefaultTransport", "NewRequest", "NewRequestWithContext",
				"Get", "Head", "Post", "PostForm":
				at = append(at, strings.TrimPrefix(s.fset.Position(n.Pos()).String(), root+"/"))
			}
		}
		return true
	})
	return at
}
