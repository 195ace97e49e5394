package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// ARCHITECTURE.md says of each field of the gateway's shared state who changes it, and what guards it.
func TestOwnership(t *testing.T) {
	testutil.Long(t)
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // what the first column has, by the second
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			rows[strings.Trim(cells[2], " `")] += cells[1]
		}
	}
	for of, pkg := range map[string]string{"Gateway": "gateway", "node.Node": "gateway/node", "keep.Keeper": "gateway/keep", "route.Table": "gateway/route", "convert.Desk": "gateway/convert", "receipts.Desk": "gateway/receipts", "settle.Desk": "gateway/settle", "intake.Desk": "gateway/intake", "operate.Desk": "gateway/operate", "login.Desk": "gateway/login", "session.Desk": "gateway/session"} {
		_, name, _ := strings.Cut("."+of, ".")
		name = name[strings.LastIndex(name, ".")+1:]
		n := 0
		for _, s := range packages(sources(t))[pkg] {
			for _, f := range fieldsOf(s.file, name) {
				if n++; !strings.Contains(rows[of], "`"+f+"`") {
					t.Errorf("ARCHITECTURE.md does not say what guards %s of %s: add it to the table below Ownership of state", f, of)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s has no fields", of)
		}
	}
}

// fieldsOf returns the names of the fields of a struct, without the rooms that it holds, which have rows of their own.
func fieldsOf(f *ast.File, name string) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		ts, ok := n.(*ast.TypeSpec)
		if !ok || ts.Name.Name != name {
			return true
		}
		if st, ok := ts.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				if isRoom(field.Type) {
					continue
				}
				for _, id := range field.Names {
					names = append(names, id.Name)
				}
			}
		}
		return false
	})
	return names
}

// isRoom reports whether a field is a pointer to a room of the gateway. These do not change.
func isRoom(of ast.Expr) bool {
	star, ok := of.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Desk" || sel.Sel.Name == "Node" || sel.Sel.Name == "Keeper" || sel.Sel.Name == "Table")
}
