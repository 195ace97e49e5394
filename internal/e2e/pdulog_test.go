package e2e

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// Every PDU is in the pdu log, in both directions, and a line can be converted back into the
// octets that were on the wire.
func TestPDULog(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, routes: "{from: operator, to: clients}\n{to: operator}"})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	g.online("clients", 1)
	for n := 2; n < 50; n++ {
		c.put(n, n, "tlv_0x1400=00ff", fmt.Sprint("registered_delivery=", n%2))
		s.serve(n, n)
	}
	c.send(
		`submit_sm seq=100 source_addr_ton=5 source_addr="a \"b\"=c" destination_addr=1 data_coding=8 short_message="\x00\x01\x0a \xff\"\\"`,
		"0000001100000110000000000A342EE70F",           // an unknown command
		"0000001000000004000000000000000a",             // no body
		"00000014 00000015 00000000 00000001 0A0B0C0D", // a body where none belongs
		"00000010 80000015 00000000 00000063",          // an answer without a request
		`submit_sm seq=101 destination_addr=1 message_payload="a long one"`)
	c.accepted(100, 100)
	c.want("generic_nack", "status=0x3(ESME_RINVCMDID)")
	c.want("submit_sm_resp", "seq=10", "status=0x15(ESME_RINVSERTYP)")
	c.want("enquire_link_resp", "seq=1")
	c.accepted(101, 101)
	s.answer(0x45, field(s.want("submit_sm"), "seq"), field(s.want("submit_sm"), "seq"))
	s.send(moLine, receiptLine)
	s.want("deliver_sm_resp", "seq=7")
	s.want("deliver_sm_resp", "seq=8")
	c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm"), "seq") + " status=0")
	for _, p := range []*peer{s, c} {
		p.send("unbind seq=102")
		p.want("unbind_resp", "seq=102")
		p.wantEOF()
	}
	operator.down()
	g.stop()
	compareLog(t, filepath.Join(g.dir, "clients.log"), c)
	compareLog(t, filepath.Join(g.dir, "operator.log"), s)
}

// compareLog compares the lines of a connector's first instance with the octets that its
// peer has sent and received. It skips logins, which have no password in the log.
func compareLog(t *testing.T, path string, p *peer) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("s3cret")) || bytes.Contains(b, []byte("=secret")) {
		t.Errorf("%s has a password in it", path)
	}
	var in, out []byte
	for line := range bytes.Lines(b) {
		e, err := pdulog.Parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if e.Instance != 1 {
			continue
		}
		var pdu smpp.PDU
		if err := smpp.New(smpp.Options{}).ParseLog(&pdu, e.PDU); err != nil && !(pdu.ID.IsBind() && errors.Is(err, protocols.ErrHidden)) {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Received {
			in = pdu.AppendWire(in)
		} else {
			out = pdu.AppendWire(out)
		}
	}
	wrote, got := withoutBind(t, p.wrote), withoutBind(t, p.got)
	if !bytes.Equal(withoutBind(t, in), wrote) {
		t.Errorf("%s: received:\nlog  %x\nwire %x", path, in, wrote)
	}
	if !bytes.Equal(withoutBind(t, out), got) {
		t.Errorf("%s: sent:\nlog  %x\nwire %x", path, out, got)
	}
}

func withoutBind(t *testing.T, b []byte) (rest []byte) {
	t.Helper()
	for d := smpp.New(smpp.Options{}); len(b) > 0; {
		n, err := d.Frame(b)
		if err != nil || n > len(b) {
			t.Fatalf("cannot frame %x: %v", b, err)
		}
		if smpp.CommandID(binary.BigEndian.Uint32(b[4:])) != smpp.BindTransceiver {
			rest = append(rest, b[:n]...)
		}
		b = b[n:]
	}
	return rest
}
