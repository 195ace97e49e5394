package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pmg/internal/timetext"
)

// O25: durations may have days, here and in lists of pauses.
func TestDays(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"7d": 168 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "90m": 90 * time.Minute} {
		if d, err := timetext.ParseDuration(s); err != nil || d != want {
			t.Errorf("%s: %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"d", "-1d", "1d-2h", "1.5d", "7dd", "99999d", "1 d", "x"} {
		if d, err := timetext.ParseDuration(s); err == nil {
			t.Errorf("%s: %v", s, d)
		}
	}
	c, _, err := Parse([]byte("pdulog: {keep_age: 7d}\nconnectors: []\n"), Options{})
	if err != nil || c.PDULog.KeepAge != 168*time.Hour {
		t.Errorf("%v", err)
	}
}

// O18: a reload reports which routes have changed, and how.
func TestDiffRoutes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parse := func(routes, prefixes string) *Config {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "sweden.txt"), []byte(prefixes), 0o600); err != nil {
			t.Fatal(err)
		}
		const site = "connectors: [{name: one, direction: out, address: 'h:1', system_id: a, password: b}, {name: two, direction: out, address: 'h:2', system_id: a, password: b}]\nroutes: "
		if err := os.WriteFile(filepath.Join(dir, "pmg.yaml"), []byte(site+routes), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(filepath.Join(dir, "pmg.yaml"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := parse("[{destination: 46, to: one}, {destination_file: sweden.txt, to: one}]", "4670\n")
	for routes, want := range map[string]string{
		"[{destination: 46, to: two}, {destination_file: sweden.txt, to: one}]": `routes[line 2]: {destination: ["46"], to: one} -> {destination: ["46"], to: two}`,
		"[{destination: 46, to: one}]":                                          "routes[line 2, column 38]: {destination_file: sweden.txt, to: one} -> removed",
	} {
		changes := a.Diff(parse(routes, "4670\n"))
		if len(changes) != 1 || changes[0].String() != want {
			t.Errorf("%s: got %q, want %q", routes, changes, want)
		}
	}
	changes := a.Diff(parse("[{destination: 46, to: one}, {destination_file: sweden.txt, to: one}]", "4670\n4673\n"))
	if len(changes) != 1 || changes[0].String() != "routes[line 2, column 38].destination_file: 1 prefixes -> 2 prefixes" {
		t.Errorf("got %q", changes)
	}
}
