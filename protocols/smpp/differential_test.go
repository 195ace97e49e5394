package smpp

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/fiorix/go-smpp/smpp/pdu"
	"github.com/fiorix/go-smpp/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutlv"
)

// exchanged are PDUs that both codecs know, in the form of the pdu log.
var exchanged = []string{
	`bind_transmitter seq=1 system_id=acme password=s3cret system_type=smpp interface_version=52 addr_ton=1 addr_npi=2 address_range=467`,
	`bind_receiver seq=2 system_id=acme password=s3cret interface_version=52`,
	`bind_transceiver seq=3 system_id=acme password=s3cret interface_version=52`,
	`bind_transmitter_resp seq=1 status=0 system_id=PMG`,
	`bind_receiver_resp seq=2 status=0 system_id=PMG`,
	`bind_transceiver_resp seq=3 status=0 system_id=PMG sc_interface_version=52`,
	`submit_sm seq=4 service_type=CMT source_addr_ton=5 source_addr_npi=1 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 ` +
		`destination_addr=46700000001 protocol_id=1 priority_flag=2 validity_period=000001000000000R registered_delivery=1 ` +
		`replace_if_present_flag=1 data_coding=4 sm_default_msg_id=1 short_message="hello"`,
	`submit_sm seq=5 destination_addr=46700000001 message_payload="hello"`,
	`submit_sm_resp seq=4 status=0 message_id=0190f3a2c81b`,
	`deliver_sm seq=6 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:1 stat:DELIVRD" source_port=7`,
	`deliver_sm_resp seq=6 status=0 message_id=""`,
	`enquire_link seq=7`, `enquire_link_resp seq=7 status=0`, `unbind seq=8`, `unbind_resp seq=8 status=0`,
	`generic_nack seq=9 status=0x3(ESME_RINVCMDID)`,
	`query_sm seq=10 message_id=0190f3a2c81b source_addr_ton=1 source_addr_npi=1 source_addr=1234`,
	`query_sm_resp seq=10 status=0 message_id=0190f3a2c81b final_date=261120120000000+ message_state=2 error_code=7`,
}

// go-smpp decodes the PDUs that we encode to the same fields, and we decode the PDUs that
// go-smpp encodes.
func TestAgainstGoSMPP(t *testing.T) {
	for _, line := range exchanged {
		wire := wireOf(t, line)
		var p PDU
		if err := p.Decode(wire); err != nil {
			t.Fatal(err)
		}
		theirs, err := pdu.Decode(bytes.NewReader(wire))
		if err != nil {
			t.Errorf("%s: go-smpp says %v", line, err)
			continue
		}
		sameFields(t, line, &p, theirs)
		if p.ID == DeliverSM || p.ID == QuerySMResp {
			continue // go-smpp writes an empty user data header before every delivered text, and zeros as the result of a query
		}
		var out bytes.Buffer
		if err := theirs.SerializeTo(&out); err != nil {
			t.Errorf("%s: go-smpp says %v", line, err)
		} else if !bytes.Equal(out.Bytes(), wire) {
			t.Errorf("%s:\ngo-smpp %x\nwe      %x", line, out.Bytes(), wire)
		}
	}
}

// sameFields compares every field that go-smpp found with our field of the same name.
func sameFields(t *testing.T, line string, p *PDU, theirs pdu.Body) {
	t.Helper()
	h := theirs.Header()
	if uint32(h.ID) != uint32(p.ID) || h.Seq != p.SequenceNumber || uint32(h.Status) != p.CommandStatus {
		t.Errorf("%s: go-smpp read the header %+v", line, h)
	}
	ours := map[string]string{}
	p.Visit(func(name string, value any) { ours[name] = fmt.Sprint(value) })
	for name, field := range theirs.Fields() {
		want := field.String()
		if name == pdufield.ShortMessage {
			want = fmt.Sprintf("%x", field.Bytes())
		}
		if got := ours[string(name)]; got != want {
			t.Errorf("%s: %s is %q, to go-smpp %q", line, name, got, want)
		}
	}
	tlvs := p.SM.TLVs
	if p.ID.IsResponse() {
		tlvs = p.BindResp().TLVs
	}
	for tag, field := range theirs.TLVFields() {
		if got, ok := FindTLV(tlvs, uint16(tag)); !ok || !bytes.Equal(got, field.Bytes()) {
			t.Errorf("%s: parameter %#x is %x, to go-smpp %x", line, uint16(tag), got, field.Bytes())
		}
	}
}

// We decode a submit_sm that go-smpp made to the fields it was made from.
func TestReadsGoSMPP(t *testing.T) {
	theirs := pdu.NewSubmitSM(pdutlv.Fields{pdutlv.TagSourcePort: []byte{0, 7}})
	f := theirs.Fields()
	for name, value := range map[pdufield.Name]any{
		pdufield.SourceAddr: "PMG", pdufield.SourceAddrTON: uint8(5), pdufield.DestinationAddr: "46700000001",
		pdufield.RegisteredDelivery: uint8(1), pdufield.ShortMessage: pdutext.Raw("hello"),
	} {
		if err := f.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	theirs.Header().Seq = 7
	var out bytes.Buffer
	if err := theirs.SerializeTo(&out); err != nil {
		t.Fatal(err)
	}
	var p PDU
	if err := p.Decode(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	const want = `submit_sm seq=7 source_addr_ton=5 source_addr=PMG destination_addr=46700000001 registered_delivery=1 short_message="hello" source_port=7`
	if got := string(p.AppendLog(nil, true)); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}
