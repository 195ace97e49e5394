package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pmg/config/document"
)

func write(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

const oneAccount = `{connectors: [], accounts: [{system_id: a, password: "%"}]}`

func TestReferences(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PMG_TEST", "from env")
	write(t, dir, "pass", "from file\n", 0o600)
	write(t, dir, "big", strings.Repeat("x", maxReference+1), 0o600)
	for in, want := range map[string]string{
		"${ENV:PMG_TEST}":              "from env",
		"${FILE:pass}":                 "from file",
		"${FILE:" + dir + "/pass}":     "from file",
		"<${ENV:PMG_TEST}${FILE:pass}": "<from envfrom file",
		"$2":                           "$2",
	} {
		if got, err := expand(in, dir); got != want || err != nil {
			t.Errorf("%s is %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		"${ENV:PMG_NONE}":   "cannot resolve ${ENV:PMG_NONE}: the environment has no such variable",
		"${HOME}":           "has a ${ that is not a reference",
		"${ENV:PMG_TEST":    "has a ${ that is not a reference",
		"${VAULT:x}":        "write ENV or FILE before the colon",
		"${FILE:none}":      "does not exist: make the file",
		"${FILE:/dev/zero}": "not a regular file",
		"${FILE:big}":       "larger than 64KiB",
	} {
		if got, err := expand(in, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %q, %v, want error %q", in, got, err, want)
		}
	}
	// Any value may contain a reference, and the content is checked like a value.
	t.Setenv("PMG_WINDOW", "0")
	_, _, err := Parse([]byte("limits: {max_jobs: \"${ENV:PMG_WINDOW}\"}"), speaksSMPP)
	if err == nil || !strings.Contains(err.Error(), "must be at least 1000, not 0") {
		t.Errorf("a referenced 0: error %v", err)
	}
}

func TestWorldReadablePasswords(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "pass", "x", 0o600)
	hash := "$2a$04$zzzzzzzzzzzzzzzzzzzzzOW1.ubqn6Fq3Fn3QU0Vp4tuYjI6oTZJe"
	for _, c := range []struct {
		password string
		mode     os.FileMode
		warned   bool
	}{
		{"plain", 0o644, true},
		{"plain", 0o640, false},
		{"${FILE:pass}", 0o644, false},
		{hash, 0o644, false},
	} {
		path := write(t, dir, "pmg.yaml", strings.Replace(oneAccount, "%", c.password, 1), c.mode)
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, warnings, err := Load(path, speaksSMPP)
		if err != nil || (len(warnings) == 1) != c.warned {
			t.Errorf("password %q, mode %o: warnings %v, %v", c.password, c.mode, warnings, err)
		}
	}
}

func TestLoadWithoutFile(t *testing.T) {
	t.Parallel()
	_, _, err := Load(filepath.Join(t.TempDir(), "none"), speaksSMPP)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// Parse returns for any bytes, and a configuration that it accepts means the same when
// it is shown and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(contract))
	f.Add([]byte(Template()))
	f.Add([]byte(rewriting))
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Parse(data, speaksSMPP)
		if err != nil {
			if p, ok := err.(document.Problems); !ok || len(p) == 0 || err.Error() == "" {
				t.Fatalf("error is %#v", err)
			}
			return
		}
		shown := Show(c)
		if strings.Contains(shown, "${") || strings.Contains(string(data), "${") {
			return // a reference is expanded again the second time
		}
		again, _, err := Parse([]byte(shown), speaksSMPP)
		if err != nil {
			t.Fatalf("cannot parse what is shown: %v\n%s", err, shown)
		}
		if Show(again) != shown || !reflect.DeepEqual(again.Routes, c.Routes) {
			t.Fatalf("shown again it is\n%s\nnot\n%s", Show(again), shown)
		}
	})
}
