package smpp

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

// A vector is an entry of testdata/vectors.json. The vectors come from the samples in the
// documents and from the tests of other implementations.
type vector struct {
	Name   string         `json:"name"`
	Hex    string         `json:"hex"`
	Expect map[string]any `json:"expect"`
	Valid  bool           `json:"valid"`
}

func vectors(tb testing.TB) []vector {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(b, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// valid returns the valid vectors.
func valid(tb testing.TB) (some []vector) {
	for _, v := range vectors(tb) {
		if v.Valid {
			some = append(some, v)
		}
	}
	if len(some) < 60 {
		tb.Fatal("too few vectors")
	}
	return some
}

func TestValidVectors(t *testing.T) {
	for _, v := range valid(t) {
		t.Run(v.Name, func(t *testing.T) {
			var p PDU
			in := octetsOf(t, v.Hex)
			if err := p.Decode(in); err != nil {
				t.Fatal(err)
			}
			got := visited(t, &p)
			delete(v.Expect, "text") // the driver does not decode texts
			delete(v.Expect, "udh")
			for name, want := range v.Expect {
				if !equalJSON(t, got[name], want) {
					t.Errorf("%s: got %v, want %v", name, got[name], want)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				t.Errorf("unexpected fields: %v", got)
			}
			throughLog(t, &p, in)
		})
	}
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

func equalJSON(t *testing.T, a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(x, &v); err != nil {
		t.Fatal(err)
	}
	x, _ = json.Marshal(v)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// throughLog checks the way from wire format to the log, to a PDU and back to wire format. It
// restores the password, which is never printed. U11: a line with hidden octets is never
// parsed as a PDU with others.
func throughLog(t *testing.T, p *PDU, in []byte) {
	t.Helper()
	if out := p.AppendWire(nil); !bytes.Equal(out, in) {
		t.Fatalf("encoded again:\ngot  %x\nwant %x", out, in)
	}
	line := p.AppendLog(nil, true)
	if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("not one printable line: %q", line)
	}
	var q PDU
	err := q.ParseLog(line)
	if errors.Is(err, protocols.ErrHidden) && p.isLogin() && !p.ID.IsResponse() && bytes.Count(line, []byte("*")) == 3 && bytes.Contains(line, []byte("=***")) {
		if o, ok := p.Other().(*OutbindBody); ok {
			q.Other().(*OutbindBody).Password = o.Password
		} else {
			q.Bind().Password = p.Bind().Password
		}
		err = nil
	}
	if hidden := errors.Is(err, protocols.ErrHidden); !hidden && err != nil || hidden && !p.isLogin() && len(in) <= maxOctets {
		t.Fatalf("%s: %v", line, err)
	}
	if out := q.AppendWire(nil); err == nil && !bytes.Equal(out, in) {
		t.Fatalf("%s\ngot  %x\nwant %x", line, out, in)
	}
	err = q.ParseLog(p.AppendLog(nil, false))
	if err != nil && !errors.Is(err, protocols.ErrHidden) {
		t.Fatalf("with hidden octets: %v", err)
	}
	if out := q.AppendWire(nil); err == nil && !bytes.Equal(out, in) {
		t.Fatalf("hidden octets are read as others:\ngot  %x\nwant %x", out, in)
	}
}

// For each malformed or odd vector, the table has the error of decoding, and the answer of a
// session.
func TestMalformedVectors(t *testing.T) {
	const bindLine = "bind_transceiver seq=99 system_id=acme password=s3cret interface_version=0x34"
	server := protocols.SessionOptions{Name: "PMG"}
	client := protocols.SessionOptions{Role: protocols.Client, SystemID: "pmg"}
	reactions := map[string]struct {
		options protocols.SessionOptions
		bound   string // the first PDU of the peer
		err     string // error of the first PDU
		answers []string
	}{
		// Framing.
		"incomplete_length_field":         {server, bindLine, "header of 3 octets is not complete", nil},
		"command_length_15":               {server, bindLine, "command_length 15 is less than 16", []string{"< generic_nack seq=1 status=0x2(ESME_RINVCMDLEN)", "closed"}},
		"command_length_huge_0x3800000f":  {server, bindLine, "command_length is larger than a PDU may be", []string{"< generic_nack seq=1 status=0x2(ESME_RINVCMDLEN)", "closed"}},
		"submit_sm_resp_two_octets_in_17": {client, "bind_transceiver_resp seq=1 status=0", "", []string{"answered", "< generic_nack seq=9 status=0x2(ESME_RINVCMDLEN)", "closed"}},

		// Unknown commands.
		"unknown_response_id_0x80000110":         {server, bindLine, "command_id 0x80000110 is not known", nil},
		"unknown_id_with_body_then_enquire_link": {server, bindLine, "command_id 0x00000110 is not known", []string{"< generic_nack seq=171192039 status=0x3(ESME_RINVCMDID)", "< enquire_link_resp seq=171192039 status=0"}},

		// Fields that cannot be read.
		"deliver_sm_sm_length_too_big":    {client, "bind_transceiver_resp seq=1 status=0", "short_message is shorter than sm_length", []string{"< deliver_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"bind_password_too_long":          {server, "", "", []string{"< bind_receiver_resp seq=1 status=0xe(ESME_RINVPASWD)"}},
		"submit_sm_tlv_length_beyond_pdu": {server, bindLine, "optional parameters do not end with the PDU", []string{"< submit_sm_resp seq=1 status=0xc0(ESME_RINVOPTPARSTREAM)"}},

		"query_sm_missing_nul":       {server, bindLine, "source_addr does not end", []string{"< query_sm_resp seq=1 status=0xa(ESME_RINVSRCADR)"}},
		"submit_multi_bad_dest_flag": {server, bindLine, "dest_flag is neither 1 nor 2", []string{"< submit_multi_resp seq=1 status=0x40(ESME_RINVDESTFLAG)"}},

		// Fields with odd values.
		"submit_multi_zero_dests":                   {server, bindLine, "", []string{"< submit_multi_resp seq=1 status=0x33(ESME_RINVNUMDESTS)"}},
		"outbind_password_10_octets":                {client, "", "", nil},
		"submit_sm_short_message_and_payload":       {server, bindLine, "", []string{"< submit_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"submit_sm_udhl_too_big":                    {server, bindLine, "", []string{"< submit_sm_resp seq=1 status=0x1(ESME_RINVMSGLEN)"}},
		"enquire_link_with_body":                    {server, bindLine, "", []string{"< enquire_link_resp seq=1 status=0"}},
		"enquire_link_sequence_zero":                {server, bindLine, "", []string{"< enquire_link_resp seq=0 status=0"}},
		"enquire_link_sequence_80000000":            {server, bindLine, "", []string{"< enquire_link_resp seq=2147483648 status=0"}},
		"bind_resp_sc_interface_version_bad_length": {client, "", "", []string{"bound transceiver"}},
	}
	d := New(Options{})
	for _, v := range vectors(t) {
		if v.Valid {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			r, ok := reactions[v.Name]
			if !ok {
				t.Fatal("the table does not say what to expect")
			}
			in := octetsOf(t, v.Hex)
			if v.Name == "submit_sm_resp_two_octets_in_17" {
				in = append(in, 0, 0, 0, 0, 0, 9) // the vector ends inside its wrong header
			}
			first := in
			if n, err := d.Frame(in); err == nil {
				first = in[:min(n, len(in))]
			}
			var p PDU
			text := ""
			if err := p.Decode(first); err != nil {
				text = err.Error()
			}
			if text != r.err {
				t.Errorf("got error %q, want %q", text, r.err)
			}
			s := prototest.NewSession(d, r.options)
			if r.bound != "" {
				s.Write(wireOf(t, r.bound))
			}
			s.Read()
			s.Events()
			s.Write(in)
			s.Wait(time.Second)
			checkOutcome(t, s, r.answers)
		})
	}
}

// checkOutcome checks that the output contains a line with each beginning, and no further PDU.
func checkOutcome(t *testing.T, s *prototest.Session, want []string) {
	t.Helper()
	d := New(Options{})
	var got []string
	var p PDU
	for b := s.Read(); len(b) > 0; {
		n, err := d.Frame(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Decode(b[:n]); err != nil {
			t.Fatal(err)
		}
		got = append(got, "< "+string(p.AppendLog(nil, true)))
		b = b[n:]
	}
	got = append(got, s.Events()...)
	for _, w := range want {
		i := slices.IndexFunc(got, func(g string) bool { return len(g) >= len(w) && g[:len(w)] == w })
		if i < 0 {
			t.Fatalf("%q is not in what is left of %q", w, got)
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, g := range got {
		if g[0] == '<' {
			t.Errorf("%q was sent, too", g)
		}
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
