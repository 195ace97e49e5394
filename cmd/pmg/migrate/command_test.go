package migrate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
)

// run runs pmg import.
func run(args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	cmd := Command([]string{"smpp", "ucp", "http"})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SetArgs(args)
	err = cmd.Execute()
	return o.String(), e.String(), err
}

// file writes a file, and returns its name.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "other.conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The result goes to standard output, or to a file that only its owner can read, and never over another one unless that is
// asked for. Standard error has the number of decisions, and no password.
func TestImport(t *testing.T) {
	t.Parallel()
	out, errs, err := run("kannel", "kannel/testdata/small.conf")
	if err != nil || !strings.Contains(out, `password: "secret"`) || !strings.Contains(out, "only its owner") {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(errs, "1 thing needs a decision") || strings.Contains(errs, "secret") {
		t.Error(errs)
	}
	name := filepath.Join(t.TempDir(), "pmg.yaml")
	if out, _, err := run("kannel", "kannel/testdata/full.conf", "--output", name); err != nil || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	if c, _, err := config.Load(name, config.Options{}); err != nil || len(c.Exposed()) > 0 {
		t.Error(err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := run("kannel", "kannel/testdata/small.conf", "--output", name); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Error(err)
	}
	if now, _ := os.ReadFile(name); !bytes.Equal(before, now) {
		t.Error("it was overwritten")
	}
	if _, _, err := run("kannel", "kannel/testdata/small.conf", "--output", name, "--force"); err != nil {
		t.Error(err)
	}
	if now, _ := os.ReadFile(name); bytes.Equal(before, now) {
		t.Error("it was not overwritten")
	}
}

// A result that PMG cannot use is written all the same. The problems are reported.
func TestImportProblems(t *testing.T) {
	t.Parallel()
	name := file(t, "group = smsc\nsmsc = smpp\nsmsc-id = a\nsmsc-username = u\nsmsc-password = \"${x\"\n")
	out, errs, err := run("kannel", name)
	if !errors.Is(err, errProblems) || !strings.Contains(out, "${x") || !strings.Contains(errs, "reference") || strings.Contains(errs, "${x") {
		t.Errorf("%v\n%s\n%s", err, out, errs)
	}
	for _, args := range [][]string{{"kannel"}, {"kannel", "a", "b"}, {"kannel", name + "x"}, {"kannel", filepath.Dir(name)}, {"kannel", file(t, "word")}} {
		if out, _, err := run(args...); err == nil || out != "" {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
}

// What a console of Jasmin has shown is imported like a file of Kannel. Each account has a password of its own.
func TestImportJasmin(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pmg.yaml")
	if _, errs, err := run("jasmin", "jasmin/testdata/full.txt", "-o", name); err != nil || !strings.Contains(errs, "need a decision") {
		t.Fatalf("%v\n%s", err, errs)
	}
	c, _, err := config.Load(name, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	passwords := map[string]bool{}
	for i := range c.Accounts {
		passwords[c.Accounts[i].Password] = true
	}
	if len(passwords) != len(c.Accounts) || len(c.Accounts) < 3 {
		t.Errorf("%d accounts have %d passwords", len(c.Accounts), len(passwords))
	}
	if out, _, err := run("jasmin", file(t, "")); err != nil || !strings.Contains(out, "accounts: []") {
		t.Errorf("%v\n%s", err, out)
	}
}

// With --options each command prints a table of what becomes of each option.
func TestImportOptions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"kannel": "| `throughput` | `rate` |",
		"jasmin": "| `cid` | `name`, `public_name` |",
	} {
		if out, _, err := run(name, "--options"); err != nil || !strings.Contains(out, row) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
