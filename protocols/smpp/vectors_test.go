package smpp

import (
	"bytes"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

func TestValidVectors(t *testing.T) {
	suite.ValidVectors(t, func(t *testing.T, p protocols.PDU, expect map[string]any) map[string]any {
		delete(expect, "text") // the driver does not decode texts
		delete(expect, "udh")
		return visited(t, p.(*PDU))
	})
}

func visited(t *testing.T, p *PDU) map[string]any {
	got := map[string]any{}
	p.Visit(func(name string, value any) {
		if _, twice := got[name]; twice {
			t.Errorf("%s twice", name)
		}
		got[name] = value
	})
	return got
}

func throughLog(t testing.TB, p *PDU, in []byte) { t.Helper(); suite.ThroughLog(t, p, in) }

// unhide restores the password, which is never printed.
func unhide(to, from protocols.PDU, in, line []byte) (may, whole bool) {
	p, q := from.(*PDU), to.(*PDU)
	if !p.isLogin() || p.ID.IsResponse() || bytes.Count(line, []byte("*")) != 3 || !bytes.Contains(line, []byte("=***")) {
		return p.isLogin() || len(in) > maxOctets, false
	}
	if o, ok := p.Other().(*OutbindBody); ok {
		q.Other().(*OutbindBody).Password = o.Password
	} else {
		q.Bind().Password = p.Bind().Password
	}
	return true, true
}

// For each malformed or odd vector, the table has the error of decoding, and the answer of a
// session.
func TestMalformedVectors(t *testing.T) {
	login := wireOf(t, "bind_transceiver seq=99 system_id=acme password=s3cret interface_version=0x34")
	accepted := wireOf(t, "bind_transceiver_resp seq=1 status=0")
	server := protocols.SessionOptions{Name: "PMG"}
	client := protocols.SessionOptions{Role: protocols.Client, SystemID: "pmg"}
	reactions := map[string]struct {
		Options protocols.SessionOptions
		Before  []byte
		Err     string
		Answers []string
	}{
		// Framing.
		"incomplete_length_field":         {server, login, "header of 3 octets is not complete", nil},
		"command_length_15":               {server, login, "command_length 15 is less than 16", []string{"< generic_nack seq=1 status=0x2(ESME_RINVCMDLEN)", "closed"}},
		"command_length_huge_0x3800000f":  {server, login, "command_length is larger than a PDU may be", []string{"< generic_nack seq=1 status=0x2(ESME_RINVCMDLEN)", "closed"}},
		"submit_sm_resp_two_octets_in_17": {client, accepted, "", []string{"answered", "< generic_nack seq=9 status=0x2(ESME_RINVCMDLEN)", "closed"}},

		// Unknown commands.
		"unknown_response_id_0x80000110":         {server, login, "command_id 0x80000110 is not known", nil},
		"unknown_id_with_body_then_enquire_link": {server, login, "command_id 0x00000110 is not known", []string{"< generic_nack seq=171192039 status=0x3(ESME_RINVCMDID)", "< enquire_link_resp seq=171192039 status=0"}},

		// Fields that cannot be read.
		"deliver_sm_sm_length_too_big":    {client, accepted, "short_message is shorter than sm_length", []string{"< deliver_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"bind_password_too_long":          {server, nil, "", []string{"< bind_receiver_resp seq=1 status=0xe(ESME_RINVPASWD)"}},
		"submit_sm_tlv_length_beyond_pdu": {server, login, "optional parameters do not end with the PDU", []string{"< submit_sm_resp seq=1 status=0xc0(ESME_RINVOPTPARSTREAM)"}},

		"query_sm_missing_nul":       {server, login, "source_addr does not end", []string{"< query_sm_resp seq=1 status=0xa(ESME_RINVSRCADR)"}},
		"submit_multi_bad_dest_flag": {server, login, "dest_flag is neither 1 nor 2", []string{"< submit_multi_resp seq=1 status=0x40(ESME_RINVDESTFLAG)"}},

		// Fields with odd values.
		"submit_multi_zero_dests":                   {server, login, "", []string{"< submit_multi_resp seq=1 status=0x33(ESME_RINVNUMDESTS)"}},
		"outbind_password_10_octets":                {client, nil, "", nil},
		"submit_sm_short_message_and_payload":       {server, login, "", []string{"< submit_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"submit_sm_udhl_too_big":                    {server, login, "", []string{"< submit_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"enquire_link_with_body":                    {server, login, "", []string{"< enquire_link_resp seq=1 status=0"}},
		"enquire_link_sequence_zero":                {server, login, "", []string{"< enquire_link_resp seq=0 status=0"}},
		"enquire_link_sequence_80000000":            {server, login, "", []string{"< enquire_link_resp seq=2147483648 status=0"}},
		"bind_resp_sc_interface_version_bad_length": {client, nil, "", []string{"bound transceiver"}},
	}
	_, others := prototest.Vectors(t, "testdata")
	for _, v := range others {
		t.Run(v.Name, func(t *testing.T) {
			r, ok := reactions[v.Name]
			if !ok {
				t.Fatal("the table does not say what to expect")
			}
			in := v.Octets(t)
			if v.Name == "submit_sm_resp_two_octets_in_17" {
				in = append(in, 0, 0, 0, 0, 0, 9) // the vector ends inside its wrong header
			}
			suite.React(t, in, r)
		})
	}
}

// wireOf returns the octets of a PDU in the form of the pdu log.
func wireOf(tb testing.TB, line string) []byte {
	tb.Helper()
	var p PDU
	if err := p.ParseLog([]byte(line)); err != nil {
		tb.Fatal(err)
	}
	return p.AppendWire(nil)
}
