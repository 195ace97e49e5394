// Package templates checks the templates of pages, including parts that are on no page of a test.
//
// Start reading with Check.
package templates

import (
	"io/fs"
	"reflect"
	"regexp"
	"testing"
)

// Check fails the test if a template uses a field or method of "$" that none of the views has.
func Check(t testing.TB, files fs.FS, views ...any) {
	t.Helper()
	asked := regexp.MustCompile(`\$\.([A-Z]\w*)`)
	n := 0
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		for _, m := range asked.FindAllSubmatch(text, -1) {
			n++
			if !has(views, string(m[1])) {
				t.Errorf("%s asks for $.%s, which no view has", path, m[1])
			}
		}
		return err
	})
	if err != nil || n == 0 {
		t.Errorf("%d fields and methods are asked for: %v", n, err)
	}
}

func has(views []any, name string) bool {
	for _, v := range views {
		t := reflect.TypeOf(v)
		if _, ok := t.MethodByName(name); ok {
			return true
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if _, ok := t.FieldByName(name); ok {
			return true
		}
	}
	return false
}
