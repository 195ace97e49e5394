package smpp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pmg/internal/testutil"
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
		"SMPP 3.4 issue 1.2, and what SMPP 3.3 and 5.0 have besides. Made by `make docs` of `protocols/smpp/spec.txt` and of the\n" +
		"driver's tables; `spec.txt` names the tests that show it. What is done as specified stands behind each table.\n")
	heads := map[string]string{"3.1": "PDUs and fields", "rule": "Rules of a session"}
	parameter := map[string]prototest.SpecRow{}
	var done []string
	for _, r := range prototest.Spec(t) {
		if head := heads[r.Item]; head != "" {
			delete(heads, r.Item)
			asSpecified(&b, &done)
			fmt.Fprintf(&b, "\n## %s\n\n| section | | |\n|---|---|---|\n", head)
		}
		if strings.HasPrefix(r.Item, "parameter ") {
			parameter[r.Title] = r
			continue
		}
		item := r.Item
		if item == "rule" {
			item = ""
		}
		if r.Limits() == "" {
			done = append(done, strings.TrimSpace(item+" "+r.Title))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", item, r.Title, r.Limits())
	}
	asSpecified(&b, &done)
	b.WriteString("\n## Optional parameters\n\nEach is read and logged by its name, refused in a client's request if its length is not allowed, and sent\n" +
		"on byte for byte, as are those that are not named here.\n\n| tag | name | value | |\n|---|---|---|---|\n")
	for i := range parameters {
		p := &parameters[i]
		limits := parameter[p.name].Limits()
		if limits == "" {
			done = append(done, fmt.Sprintf("0x%04X %s (%s)", p.tag, p.name, p.form()))
			continue
		}
		fmt.Fprintf(&b, "| 0x%04X | %s | %s | %s |\n", p.tag, p.name, p.form(), limits)
	}
	asSpecified(&b, &done)
	b.WriteString("\n## Statuses\n\nEach is printed by its name and has the meaning of a code of the gateway. Others are\n" +
		"printed as numbers and are permanent. Those in bold are sent, too. Column retry has the option of `retry` for a message\n" +
		"that is refused so. With session the session ends, and the message keeps its place; a client that answers so refuses the message. Option\n" +
		"statuses changes what a status of an SMSC means. Those from 0x100 are of SMPP 5.0.\n\n" +
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

// asSpecified writes, behind a table, what is done as the specification says, and empties the list.
func asSpecified(b *strings.Builder, done *[]string) {
	if len(*done) > 0 {
		fmt.Fprintf(b, "\nAs specified: %s.\n", strings.Join(*done, "; "))
	}
	*done = nil
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

// form returns the type and the length of a parameter's value.
func (p *parameter) form() string {
	size := fmt.Sprintf("%d", p.size)
	if p.least != p.size {
		size = fmt.Sprintf("%d to %d", p.least, p.size)
	}
	return [...]string{octets: "octets, ", integer: "number, ", cstring: "text with NUL, "}[p.kind] + size
}

// The page is what spec.txt and the tables make of it. To write it again: make docs
func TestConformanceIsFresh(t *testing.T) {
	testutil.Fresh(t, "../../docs/smpp-conformance.md", page(t), "make docs")
}
