package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/protocols"
)

func newPDUCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pdu",
		Short: "Look at single PDUs",
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
is none. Spaces in the hex are ignored; one argument may hold several PDUs.

Prints a line per PDU as the pdu log has it, or with --json an object of its
fields by the names of the specification, texts and optional parameters in hex.
--json prints passwords too.

The exit status is 1 when a PDU cannot be decoded; those before it are printed.`,
		Example: `  pmg pdu decode 00000010000000150000000000000001
  pmg pdu decode --json 0000001080000004000000580000000a`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := newDriver(protocol, &config.Config{}) // no settings: the protocol's own limits
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

// A visitor is a PDU that shows its fields.
type visitor interface {
	Visit(f func(name string, value any))
}

func decodeAll(cmd *cobra.Command, args []string, d protocols.Driver, asJSON bool) error {
	out := cmd.OutOrStdout()
	for _, arg := range args {
		if err := decodePDUs(out, d, arg, asJSON); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	in := bufio.NewScanner(cmd.InOrStdin())
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if err := decodePDUs(out, d, in.Text(), asJSON); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("cannot read standard input: %w", err)
	}
	return nil
}

// decodePDUs prints the PDUs that stand in text.
func decodePDUs(out io.Writer, d protocols.Driver, text string, asJSON bool) error {
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return fmt.Errorf("cannot decode %q: %w", text, err)
	}
	p := d.NewPDU()
	for len(b) > 0 {
		n, err := d.Frame(b)
		if err == nil && n > len(b) {
			err = fmt.Errorf("cannot decode pdu: %d of %d octets are there", len(b), n)
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
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot print pdu: %w", err)
	}
	return nil
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
