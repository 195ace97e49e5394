package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the module's directory.
const root = "../.."

// A source is one Go file, including tests and files for other systems.
type source struct {
	path string // from the root: "stages/flow/run.go"
	pkg  string // "stages/flow"
	file *ast.File
	fset *token.FileSet
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// sources returns every file of the module, and of the modules below it that are a part of it. Tests do not change them.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parsed parses them once, for all tests.
var parsed = sync.OnceValues(func() (all []source, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name[0] == '.' || name == "testdata" || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		if d.IsDir() && path != root {
			if mod, err := os.ReadFile(filepath.Join(path, "go.mod")); err == nil && !bytes.HasPrefix(mod, []byte("module pmg/")) {
				return fs.SkipDir // programs that tests run
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{rel, filepath.ToSlash(filepath.Dir(rel)), f, fset})
		return nil
	})
	return all, err
})

// packages returns the files of each package.
func packages(all []source) map[string][]source {
	m := map[string][]source{}
	for _, s := range all {
		m[s.pkg] = append(m[s.pkg], s)
	}
	return m
}
