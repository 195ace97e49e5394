package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Only internal/httpcall makes clients of HTTP, so that the bounds of calls are in one place. Programs and kits for tests have
// their own.
func TestOneCaller(t *testing.T) {
	clients := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test() {
			clients[s.pkg] = append(clients[s.pkg], httpClients(s)...)
		}
	}
	may := []string{"internal/httpcall", "loadtest/httpsink", "loadtest/httpload", "loadtest/bench", "httpapi/apitest"}
	for _, pkg := range slices.Sorted(maps.Keys(clients)) {
		if makes := clients[pkg]; len(makes) > 0 != slices.Contains(may, pkg) {
			t.Errorf("%s: it may make clients of HTTP: %t; it does so at %q", pkg, slices.Contains(may, pkg), makes)
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
