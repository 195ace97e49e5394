package kannel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/parser"
)

// Lines, quotes and comments are read as Kannel does.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{"group = a\nb = c\n", `a[b="c"]`},
		{"b = c\ngroup = a\nd=e", `a[b="c" d="e"]`},
		{"group = a\n\nb = c\n", `a[] [b="c"]`},
		{"group = a\n  # x = y\n\tb\t=\tc \r\n", `a[b="c"]`},
		{"group = a\nb = c # d", `a[b="c # d"]`},
		{"group = a\nb = \"c # \\\"d\\\\\"", `a[b="c # \"d\\"]`},
		{`group = a` + "\n" + `b = "\d`, `a[b="\"\\d"]`},
		{`group = a` + "\n" + `b = "\d"`, `a[b="\\d"]`},
		{"group = a\nb = c;\\\n  d\ne = f", `a[b="c;  d" e="f"]`},
		{"group = a\nb = c\\\\\ne = f", `a[b="c\\" e="f"]`},
		{"group = a\nb = \ngroup = c\n", `a[b=""] c[]`},
		{"group = a\nb = c = d", `a[b="c = d"]`},
		{"\ufeffgroup = a", `a[]`},
		{"", ``},
	} {
		r := reader{}
		err := r.read(file{"k", row.text})
		var got []string
		for _, g := range r.groups {
			var all []string
			for _, o := range g.Options {
				all = append(all, fmt.Sprintf("%s=%q", o.Name, o.Value))
			}
			got = append(got, g.Kind+"["+strings.Join(all, " ")+"]")
		}
		if s := strings.Join(got, " "); err != nil || s != row.want {
			t.Errorf("%q: %s, %v; want %s", row.text, s, err, row.want)
		}
	}
	for _, text := range []string{"group", "= x", "group = a\nword\n"} {
		r := reader{}
		if err := r.read(file{"k", text}); err == nil || !strings.Contains(err.Error(), "name = value") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Files and directories are included, and neither a circle nor a pipe keeps the reader busy.
func TestInclude(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"main.conf": "include = more\ngroup = core\nadmin-port = 1\ninclude = \"" + dir + "/one.conf\"\n", "one.conf": "log-level = 1\n\ngroup = x\n",
		"more/b.conf": "group = b\n", "more/a.conf": "group = a\n", "circle.conf": "include = other.conf\n", "other.conf": "include = circle.conf\n", "none.conf": "include = missing.conf\n",
		"device.conf": "include = /dev/zero\n", "twice.conf": "include = one.conf\n\ninclude = one.conf\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	groups, err := ReadFile(filepath.Join(dir, "main.conf"))
	if err != nil || len(groups) != 4 || groups[0].Kind+groups[1].Kind+groups[3].Kind != "abx" || len(groups[2].Options) != 2 {
		t.Errorf("%v, %v", groups, err)
	}
	if _, err := ReadFile(filepath.Join(dir, "twice.conf")); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"circle.conf": "include each other", "none.conf": "no such file", "device.conf": "not a regular file", "absent.conf": "no such file"} {
		if _, err := ReadFile(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A directory of files that are each read often is too much at some time.
func TestBounds(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("#", maxOctets/3)
	r := reader{}
	r.open = func(string) ([]file, error) { return []file{{"x", large}}, nil }
	if err := r.read(file{"k", strings.Repeat("include = x\n\n", 4)}); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Error(err)
	}
	n := 0
	r = reader{open: func(string) ([]file, error) { n++; return []file{{fmt.Sprint(n), "include = x\n"}}, nil }}
	if err := r.read(file{"k", "include = x"}); err == nil || !strings.Contains(err.Error(), "include each other") {
		t.Error(err)
	}
	r = reader{open: func(string) ([]file, error) { return []file{{"x", ""}}, nil }}
	if err := r.read(file{"k", strings.Repeat("include = x\n\n", maxFiles+1)}); err == nil || !strings.Contains(err.Error(), "files are included") {
		t.Error(err)
	}
}

// Whatever comes in becomes YAML.
func FuzzTranslate(f *testing.F) {
	for _, name := range []string{"small", "full"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".conf"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.Replace(string(text), "include = ", "# ", 1))
		for _, group := range strings.Split(string(text), "\n\n") {
			f.Add(group)
		}
	}
	f.Add("group = smsc\nsmsc = smpp\nsmsc-password = \"\xff: #{x\"\nthroughput = 1e400\nallowed-prefix = +;;*\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := reader{open: func(string) ([]file, error) { return nil, errors.New("there are no other files") }}
		if r.read(file{"kannel.conf", text}) != nil {
			return
		}
		made := Translate("kannel.conf", r.groups, secrets).Bytes()
		if _, err := parser.ParseBytes(made, 0); err != nil {
			t.Fatalf("%v\n%s", err, made)
		}
	})
}
