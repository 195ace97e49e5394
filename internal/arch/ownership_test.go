package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// Goroutines share the rooms of the gateway. Each field of a struct there that holds a lock or an atomic, and of Gateway, has a type
// that guards itself, stands below the mutex that guards it, is set by constructors alone, or has a comment: "guarded by", "set before".
func TestOwnership(t *testing.T) {
	testutil.Long(t)
	structs, all := structsOf(t)
	n := 0
	for pkg, files := range all {
		if pkg != "gateway" && !strings.HasPrefix(pkg, "gateway/") || pkg == "gateway/roomtest" {
			continue
		}
		changed := changedOutsideNew(files)
		for name, st := range structs[path.Base(pkg)] {
			if !structs.guardsItself(path.Base(pkg), &ast.Ident{Name: name}) && name != "Gateway" {
				continue
			}
			for _, f := range unguarded(st, files[0].fset) {
				n++
				safe := structs.guardsItself(path.Base(pkg), f.field.Type)
				if !safe && (changed[name+"."+f.name] || changed[f.name] && structs.only(path.Base(pkg), f.name)) {
					t.Errorf("%s.%s.%s changes, and nothing guards it: say in its comment what it is guarded by, or set before", pkg, name, f.name)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d fields were found", n)
	}
}

// The comment of each stage says what it owns.
func TestStagesOwn(t *testing.T) {
	comments, n := map[string]string{}, 0
	files := packages(sources(t))["stages"]
	for _, s := range files {
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				comments[g.Specs[0].(*ast.TypeSpec).Name.Name] = g.Doc.Text()
			}
		}
	}
	for _, s := range files {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Work" && !s.test() {
				n++
				if !strings.Contains(strings.ReplaceAll(comments[receiver(f).Name], "\n", " "), " owns ") {
					t.Errorf("the comment of stage %s does not say what it owns", receiver(f).Name)
				}
			}
		}
	}
	if n != 12 {
		t.Errorf("%d stages were found, not 12", n)
	}
}

// structTypes are the structs of the module, by the last element of their package and their name.
type structTypes map[string]map[string]*ast.StructType

func structsOf(t *testing.T) (structTypes, map[string][]source) {
	t.Helper()
	structs, all := structTypes{}, map[string][]source{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		all[s.pkg] = append(all[s.pkg], s)
		in := structs[path.Base(s.pkg)]
		if in == nil {
			in = map[string]*ast.StructType{}
			structs[path.Base(s.pkg)] = in
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if ts, ok := n.(*ast.TypeSpec); ok {
				if st, ok := ts.Type.(*ast.StructType); ok {
					in[ts.Name.Name] = st
				}
			}
			return true
		})
	}
	return structs, all
}

// guardsItself reports whether a type is one of sync or sync/atomic, or holds one.
func (s structTypes) guardsItself(pkg string, t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.ArrayType:
		return s.guardsItself(pkg, t.Elt)
	case *ast.StarExpr:
		of, ok := t.X.(*ast.SelectorExpr)
		return ok && s.guardsItself(pkg, of) && s[of.X.(*ast.Ident).Name] == nil
	case *ast.IndexExpr:
		return s.guardsItself(pkg, t.X) || s.guardsItself(pkg, t.Index)
	case *ast.SelectorExpr:
		of := t.X.(*ast.Ident).Name
		return of == "sync" || of == "atomic" || s.guardsItself(of, t.Sel)
	case *ast.Ident:
		st := s[pkg][t.Name]
		return st != nil && slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool { return s.guardsItself(pkg, f.Type) })
	}
	return false
}

// only reports whether no more than one struct of a package has a field of that name.
func (s structTypes) only(pkg, name string) bool {
	n := 0
	for _, st := range s[pkg] {
		for _, f := range st.Fields.List {
			if slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == name }) {
				n++
			}
		}
	}
	return n == 1
}

type namedField struct {
	name  string
	field *ast.Field
}

// unguarded returns the fields of a struct that neither stand directly below a mutex nor say what guards them.
func unguarded(st *ast.StructType, fset *token.FileSet) (all []namedField) {
	below, last := false, 0
	for _, f := range st.Fields.List {
		begins := f.Pos()
		if f.Doc != nil {
			begins = f.Doc.Pos()
		}
		below = below && fset.Position(begins).Line <= last+1
		last = fset.Position(f.End()).Line
		t, _ := f.Type.(*ast.SelectorExpr)
		if t != nil && (t.Sel.Name == "Mutex" || t.Sel.Name == "RWMutex") {
			below = true
		}
		if text := f.Doc.Text() + f.Comment.Text(); below || strings.Contains(text, "guarded by") || strings.Contains(text, "set before") {
			continue
		}
		for _, id := range f.Names {
			all = append(all, namedField{id.Name, f})
		}
	}
	return all
}

// changedOutsideNew returns the fields that functions assign, but for constructors: as Type.field if the field is the
// receiver's.
func changedOutsideNew(files []source) map[string]bool {
	changed := map[string]bool{}
	var of *ast.FuncDecl
	field := func(x ast.Expr) {
		if i, ok := x.(*ast.IndexExpr); ok {
			x = i.X
		}
		s, ok := x.(*ast.SelectorExpr)
		if !ok {
			return
		}
		if id, ok := s.X.(*ast.Ident); ok && of.Recv != nil && len(of.Recv.List[0].Names) > 0 && of.Recv.List[0].Names[0].Name == id.Name {
			changed[receiver(of).Name+"."+s.Sel.Name] = true
			return
		}
		changed[s.Sel.Name] = true
	}
	for _, s := range files {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasPrefix(strings.ToLower(f.Name.Name), "new") {
				continue
			}
			of = f
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, x := range n.Lhs {
						field(x)
					}
				case *ast.IncDecStmt:
					field(n.X)
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "delete" {
						field(n.Args[0])
					}
				}
				return true
			})
		}
	}
	return changed
}
