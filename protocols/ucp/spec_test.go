package ucp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// A specRow is one row of spec.txt.
type specRow struct{ item, title, done, tests, remark string }

func spec(t *testing.T) (rows []specRow) {
	b, err := os.ReadFile("spec.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 || f[2] != "yes" && f[2] != "partial" && f[2] != "no" {
			t.Fatalf("%q is not a row", line)
		}
		rows = append(rows, specRow{f[0], f[1], f[2], f[3], f[4]})
	}
	return rows
}

// There is a row for every operation and extra service, and what is said to be done is
// shown by a test or transcript that exists.
func TestSpec(t *testing.T) {
	exist := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "testdata/*.txt"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			exist[filepath.Base(path)] = true
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(b, -1) {
				exist[string(m[1])] = true
			}
		}
	}
	titles := map[string]string{}
	for _, r := range spec(t) {
		if titles[r.item] != "" {
			t.Errorf("%s has two rows", r.item)
		}
		titles[r.item] = r.title
		if r.done != "no" && r.tests == "" {
			t.Errorf("%s is done, and no test shows it", r.item)
		}
		for _, name := range strings.Split(r.tests, ", ") {
			if r.tests != "" && !exist[name] {
				t.Errorf("%s names %q, which does not exist", r.item, name)
			}
		}
	}
	for _, o := range operations[1:] {
		if titles["op "+o.name[2:]] == "" {
			t.Errorf("%s has no row", o.name)
		}
	}
	for _, s := range services {
		if got := titles[fmt.Sprintf("XSer %02X", s.number)]; !strings.EqualFold(got, s.name) {
			t.Errorf("service %02X is %q in spec.txt, and %q in the table", s.number, got, s.name)
		}
	}
}

// The page is what spec.txt makes of it. To write it again: make docs
func TestConformanceIsFresh(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What PMG does of UCP\n\n" +
		"EMI/UCP release 4.0, and what peers of other releases send. Made by `make docs` of `protocols/ucp/spec.txt`,\n" +
		"which names the tests that show it.\n\n" +
		"| | | done | |\n|---|---|---|---|\n")
	for _, r := range spec(t) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.item, r.title, r.done, r.remark)
	}
	b.WriteString("\n## Error codes\n\nEach is printed by its name and has the meaning of a code of the gateway. Others are\n" +
		"printed as numbers and are permanent. Column retry has the option of `retry` that says when a message is sent again\n" +
		"which was refused so; with permanent it is not.\n\n" +
		"| EC | name | means | retry | sent |\n|---|---|---|---|---|\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, "| %02d | %s | %s | %s | %s |\n", s.number, s.name, s.code, s.code.Failure(), map[bool]string{true: "yes", false: "no"}[s.sent])
	}
	testutil.Fresh(t, "../../docs/ucp-conformance.md", b.String(), "make docs")
}
