package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// A shape is what a type declares: its methods, its fields, and the structs of the module that it embeds.
type shape struct {
	methods, fields map[string]bool
	embeds          []string // "package.Type"
}

// shapes returns the types of all packages, and the embedded pointers to structs of another package.
func shapes(t *testing.T) (types map[string]*shape, foreign []string) {
	types = map[string]*shape{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		imports := imported(s.file)
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					of(types, s.pkg+"."+receiver(n).Name).methods[n.Name.Name] = true
				}
			case *ast.TypeSpec:
				st, ok := n.Type.(*ast.StructType)
				if !ok {
					return true
				}
				name := s.pkg + "." + n.Name.Name
				to := of(types, name)
				for _, f := range st.Fields.List {
					for _, id := range f.Names {
						to.fields[id.Name] = true
					}
					if len(f.Names) > 0 {
						continue
					}
					target, field, pointer := embedded(s.pkg, imports, f.Type)
					to.fields[field] = true
					to.embeds = append(to.embeds, target)
					if pointer && target != "" && !strings.HasPrefix(target, s.pkg+".") {
						foreign = append(foreign, name+" embeds "+target)
					}
				}
			}
			return true
		})
	}
	return types, foreign
}

func of(types map[string]*shape, name string) *shape {
	if types[name] == nil {
		types[name] = &shape{methods: map[string]bool{}, fields: map[string]bool{}}
	}
	return types[name]
}

// imported returns the module's packages that a file imports, by the names that it uses.
func imported(f *ast.File) map[string]string {
	m := map[string]string{}
	for _, im := range f.Imports {
		path, ok := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), "pmg/")
		if !ok {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		m[name] = path
	}
	return m
}

// embedded returns the type that a field embeds, "" if it is not of the module, and the field's name.
func embedded(pkg string, imports map[string]string, of ast.Expr) (target, field string, pointer bool) {
	if star, ok := of.(*ast.StarExpr); ok {
		of, pointer = star.X, true
	}
	switch of := of.(type) {
	case *ast.Ident:
		return pkg + "." + of.Name, of.Name, pointer
	case *ast.SelectorExpr:
		if id, ok := of.X.(*ast.Ident); ok && imports[id.Name] != "" {
			target = imports[id.Name] + "." + of.Sel.Name
		}
		return target, of.Sel.Name, pointer
	}
	return "", "", pointer
}

// reach counts what a type declares and what embedding gives it.
func reach(types map[string]*shape, name string) (methods, fields int) {
	m, f, seen := map[string]bool{}, map[string]bool{}, map[string]bool{}
	pkg := name[:strings.LastIndex(name, ".")]
	var walk func(string)
	walk = func(name string) {
		s := types[name]
		if s == nil || seen[name] {
			return
		}
		seen[name] = true
		visible := func(word string) bool {
			return name[:strings.LastIndex(name, ".")] == pkg || ast.IsExported(word)
		}
		for word := range s.methods {
			m[word] = m[word] || visible(word)
		}
		for word := range s.fields {
			f[word] = f[word] || visible(word)
		}
		for _, e := range s.embeds {
			walk(e)
		}
	}
	walk(name)
	return count(m), count(f)
}

func count(of map[string]bool) (n int) {
	for _, yes := range of {
		if yes {
			n++
		}
	}
	return n
}

// A receiver reaches what it declares and what it embeds; both are limited: promoted members tie rooms together as much
// as declared ones.
func TestReach(t *testing.T) {
	types, foreign := shapes(t)
	method, field := map[string]int{}, map[string]int{}
	for name := range types {
		method[name], field[name] = reach(types, name)
	}
	rooms := map[string]int{}
	for name, n := range field {
		if slices.ContainsFunc([]string{"gateway", "httpapi", "httpapi/webhook", "httpapi/httpsmsc"}, func(area string) bool {
			return strings.HasPrefix(name, area+".") || strings.HasPrefix(name, area+"/")
		}) {
			rooms[name] = n
		}
	}
	roomFields().check(t, rooms)
	methods().check(t, method)
	fields().check(t, field)
	for _, one := range foreign {
		if embeds[one] == "" {
			t.Errorf("%s, a struct of another package: name the field, and say what it is for", one)
		}
	}
	for one, why := range embeds {
		if found := slices.Contains(foreign, one); !found || why == "" {
			t.Errorf("the exception %q is not needed, or says no reason", one)
		}
	}
}
