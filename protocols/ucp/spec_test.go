package ucp

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
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
		"EMI/UCP release 4.0, and what peers of other releases send. Made by `make docs` of `protocols/ucp/spec.txt`, which has a row\n" +
		"for every operation, field and extra service with the tests that show it. What does not stand here is done as specified.\n\n")
	for _, r := range prototest.Limited(prototest.Spec(t)) {
		fmt.Fprintf(&b, "- %s (%s): %s\n", r.Item, r.Title, r.Limits())
	}
	b.WriteString("\n## Error codes\n\nEach has the meaning of a code of the gateway; others are permanent. Those in bold are sent, too.\n" +
		"Column retry has the option of `retry` for a message that is refused so.\n\n" +
		"| means | retry | error codes |\n|---|---|---|\n")
	var meanings []string
	cells := map[string][]string{}
	for _, s := range statuses {
		head, status := fmt.Sprintf("%s | %s", s.code, s.code.Failure()), fmt.Sprintf("%02d %s", s.number, s.name)
		if s.sent {
			status = "**" + status + "**"
		}
		if cells[head] == nil {
			meanings = append(meanings, head)
		}
		cells[head] = append(cells[head], status)
	}
	for _, head := range meanings {
		fmt.Fprintf(&b, "| %s | %s |\n", head, strings.Join(cells[head], ", "))
	}
	testutil.Fresh(t, "../../docs/ucp-conformance.md", b.String(), "make docs")
}
