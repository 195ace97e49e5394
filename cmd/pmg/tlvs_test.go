package main

import (
	"encoding/hex"
	"strings"
	"testing"

	"pmg/protocols/smpp"
)

// A vendor's parameter is decoded by the name that the configuration declares.
func TestPDUDecodeVendorTLV(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "vendor_tlvs: [{tag: 0x1400, name: acme_cost, type: uint16}]\nconnectors: []\n")
	p := smpp.PDU{ID: smpp.SubmitSM, SequenceNumber: 1, SM: smpp.SM{TLVs: smpp.AppendTLV(nil, 0x1400, []byte{1, 2})}}
	wire := hex.EncodeToString(p.AppendWire(nil))
	for flag, want := range map[string]string{"": " acme_cost=258", "--json ": `"acme_cost"`} {
		if got, err := pmg(t, "pdu decode "+flag+"-c "+file+" "+wire); err != nil || !strings.Contains(got, want) {
			t.Errorf("%sdecoded is %s, %v", flag, got, err)
		}
	}
}
