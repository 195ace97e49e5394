package smpp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every section that the code mentions is in spec.txt, and every section that spec.txt marks
// as implemented is mentioned in the code.
func TestSpec(t *testing.T) {
	b, err := os.ReadFile("spec.txt")
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[2] != "yes" && f[2] != "partial" && f[2] != "no" || done[f[0]] != "" {
			t.Fatalf("%q is not a row", line)
		}
		done[f[0]] = f[2]
	}
	named := map[string]bool{}
	for _, c := range commands[1:] {
		named[c.spec] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`§(\d+(?:\.\d+)*)`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range section.FindAllSubmatch(b, -1) {
			named[string(m[1])] = true
		}
	}
	for s := range named {
		if done[s] == "" || done[s] == "no" {
			t.Errorf("§%s is named, but spec.txt does not say that it is done", s)
		}
	}
	for s, how := range done {
		if how != "no" && !named[s] {
			t.Errorf("§%s is done, but nothing names it", s)
		}
	}
}
