package arch

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Two gateways can run in one process, because no package keeps anything that
// changes, and none does anything when it is imported. A variable of a package
// is a table, an error, or a value that the linker sets: written once.
func TestNoPackageState(t *testing.T) {
	for pkg, files := range packages(sources(t)) {
		if onlyTests(files) {
			continue
		}
		for _, system := range []string{"linux", "darwin"} {
			checkState(t, pkg, built(files, system))
		}
	}
}

// built leaves out tests and what is not built on a system; it looks at the
// file's name and its constraint only as far as ours go.
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
	// Which identifier means which variable is known without what is imported.
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}, Importer: nothing{}}
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
				report(g, "a variable of the package that is made to be changed")
			}
		}
	}
}

// nothing is an importer that imports nothing.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// written lists what a node changes, or lets others change.
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
		if x, whole := n.X.(*ast.Ident); whole && n.Op == token.AND { // of a table, a row is pointed to for reading
			return []ast.Expr{x}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// base finds the variable that an expression is a part of.
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

// mutable reports whether a declaration is of a kind that only serves to be
// changed: a lock, an atomic, a pool, a channel, or nothing yet.
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

// text is a comment with its directives.
func text(c *ast.CommentGroup) (all string) {
	if c == nil {
		return ""
	}
	for _, line := range c.List {
		all += line.Text
	}
	return all
}
