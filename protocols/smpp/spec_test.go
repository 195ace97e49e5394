package smpp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/prototest"
	"pmg/sms"
)

// There is a row for every section that the code names, and for every command, and what is
// said to be done is named by the code.
func TestSpec(t *testing.T) {
	named := map[string]bool{}
	for name, text := range prototest.Files(t, "*.go") {
		for _, m := range regexp.MustCompile(`§(\d+(?:\.\d+)*)`).FindAllStringSubmatch(text, -1) {
			if name != "spec_test.go" {
				named[m[1]] = true
			}
		}
	}
	for _, c := range commands[1:] {
		named[c.spec] = true
	}
	rows := map[string]bool{}
	items := map[string]bool{}
	for _, r := range prototest.Spec(t) {
		rows[r.Item+r.Title], items[r.Item] = true, true
		if tag, ok := strings.CutPrefix(r.Item, "parameter "); ok {
			if n, err := strconv.ParseUint(tag, 0, 16); err != nil || findTag(uint16(n)) == nil || findTag(uint16(n)).name != r.Title {
				t.Errorf("%s %s is not in the parameters table", r.Item, r.Title)
			}
		} else if r.Item != "rule" && r.Done != "no" && !named[r.Item] {
			t.Errorf("spec.txt says that §%[1]s is done, and no comment of a Go file of this package names it: write §%[1]s where it is done", r.Item)
		}
	}
	for _, c := range commands[1:] {
		if !rows[c.spec+c.name] {
			t.Errorf("%s has no row with section %s", c.name, c.spec)
		}
	}
	for s := range named {
		if !items[s] {
			t.Errorf("a comment of a Go file names §%s, and spec.txt has no row for it", s)
		}
	}
}

// page returns the conformance page.
func page(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# What PMG does of SMPP\n\n" +
		"SMPP 3.4 issue 1.2, and what SMPP 3.3 and 5.0 have besides. Made by `make docs` of `protocols/smpp/spec.txt`, which has a row\n" +
		"for every section, PDU and rule with the tests that show it, and of the driver's tables. What does not stand here is done as specified.\n")
	parameters, rules, rows := []prototest.SpecRow{}, []prototest.SpecRow{}, []prototest.SpecRow{}
	for _, r := range prototest.Spec(t) {
		switch {
		case strings.HasPrefix(r.Item, "parameter "):
			r.Item = strings.TrimPrefix(r.Item, "parameter ")
			parameters = append(parameters, r)
		case r.Item == "rule":
			rules = append(rules, r)
		default:
			rows = append(rows, r)
		}
	}
	b.WriteString("\n## PDUs and fields\n\nWith their sections.\n\n")
	for _, r := range prototest.Limited(rows) {
		fmt.Fprintf(&b, "- %s (%s): %s\n", r.Title, r.Item, r.Limits())
	}
	b.WriteString("\n## Rules of a session\n\n")
	for _, r := range prototest.Limited(rules) {
		fmt.Fprintf(&b, "- %s: %s\n", r.Title, r.Limits())
	}
	b.WriteString("\n## Optional parameters\n\nThose of 3.4 and 5.0 are logged by their names, and refused in a client's request if their length\n" +
		"is not allowed. All, vendors' too, are sent on byte for byte; PMG itself uses these:\n\n")
	for _, r := range prototest.Limited(parameters) {
		fmt.Fprintf(&b, "- %s (%s): %s\n", r.Title, r.Item, r.Limits())
	}
	b.WriteString("\n## Statuses\n\nEach has the meaning of a code of the gateway; others are permanent, unless option statuses says what they mean.\n" +
		"Those in bold are sent, too. Column retry has the option of `retry` for a message that is refused so. With session the session\n" +
		"ends, and the message keeps its place; a client that answers so refuses the message. Those from 0x100 are of SMPP 5.0.\n\n" +
		"| means | retry | statuses |\n|---|---|---|\n")
	var meanings []string
	cells := map[string][]string{}
	own := map[uint64]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\tStatus\w+ += (0x\w+)`).FindAllStringSubmatch(prototest.Files(t, "status.go")["status.go"], -1) {
		n, err := strconv.ParseUint(m[1], 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		own[n] = true
	}
	for _, s := range statuses {
		head, status := fmt.Sprintf("%s | %s", s.code, retryOf(s.code)), fmt.Sprintf("0x%02X %s", s.number, s.name)
		if s.sent || own[uint64(s.number)] {
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
	return b.String()
}

// retryOf returns what the option retry calls a status of that code.
func retryOf(c sms.Code) string {
	switch c {
	case sms.OK:
		return ""
	case sms.BadState, sms.AlreadyBound, sms.BindFailed:
		return "session"
	}
	return c.Failure().String()
}

// The page is what spec.txt and the tables make of it. To write it again: make docs
func TestConformanceIsFresh(t *testing.T) {
	testutil.Fresh(t, "../../docs/smpp-conformance.md", page(t), "make docs")
}
