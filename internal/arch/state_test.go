package arch

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// Two gateways can run in one process, because no package has state that changes, and none
// runs code when it is imported. A package-level variable is a table, an error, or a value
// that the linker sets, and is written only once.
func TestNoPackageState(t *testing.T) {
	testutil.Long(t)
	for pkg, files := range packages(sources(t)) {
		if onlyTests(files) {
			continue
		}
		for _, system := range []string{"linux", "darwin"} {
			checkState(t, pkg, built(files, system))
		}
	}
}

// built returns the files that are built on a system, without tests. It understands only
// the file names and constraints that this module uses.
func built(files []source, system string) []source {
	return slices.DeleteFunc(slices.Clone(files), func(s source) bool {
		other := map[string]string{"linux": "_bsd", "darwin": "_linux"}[system]
		return s.test() || strings.HasSuffix(s.path, other+".go") || strings.HasSuffix(s.path, "_debug.go") ||
			system == "linux" && strings.HasSuffix(s.path, "_other.go")
	})
}

func checkState(t *testing.T, pkg string, files []source) {
	t.Helper()
	var parsed []*ast.File
	for _, s := range files {
		parsed = append(parsed, s.file)
		ast.Inspect(s.file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", s.path)
			}
			return true
		})
	}
	if len(files) == 0 {
		return
	}
	// The checker resolves identifiers of the package without its imports.
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}, Importer: noImporter{}}
	checked, _ := conf.Check(pkg, files[0].fset, parsed, info)
	isState := func(x ast.Expr) bool {
		v, ok := info.Uses[base(x)].(*types.Var)
		return ok && v.Parent() == checked.Scope()
	}
	for _, s := range files {
		report := func(n ast.Node, what string) {
			t.Errorf("%s: %s", s.fset.Position(n.Pos()), what)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, x := range written(n) {
				if isState(x) {
					report(x, "changes a variable of the package")
				}
			}
			return true
		})
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR && mutable(g) {
				report(g, "a variable of the package whose type is made to be changed")
			}
		}
	}
}

// noImporter is an importer that imports nothing.
type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// written returns the expressions that a node changes or takes the address of.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if x, whole := n.X.(*ast.Ident); whole && n.Op == token.AND { // a pointer to a row of a table is for reading
			return []ast.Expr{x}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// base returns the variable that an expression is a part of.
func base(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// mutable reports whether a variable is of a kind that is made to be changed: a lock, an
// atomic, a pool, a channel, or a variable without a value.
func mutable(g *ast.GenDecl) (found bool) {
	for _, spec := range g.Specs {
		v := spec.(*ast.ValueSpec)
		if len(v.Values) == 0 && !strings.Contains(text(g.Doc)+text(v.Doc), "//go:embed ") {
			found = true
		}
		ast.Inspect(v, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ChanType:
				found = true
			case *ast.SelectorExpr:
				if p, ok := n.X.(*ast.Ident); ok && (p.Name == "sync" || p.Name == "atomic") {
					found = true
				}
			}
			return true
		})
	}
	return found
}

// text returns a comment with its directives.
func text(c *ast.CommentGroup) (all string) {
	if c == nil {
		return ""
	}
	for _, line := range c.List {
		all += line.Text
	}
	return all
}
