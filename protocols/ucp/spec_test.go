package ucp

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testutil"
	"pmg/protocols/prototest"
)

// There is a row for every operation and extra service.
func TestSpec(t *testing.T) {
	titles := map[string]string{}
	for _, r := range prototest.Spec(t) {
		if titles[r.Item] != "" {
			t.Errorf("%s has two rows", r.Item)
		}
		titles[r.Item] = r.Title
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
	for _, r := range prototest.Spec(t) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Item, r.Title, r.Done, r.Remark)
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
