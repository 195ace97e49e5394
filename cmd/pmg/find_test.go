package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Commands find the configuration of the environment, or the one here; where there is none they say where they have looked.
func TestConfigurationIsFound(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PMG_CONFIG", "")
	for want, args := range map[string][]string{
		"do not exist; use -c FILE; or give --address HOST:PORT":                      {"status"},
		"do not exist; use -c FILE; or give --address HOST:PORT or --store DIRECTORY": {"queue", "sums"},
		"do not exist; use -c FILE":                                                   {"config", "check"},
		"do not exist; use -c FILE; or give the directory of the pdu logs with --dir": {"trace", "1"},
		"do not exist; use -c FILE; \"pmg config init -c pmg.yaml\" writes a star":    {"serve"},
	} {
		if err := runPMG(new(bytes.Buffer), args...); err == nil || !strings.Contains(err.Error(), "no configuration: ./pmg.yaml and /etc/pmg/pmg.yaml "+want) {
			t.Errorf("pmg %s: %v", strings.Join(args, " "), err)
		}
	}
	if err := runPMG(new(bytes.Buffer), "config", "init", "-c", "other.yaml"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PMG_CONFIG", dir+"/other.yaml")
	for _, args := range [][]string{{"config", "check"}, {"config", "show"}, {"explain", "--to", "1"}} {
		if err := runPMG(new(bytes.Buffer), args...); err != nil {
			t.Errorf("pmg %s: %v", strings.Join(args, " "), err)
		}
	}
	if err := os.WriteFile("pmg.yaml", []byte("routes: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PMG_CONFIG", "")
	if err := runPMG(new(bytes.Buffer), "config", "check"); err == nil || !strings.Contains(err.Error(), "pmg.yaml") {
		t.Errorf("the file here: %v", err)
	}
	out := new(bytes.Buffer)
	if err := runPMG(out, "config", "check", "--help"); err != nil || strings.Contains(out.String(), "default") {
		t.Errorf("%v: %s", err, out)
	}
}

// The page Help finds commands, options and sections of documents, and not more of a kind than can be read.
func TestFindHelp(t *testing.T) {
	t.Parallel()
	findHelp := newHelpFinder()
	subjects := map[string]int{}
	for _, f := range findHelp("Receipts ") {
		if subjects[f.Subject]++; f.Name == "" {
			t.Errorf("%+v", f)
		}
	}
	if subjects["Commands"] == 0 || subjects["Options"] == 0 || subjects["Documents"] == 0 || subjects["Documents"] > 20 {
		t.Error(subjects)
	}
	if all := findHelp("the page of the api"); len(all) == 0 || !strings.Contains(all[0].Name, "docs/http.md") || all[0].Whole == "" {
		t.Errorf("%.300v", all)
	}
	for _, word := range []string{"", " - ", "xyzzy"} {
		if all := findHelp(word); len(all) > 0 {
			t.Errorf("%q: %.300v", word, all)
		}
	}
}

// Operators may look for many words: the documents are read and split once.
func TestFindHelpCost(t *testing.T) {
	find := newHelpFinder()
	find("receipts")
	if n := testing.AllocsPerRun(5, func() { find("the") }); n > 100 {
		t.Errorf("%v allocations", n)
	}
}
