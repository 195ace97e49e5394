package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"pmg/internal/smstext"
	"pmg/protocols"
)

func newPDUCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pdu",
		Short: "Decode single PDUs",
	}
	cmd.AddCommand(newPDUDecodeCommand())
	return cmd
}

func newPDUDecodeCommand() *cobra.Command {
	var protocol string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "decode [--json] [HEX...]",
		Short: "Decode PDUs given in hex",
		Long: `Decodes the PDUs of each argument, or of each line of standard input when there
is none. Spaces, colons, commas and line ends in the hex are ignored, as is 0x before
it. An argument or a line may contain several PDUs, and a PDU may be split over several
arguments.

Prints each PDU as a line of the pdu log, and below it the text of a message that is
not ASCII. With --json it prints an object with the fields by the names of the
specification, texts and optional parameters in hex, and passwords too.

The exit status is 1 when something cannot be decoded; the rest is printed anyway.`,
		Example: `  pmg pdu decode 00000010000000150000000000000001
  pmg pdu decode 00:00:00:10:00:00:00:15 0x00000000 0x00000001
  pmg pdu decode --json 0000001080000004000000580000000a
  pmg log --hex -n 5 | awk '{print $NF}' | pmg pdu decode`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := newSessionDriver(protocol)
			if err != nil {
				return err
			}
			return decodeAll(cmd, args, d, asJSON)
		},
	}
	cmd.Flags().StringVar(&protocol, "protocol", "smpp", "the PDUs' `protocol`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all fields as JSON")
	return cmd
}

// A visitor is a PDU whose fields can be listed.
type visitor interface {
	Visit(f func(name string, value any))
}

// maxHex is the longest line of standard input.
const maxHex = 4 << 20

// decodeAll decodes every argument, or every line of standard input. If one cannot be
// decoded, it goes on with the others.
func decodeAll(cmd *cobra.Command, args []string, d protocols.SessionDriver, asJSON bool) error {
	a := decoder{out: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), driver: d, asJSON: asJSON}
	if len(args) > 0 {
		if isPart(d, args[0]) {
			args = []string{strings.Join(args, " ")} // a dump that was not put in quotes
		}
		for i, arg := range args {
			a.decode(fmt.Sprintf("argument %d", i+1), arg)
		}
		return a.result()
	}
	in := bufio.NewScanner(cmd.InOrStdin())
	in.Buffer(nil, maxHex)
	for n := 1; in.Scan(); n++ {
		a.decode(fmt.Sprintf("line %d", n), in.Text())
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("cannot read standard input: %w", err)
	}
	return a.result()
}

// isPart reports whether text is the beginning of a PDU.
func isPart(d protocols.SessionDriver, text string) bool {
	b, err := octetsOf(text)
	if err != nil || len(b) == 0 {
		return false
	}
	n, err := d.Frame(b)
	return err == nil && n > len(b)
}

// A decoder decodes pieces of hex, and counts those that cannot be decoded.
type decoder struct {
	out, stderr io.Writer
	driver      protocols.SessionDriver
	asJSON      bool

	pieces, bad int
	first       error
	where       string // argument or line of the first error
}

func (a *decoder) decode(where, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a.pieces++
	err := decodePDUs(a.out, a.driver, text, a.asJSON)
	if err == nil {
		return
	}
	if a.bad++; a.bad == 1 {
		a.first, a.where = err, where
		return
	}
	if a.bad == 2 {
		fmt.Fprintf(a.stderr, "%s: %v\n", a.where, a.first)
	}
	fmt.Fprintf(a.stderr, "%s: %v\n", where, err)
}

// result returns an error if a piece could not be decoded.
func (a *decoder) result() error {
	switch {
	case a.bad == 0:
		return nil
	case a.bad == 1 && a.pieces == 1:
		return a.first
	case a.bad == 1:
		return fmt.Errorf("%s: %w", a.where, a.first)
	}
	return fmt.Errorf("cannot decode %d of %d", a.bad, a.pieces)
}

// octetsOf parses hex in the forms that dumps have: with spaces, colons, commas,
// semicolons, dashes or line ends between the octets, and 0x or \x before each or none.
func octetsOf(text string) ([]byte, error) {
	separator := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(":,;-[]{}\"'", r) }
	text = strings.ReplaceAll(text, `\x`, " ")
	var digits strings.Builder
	for _, word := range strings.FieldsFunc(text, separator) {
		word = strings.TrimPrefix(strings.TrimPrefix(word, "0x"), "0X")
		if bad := strings.Trim(word, "0123456789abcdefABCDEF"); bad != "" {
			return nil, fmt.Errorf("cannot decode %q: it is not hex", shorten(word))
		}
		if len(word) == 1 {
			digits.WriteByte('0') // 0x9
		}
		digits.WriteString(word)
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		return nil, fmt.Errorf("cannot decode %q: it has an odd number of digits", shorten(text))
	}
	return b, nil
}

// shorten returns text, or its beginning if it is long.
func shorten(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// decodePDUs prints the PDUs in text.
func decodePDUs(out io.Writer, d protocols.SessionDriver, text string, asJSON bool) error {
	b, err := octetsOf(text)
	if err != nil {
		return err
	}
	p := d.NewPDU()
	for len(b) > 0 {
		n, err := d.Frame(b)
		if err == nil && n > len(b) {
			err = fmt.Errorf("cannot decode pdu: it has %d of %d octets", len(b), n)
		}
		if err != nil {
			return err
		}
		if err := d.Decode(p, b[:n]); err != nil {
			return fmt.Errorf("cannot decode pdu: %w", err)
		}
		if err := printPDU(out, p, asJSON); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func printPDU(out io.Writer, p protocols.PDU, asJSON bool) error {
	line := p.AppendLog(nil, true)
	if v, ok := p.(visitor); ok && asJSON {
		var err error
		if line, err = fieldsJSON(v); err != nil {
			return err
		}
	}
	line = append(line, '\n')
	if text, ok := foreignText(p); ok && !asJSON {
		line = fmt.Appendf(line, "  text: %q\n", text)
	}
	if _, err := out.Write(line); err != nil {
		return fmt.Errorf("cannot print pdu: %w", err)
	}
	return nil
}

// foreignText returns the decoded text of a PDU, and reports whether it differs from the text in the pdu log.
func foreignText(p protocols.PDU) (text string, ok bool) {
	t, ok := p.Text()
	if !ok {
		return "", false
	}
	text, ok = smstext.Decode(t.Alphabet, t.Header, t.Octets)
	return text, ok && text != string(t.Octets)
}

// fieldsJSON prints a PDU's fields as an object, in their own order.
func fieldsJSON(p visitor) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	var bad error
	p.Visit(func(name string, value any) {
		v, err := json.Marshal(value)
		if err != nil {
			bad = fmt.Errorf("cannot print %s: %w", name, err)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, v)
	})
	b.WriteByte('}')
	return b.Bytes(), bad
}
