package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/protocols/smpp"
)

// A vendor's parameter is decoded by the name that the configuration declares.
func TestPDUDecodeVendorTLV(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	if err := os.WriteFile(file, []byte("vendor_tlvs: [{tag: 0x1400, name: acme_cost, type: uint16}]\nconnectors: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := smpp.PDU{ID: smpp.SubmitSM, SequenceNumber: 1, SM: smpp.SM{TLVs: smpp.AppendTLV(nil, 0x1400, []byte{1, 2})}}
	decode := func(args ...string) string {
		var out bytes.Buffer
		cmd := newPDUCommand()
		cmd.SetArgs(append([]string{"decode"}, args...))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		if err := cmd.Execute(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return out.String()
	}
	wire := hex.EncodeToString(p.AppendWire(nil))
	if got := decode("-c", file, wire); !strings.Contains(got, " acme_cost=258") {
		t.Errorf("decoded is %s", got)
	}
	if got := decode("-c", file, "--json", wire); !strings.Contains(got, `"acme_cost"`) {
		t.Errorf("decoded is %s", got)
	}
}
