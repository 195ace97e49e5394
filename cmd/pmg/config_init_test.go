package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/testutil"
)

// ports matches the ports of the files, which may be in use on the machine of a test.
var ports = regexp.MustCompile(`127\.0\.0\.1:(27(75|80)|8080)`)

// pmg config init --for writes files that are checked without a warning and start, with passwords of their own, and with those that
// they name beside them.
func TestConfigInitFor(t *testing.T) {
	t.Parallel()
	for purpose, beside := range map[string]string{"operator": "optouts.txt", "reseller": "optouts.txt prices.csv", "dev": ""} {
		dir := t.TempDir()
		file := filepath.Join(dir, "pmg.yaml")
		if out, err := pmgConfig("init", "-c", file, "--for", purpose); err != nil || strings.Count(out, "wrote ") != 1+len(strings.Fields(beside)) {
			t.Fatalf("%s: %v, %s", purpose, err, out)
		}
		for _, name := range append(strings.Fields(beside), "pmg.yaml") {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s: %v, %v", purpose, name, info, err)
			}
		}
		if out, err := pmgConfig("check", "-c", file); err != nil || strings.Contains(out, "warning") {
			t.Errorf("%s: %v, %s", purpose, err, out)
		}
		text := documents.Read(t, file)
		if n := strings.Count(text, "\n"); n > 45 || strings.Contains(text, "change-me") {
			t.Errorf("%s has %d lines:\n%s", purpose, n, text)
		}
		start(t, file, text)
	}
}

// start starts a gateway with the file on free ports, and with its directories beside it.
func start(t *testing.T, file, text string) {
	t.Helper()
	text = ports.ReplaceAllString(text, "127.0.0.1:0")
	for _, name := range []string{"backups", "events", "stats"} {
		text = strings.ReplaceAll(text, ": "+name+"}", ": "+filepath.Join(filepath.Dir(file), name)+"}")
	}
	text = regexp.MustCompile(`(?m)^store: .*\n`).ReplaceAllString(text, "")
	text += fmt.Sprintf("store: {dir: %s, ballast: 0}\npdulog: {enabled: false}\n", filepath.Join(filepath.Dir(file), "data"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(file, asItRuns())
	if err != nil {
		t.Fatal(err)
	}
	s, err := startServer(cfg, zerolog.New(&testutil.Log{}))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if err := s.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// The secrets of two files differ, files with numbers stay, and every option behind a # may be used.
func TestConfigInitSecrets(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	optouts := filepath.Join(filepath.Dir(file), "optouts.txt")
	if err := os.WriteFile(optouts, []byte("46701234567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := regexp.MustCompile(`(password|webhook_key): (\S+)`)
	var seen []string
	for range 2 {
		out, err := pmgConfig("init", "-c", file, "--for", "reseller", "--force")
		if err != nil || !strings.Contains(out, optouts+" is there, and stays as it is\n") {
			t.Fatal(err, out)
		}
		text := documents.Read(t, file)
		for _, m := range secrets.FindAllStringSubmatch(text, 2) { // those of the account; that of the supplier is his
			if slices.Contains(seen, m[2]) {
				t.Errorf("%s twice", m[0])
			}
			seen = append(seen, m[2])
		}
		all := regexp.MustCompile(`(?m)^( *)# ([a-z_]+: )`).ReplaceAllString(text, "$1$2")
		if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := pmgConfig("check", "-c", file); err != nil || all == text {
			t.Errorf("%v, %s:\n%s", err, out, all)
		}
	}
	if len(seen) != 4 || documents.Read(t, optouts) != "46701234567\n" {
		t.Errorf("secrets %d, and optouts.txt has %q", len(seen), documents.Read(t, optouts))
	}
}

// What cannot be written is said, and nothing is overwritten.
func TestConfigInitFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "pmg.yaml")
	if err := os.WriteFile(there, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--for shop -c " + dir + "/new.yaml":               `--for must be operator, reseller, dev, not "shop"`,
		"--for ../pmg -c " + dir + "/new.yaml":             "--for must be",
		"--for operator --short -c " + dir + "/new.yaml":   "none of the others can be",
		"--for operator -c " + there:                       "--force overwrites it",
		"--short -c " + there:                              "--force overwrites it",
		"--for operator -c " + dir + "/missing/dir/x.yaml": "cannot write configuration",
	} {
		if out, err := pmgConfig(append([]string{"init"}, strings.Fields(line)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || documents.Read(t, there) != "# mine\n" {
		t.Errorf("%v: %v", files, err)
	}
	file := filepath.Join(dir, "short.yaml")
	if out, err := pmgConfig("init", "--short", "-c", file); err != nil || documents.Read(t, file) != config.ShortTemplate() || strings.Count(out, "wrote") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
