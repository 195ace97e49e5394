package config

import (
	"reflect"
	"strings"
	"testing"

	"pmg/protocols/smpp"
)

const vendorTLVs = `
vendor_tlvs:
  - {tag: 0x1400, name: acme_campaign, type: text}
  - {tag: 5121, name: acme_cost, type: uint16}
connectors:
  - name: operator
    direction: out
    address: "a:1"
    system_id: a
    password: b
    tlvs:
      - {out: add, tlv: acme_cost, value: 7}
      - {in: rename, tlv: 0x1500, to: acme_campaign}
      - {out: drop, tlv: user_message_reference}
routes: [{to: operator}]
`

// Declarations and rules are read, and shown as they can be read again.
func TestVendorTLVs(t *testing.T) {
	t.Parallel()
	c := mustParse(t, vendorTLVs)
	want := []smpp.VendorTLV{{Tag: "0x1400", Name: "acme_campaign", Type: "text"}, {Tag: "5121", Name: "acme_cost", Type: "uint16"}}
	if !reflect.DeepEqual(c.VendorTLVs, want) {
		t.Errorf("declared are %+v", c.VendorTLVs)
	}
	if again := mustParse(t, strings.ReplaceAll(Show(c), masked, "x")); !reflect.DeepEqual(again.VendorTLVs, c.VendorTLVs) || !reflect.DeepEqual(again.Connectors[0].SMPP, c.Connectors[0].SMPP) {
		t.Errorf("shown again it is\n%s", Show(again))
	}
}

// What cannot be meant is a problem of its option.
func TestVendorTLVProblems(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ old, new, want string }{
		{"0x1400", "0x0424", "vendor_tlvs[0].tag is message_payload in SMPP"},
		{"0x1400", "0x1401", "vendor_tlvs[1].tag 0x1401 is declared twice"},
		{"0x1400", "campaign", "vendor_tlvs[0].tag must be a number of two octets"},
		{"0x1400", "0x10000", "vendor_tlvs[0].tag must be a number of two octets"},
		{"name: acme_campaign", "name: Campaign", "vendor_tlvs[0].name must be small letters"},
		{"name: acme_campaign", "name: data_coding", `vendor_tlvs[0].name "data_coding" has a meaning`},
		{"name: acme_campaign", "name: sms_signal", `vendor_tlvs[0].name "sms_signal" has a meaning`},
		{"name: acme_campaign", "name: acme_cost", `vendor_tlvs[1].name "acme_cost" has a meaning`},
		{"type: text", "type: number", "vendor_tlvs[0].type must be octets"},
		{"out: add, tlv", "tlv", "connectors[0].tlvs[0] must have either in or out"},
		{"out: add", "in: drop, out: add", "connectors[0].tlvs[0] must have either in or out"},
		{"tlv: acme_cost", "tlv: acme_costs", `connectors[0].tlvs[0].tlv "acme_costs" is neither declared`},
		{"value: 7", "value: 65536", "connectors[0].tlvs[0].value must be a number of 2 octets"},
		{"tlv: acme_cost, value: 7", "tlv: 0x1600, value: x", "connectors[0].tlvs[0].value must be octets in hexadecimal"},
		{", to: acme_campaign", "", "connectors[0].tlvs[1].to must be a parameter's name or tag"},
		{"to: acme_campaign", "to: message_payload", "connectors[0].tlvs[1].to is the text of the message"},
		{"tlv: user_message_reference", "tlv: message_payload", "connectors[0].tlvs[2].tlv is the text of the message"},
		{"out: drop, tlv: user", "out: drop, to: 5, tlv: user", "connectors[0].tlvs[2].to is only for rename"},
		{"out: drop, tlv: user", "out: drop, value: 5, tlv: user", "connectors[0].tlvs[2].value is only for add"},
	} {
		_, _, err := Parse([]byte(strings.Replace(vendorTLVs, f.old, f.new, 1)), Options{})
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: want %q, got\n%v", f.new, f.want, err)
		}
	}
}
