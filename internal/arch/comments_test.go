package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// Every package comment says where to start reading.
func TestStartReading(t *testing.T) {
	for pkg, files := range packages(sources(t)) {
		var comment string
		for _, s := range files {
			if s.file.Doc != nil && !s.test() {
				comment += s.file.Doc.Text()
			}
		}
		if !strings.Contains(comment, "Start reading") {
			t.Errorf("package %s: its comment does not say where to start reading", pkg)
		}
	}
}

// Everything exported is documented.
func TestExportedDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, d := range s.file.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no comment", s.fset.Position(name.Pos()), name.Name)
			}
		}
	}
}

// undocumented returns the exported names of a declaration that have no comment.
func undocumented(d ast.Decl) (names []*ast.Ident) {
	check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			if c != nil {
				return
			}
		}
		if name.IsExported() {
			names = append(names, name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || receiver(d).IsExported() {
			check(d.Name, d.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				check(spec.Name, d.Doc, spec.Doc)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					check(name, d.Doc, spec.Doc, spec.Comment)
				}
			}
		}
	}
	return names
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) *ast.Ident {
	x := f.Recv.List[0].Type
	for {
		switch e := x.(type) {
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e
		}
	}
}
