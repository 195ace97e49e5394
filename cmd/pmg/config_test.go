package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pmgConfig runs pmg config and returns its output.
func pmgConfig(args ...string) (string, error) {
	cmd := newConfigCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// secretOption matches names of options that have the password of the tests in them.
var secretOption = regexp.MustCompile(`\b(client_|old_)?secret:`)

// The life of a configuration: written, checked, shown, not overwritten, broken.
func TestConfigCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	want := func(reason, part string, args ...string) {
		t.Helper()
		out, err := pmgConfig(args...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, part) {
			t.Errorf("%s: pmg config %s prints\n%s\nwant %q in it", reason, strings.Join(args, " "), out, part)
		}
	}
	want("not there yet", "cannot read configuration", "check", "-c", file)
	want("begun", "wrote "+file, "init", "-c", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file begun has mode %v, %v", info.Mode(), err)
	}
	want("the starter file is good", "can be used: accounts 1, connectors 3, routes 2", "check", "-c", file)
	want("defaults are shown", "max_jobs: 100000", "show", "-c", file)
	if out, _ := pmgConfig("show", "-c", file); strings.Contains(secretOption.ReplaceAllString(out, ""), "secret") {
		t.Errorf("a password is shown:\n%s", out)
	}
	want("not overwritten", "--force overwrites it", "init", "-c", file)

	if err := os.WriteFile(file, []byte("log: {level: loud}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("broken", file+":1:14: log.level must be trace", "check", "-c", file)
	want("with the line", "1 | log: {level: loud}", "show", "-c", file)
	want("overwritten", "wrote", "init", "-c", file, "--force")
	want("good again", "can be used", "check", "-c", file)

	want("explained", "Requests sent and not yet answered", "describe", "connectors[].window")
	want("all explained", "pdulog", "describe")
	want("nothing to explain", "cannot find option", "describe", "nonsense")
}

// publicDir returns a directory that every user of the machine may search.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A configuration whose passwords or keys everybody can read is not used, unless that is allowed.
func TestExposedFiles(t *testing.T) {
	t.Parallel()
	dir := publicDir(t)
	keys := filepath.Join(dir, "keys")
	if err := errors.Join(runPMG(new(bytes.Buffer), "tls", "init", keys), os.Chmod(keys, 0o755)); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	key := filepath.Join(keys, "server-key.pem")
	text := func(password, tls string) string {
		return fmt.Sprintf("accounts: [{system_id: acme, password: %q}]\nconnectors: [{name: clients, direction: in, address: \":2775\"%s}]\nroutes: [{to: {account: acme}}]\n", password, tls)
	}
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$c3Vtc3Vtc3Vtc3Vtc3Vtc3Vtc3Vtc3Vtc3Vtc3Vtc3U"
	encrypted := ", tls: {certificate: keys/server.pem, key: keys/server-key.pem}"
	for _, c := range []struct {
		name, text  string
		mode        os.FileMode // of the configuration
		secret, key os.FileMode
		exposed     string
	}{
		{"plain", text("secret", ""), 0o600, 0o600, 0o600, ""},
		{"plain", text("secret", ""), 0o640, 0o600, 0o600, ""},
		{"plain", text("secret", ""), 0o644, 0o600, 0o600, "pmg.yaml"},
		{"hashed", text(hash, ""), 0o644, 0o600, 0o600, ""},
		{"referenced", text("${FILE:secret}", ""), 0o644, 0o640, 0o600, ""},
		{"referenced", text("${FILE:secret}", ""), 0o644, 0o604, 0o600, "secret"},
		{"key", text(hash, encrypted), 0o644, 0o600, 0o600, ""},
		{"key", text(hash, encrypted), 0o644, 0o600, 0o644, "server-key.pem"},
	} {
		file := write("pmg.yaml", c.text, c.mode)
		write("secret", "secret\n", c.secret)
		if err := os.Chmod(key, c.key); err != nil {
			t.Fatal(err)
		}
		err := runPMG(new(bytes.Buffer), "config", "check", "-c", file)
		if (err != nil) != (c.exposed != "") || err != nil && (!strings.Contains(err.Error(), c.exposed) || !strings.Contains(err.Error(), "chmod o-r")) {
			t.Errorf("%s %o %o %o: %v", c.name, c.mode, c.secret, c.key, err)
		}
		if err := runPMG(new(bytes.Buffer), "config", "check", "--allow-insecure-files", "-c", file); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	file := write("pmg.yaml", text("secret", ""), 0o644)
	if err := os.Chmod(dir, 0o750); err != nil { // others do not come as far as the file
		t.Fatal(err)
	}
	link := filepath.Join(publicDir(t), "link.yaml") // nor do they by a link
	if err := errors.Join(os.Symlink(file, link), runPMG(new(bytes.Buffer), "config", "check", "-c", file), runPMG(new(bytes.Buffer), "config", "check", "-c", link)); err != nil {
		t.Error(err)
	}
}
