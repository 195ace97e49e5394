package config

import (
	"reflect"
	"strings"
	"testing"

	"pmg/config/document"
	"pmg/protocols/smpp"
)

const tlvRules = `
connectors:
  - name: operator
    direction: out
    address: "a:1"
    system_id: a
    password: b
    tlvs:
      - {out: add, tlv: source_port, value: 7}
      - {out: drop, tlv: user_message_reference}
routes: [{to: operator}]
`

// Rules are read, and shown as they can be read again.
func TestTLVRules(t *testing.T) {
	t.Parallel()
	c := mustParse(t, tlvRules)
	want := []smpp.TLVRule{{Out: "add", TLV: "source_port", Value: "7"}, {Out: "drop", TLV: "user_message_reference"}}
	if got := c.Connectors[0].SMPP.TLVs; !reflect.DeepEqual(got, want) {
		t.Errorf("the rules are %+v", got)
	}
	if again := mustParse(t, strings.ReplaceAll(Show(c), document.Masked, "x")); !reflect.DeepEqual(again.Connectors[0].SMPP, c.Connectors[0].SMPP) {
		t.Errorf("shown again it is\n%s", Show(again))
	}
}

// What cannot be meant is a problem of its option.
func TestTLVRuleProblems(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ old, new, want string }{
		{"out: add, tlv", "tlv", "connectors[operator].tlvs[0] must have either in or out"},
		{"out: add", "in: drop, out: add", "connectors[operator].tlvs[0] must have either in or out"},
		{"tlv: source_port", "tlv: source_ports", `connectors[operator].tlvs[0].tlv "source_ports" is neither a parameter`},
		{"value: 7", "value: 65536", "connectors[operator].tlvs[0].value must be an integer that fits into 2 octets"},
		{"tlv: source_port, value: 7", "tlv: 0x1600, value: 0x1g", "connectors[operator].tlvs[0].value must be octets in hexadecimal"},
		{"tlv: user_message_reference", "tlv: message_payload", "connectors[operator].tlvs[1].tlv is the text of the message"},
		{"out: drop, tlv: user", "out: drop, value: 5, tlv: user", "connectors[operator].tlvs[1].value is only for add"},
	} {
		_, _, err := Parse([]byte(strings.Replace(tlvRules, f.old, f.new, 1)), Options{})
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: want %q, got\n%v", f.new, f.want, err)
		}
	}
}
