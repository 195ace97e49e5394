package main

import (
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
	"pmg/sms"
)

const conversionPage = "../../docs/conversion.md"

// conversionMark is where the part of the page begins that is made of the drivers' tables.
const conversionMark = "<!-- made by: make docs -->\n"

// A convertible is a driver with the meaning of its statuses.
type convertible interface {
	protocols.Driver
	Statuses() iter.Seq2[uint32, string]
	CodeOf(status uint32) sms.Code
	StatusOf(code sms.Code) uint32
}

// conversionTables returns the generated part of docs/conversion.md.
func conversionTables() string {
	var b strings.Builder
	s, u := convertible(smpp.New(smpp.Options{})), convertible(ucp.New(ucp.Options{}))
	writeLosses(&b, "From SMPP to UCP", s, u)
	writeLosses(&b, "From UCP to SMPP", u, s)
	b.WriteString("\n## Answers\n\nA status of an SMSC means a code of the gateway ([SMPP](smpp-conformance.md#statuses), [UCP](ucp-conformance.md#error-codes)),\n" +
		"which chooses the pauses of `retry`, and the status that a client of the other protocol gets.\n")
	writeCodes(&b, u, s)
	b.WriteString("\n## Receipts\n\nDst 0 is DELIVRD, and 1 is ENROUTE. With Dst 2 the state is that of the reason; one that is not in the table is\n" +
		"UNDELIV. The other way DELIVRD is Dst 0; ENROUTE, SCHEDULED and ACCEPTD are 1; all else is 2. Rsn is `err` if\n" +
		"that is a number from 1 to 255, or the code of a `network_error_code` of type 8; otherwise 010 for EXPIRED and 108.\n\n" +
		"| state | Rsn |\n|---|---|\n")
	var numbers, reasons grouped // numbers by their texts, and these by their states
	for _, r := range ucp.Reasons() {
		numbers.add(smpp.WordOfState(r.State)+"|"+r.Text, fmt.Sprintf("%03d", r.Number))
	}
	for _, head := range numbers.heads {
		state, text, _ := strings.Cut(head, "|")
		reasons.add(state, strings.Join(numbers.cells[head], "/")+" "+text)
	}
	reasons.write(&b)
	return b.String()
}

// grouped are the cells of a table by the beginning of their row, in the order in which they came.
type grouped struct {
	heads []string
	cells map[string][]string
}

func (g *grouped) add(head, cell string) {
	if g.cells == nil {
		g.cells = map[string][]string{}
	}
	if g.cells[head] == nil {
		g.heads = append(g.heads, head)
	}
	g.cells[head] = append(g.cells[head], cell)
}

func (g *grouped) write(b *strings.Builder) {
	for _, head := range g.heads {
		fmt.Fprintf(b, "| %s | %s |\n", head, strings.Join(g.cells[head], ", "))
	}
}

// writeLosses writes which fields a message loses between two protocols.
func writeLosses(b *strings.Builder, title string, from, to protocols.Driver) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	var fields grouped // by what is lost
	var gone []string  // nothing is left of these
	for _, d := range []protocols.Driver{from, to} {
		for _, l := range d.Losses() {
			name, unsent := strings.CutSuffix(strings.TrimPrefix(l.Text, "The "), " is not sent.")
			switch {
			case l.Neutral != (d == to):
			case unsent && strings.HasPrefix(l.Field, "XSer_"):
				gone = append(gone, fmt.Sprintf("`%s` (%s)", l.Field, name))
			case l.Text == "Not sent.":
				gone = append(gone, "`"+l.Field+"`")
			default:
				fields.add(l.Text, "`"+l.Field+"`")
			}
		}
	}
	for _, text := range fields.heads {
		fmt.Fprintf(b, "- %s: %s\n", strings.Join(fields.cells[text], ", "), text)
	}
	fmt.Fprintf(b, "- %s: Not sent.\n", strings.Join(gone, ", "))
}

// writeCodes writes the statuses with which protocols answer for each code that a status of the others means.
func writeCodes(b *strings.Builder, all ...convertible) {
	b.WriteString("\n| code | command_status of SMPP | error code of UCP |\n|---|---|---|\n")
	seen := map[sms.Code]bool{sms.OK: true}
	for _, d := range all {
		for n := range d.Statuses() {
			code := d.CodeOf(n)
			if seen[code] {
				continue
			}
			seen[code] = true
			u, s := all[0].StatusOf(code), all[1].StatusOf(code)
			fmt.Fprintf(b, "| %s | 0x%02X %s | %02d %s |\n", code, s, all[1].StatusName(s), u, all[0].StatusName(u))
		}
	}
}

// docs/conversion.md has the drivers' tables. To write it again: make docs
func TestConversionIsFresh(t *testing.T) {
	b, err := os.ReadFile(conversionPage)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(b), conversionMark)
	if !found {
		t.Fatalf("%s has no %q", conversionPage, conversionMark)
	}
	fresh := before + conversionMark + conversionTables()
	testutil.Fresh(t, conversionPage, fresh, "make docs")
}
