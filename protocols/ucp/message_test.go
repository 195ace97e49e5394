package ucp

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/protocols/smpp"
	"pmg/sms"
)

// now is when messages arrive in these tests.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()

// A node is a driver and a session of it that is logged in.
type node struct {
	protocols.SessionDriver
	protocols.Session
}

// nodes returns both roles of both protocols: "ucp server", ...
func nodes(t testing.TB) map[string]node {
	all := map[string]node{}
	u, s := New(Options{}), smpp.New(smpp.Options{})
	all["ucp server"] = node{u, loggedIn(t, protocols.Server, nil)}
	all["ucp client"] = node{u, loggedIn(t, protocols.Client, nil)}
	server := node{s, s.NewSession(protocols.SessionOptions{Name: "PMG"})}
	p := server.read(t, "bind_transceiver seq=1 system_id=acme interface_version=0x34")
	server.Receive(now, p)
	server.Login(now, p, sms.OK)
	client := node{s, s.NewSession(protocols.SessionOptions{Role: protocols.Client})}
	client.Start(now, s.NewPDU())
	client.Receive(now, client.read(t, "bind_transceiver_resp seq=1 status=0 system_id=SMSC sc_interface_version=52"))
	all["smpp server"], all["smpp client"] = server, client
	for name, n := range all {
		if n.Bound() != protocols.Transceiver {
			t.Fatalf("%s is not logged in", name)
		}
	}
	return all
}

// read returns a PDU as it comes from the wire.
func (n node) read(t testing.TB, line string) protocols.PDU {
	t.Helper()
	p, q := n.NewPDU(), n.NewPDU()
	if err := n.ParseLog(p, []byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := n.Decode(q, p.AppendWire(nil)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return q
}

// take returns the message in a PDU that the peer of the session sends.
func (n node) take(t testing.TB, line string) (*sms.Message, sms.Code) {
	t.Helper()
	p := n.read(t, line)
	if a := n.Receive(now, p); a.Kind != protocols.Message {
		t.Fatalf("%s: got %+v", line, a)
	}
	m := new(sms.Message)
	code := n.Message(now, p, m)
	n.Answer(p, code, 1)
	return m, code
}

// give returns the PDU that carries a message to the peer, as the pdu log prints it.
func (n node) give(t testing.TB, m *sms.Message) string {
	t.Helper()
	p, q := n.NewPDU(), n.NewPDU()
	n.Encode(now, p, m, 9)
	if err := n.Decode(q, p.AppendWire(nil)); err != nil {
		t.Fatalf("what is sent cannot be read: %s: %v", p.AppendLog(nil, true), err)
	}
	return string(q.AppendLog(nil, true))
}

// A way is a message's way through the gateway: what comes, and what leaves.
type way struct{ in, out string }

func check(t *testing.T, from, to string, ways []way) {
	t.Helper()
	all := nodes(t)
	for _, w := range ways {
		m, code := all[from].take(t, w.in)
		if code != sms.OK {
			t.Errorf("%s: %s", w.in, code)
			continue
		}
		if got := all[to].give(t, m); got != w.out {
			t.Errorf("%s -> %s: %s\ngot  %s\nwant %s", from, to, w.in, got, w.out)
		}
	}
}

// same are ways that change nothing.
func same(lines ...string) (ways []way) {
	for _, l := range lines {
		ways = append(ways, way{l, l})
	}
	return ways
}

// What a client submits reaches the SMSC as it was.
func TestThroughUCP(t *testing.T) {
	check(t, "ucp server", "ucp client", append(same(
		`op51 seq=9 AdC=0046700000001 OAdC=1234 MT=3 AMsg="hello \x00\x1be"`,
		`op51 seq=9 AdC=46700000001 OAdC=46700000002 MT=3 AMsg="hello" OTOA=1139`,
		`op51 seq=9 AdC=46700000001 OAdC=10412614190438AB4D MT=3 AMsg="hello" MCLs=1 OTOA=5039`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 NRq=1 NT=3 MT=3 AMsg="hello"`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 NRq=1 NT=2 VP=2011261300 RPID=0065 MT=3 AMsg="hello" RPI=1`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 NRq=1 NT=7 MT=2 Msg=12345`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 LRq=1 LRAd=46700000002 LPID=0100 MT=3 AMsg="hello" MMS=1 DCs=1 RPI=2 CPg=x RPLy=y RES4=z RES5=w`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0016 TMsg="\x01\x02" XSer=020104`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0016 TMsg="\x01\x02" MCLs=2`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0016 TMsg="\x00A" XSer=020118`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello" XSer=01060500037F02020C0441424344`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello" XSer=0201C8`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello" XSer=7F020102030100`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello" XSer=0301000402000105010006010107010108010009030131320A01000B01000D0100`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello" XSer=0E01010F0101100101110101120101130101`,
		`op51 seq=9 AdC=46700000001 OAdC=1234 MT=3`,
	), []way{
		{`op51 seq=9 AdC=46700000001 OAdC=1234 AC=4321 NRq=1 NAdC=4711 NPID=0539 MT=3 AMsg="hello"`,
			`op51 seq=9 AdC=46700000001 OAdC=1234 NRq=1 NT=3 MT=3 AMsg="hello"`},
		{`op51 seq=9 AdC=46700000001 OAdC=0E61F1985C369F01 NRq=0 MT=3 Msg=4d OTOA=5039`,
			`op51 seq=9 AdC=46700000001 OAdC=0D61F1985C369F01 MT=3 AMsg="M" OTOA=5039`},
		{`op51 seq=9 AdC=46700000001 OAdC=0046700000002 DD=1 DDT=2011261300 MT=3 NB=0040 AMsg="hello" XSer=0201F1`,
			`op51 seq=9 AdC=46700000001 OAdC=46700000002 MT=3 AMsg="hello" MCLs=1 OTOA=1139`},
		{`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0048 TMsg="\xff\xfea\x00b\x00" PR=1 XSer=020108`,
			`op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0032 TMsg="\x00a\x00b" XSer=020108`},
		{`op01 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello"`, `op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello"`},
		{`op02 seq=9 NPL=1 RAd=46700000001 OAdC=1234 MT=3 AMsg="hello"`, `op51 seq=9 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello"`},
		{`op03 seq=9 RAd=46700000001 OAdC=1234 NPL=0 MT=2 Msg=12345`, `op51 seq=9 AdC=46700000001 OAdC=1234 MT=2 Msg=12345`},
		{`op30 seq=9 AdC=46700000001 OAdC=1234 NRq=1 VP=2011261300 AMsg="hello"`,
			`op51 seq=9 AdC=46700000001 OAdC=1234 NRq=1 NT=3 VP=2011261300 MT=3 AMsg="hello"`},
	}...))
	check(t, "ucp client", "ucp server", append(same(
		`op52 seq=9 AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="hello" HPLMN=46705`,
		`op52 seq=9 AdC=1234 OAdC=46700000001 RPID=0064 SCTS=010203040506 MT=4 NB=0016 TMsg="\x01\x02" MCLs=1 OTOA=1139 XSer=01070605040B8423F0`,
	), way{`op01 seq=9 AdC=1234 OAdC=46700000001 MT=3 AMsg="hello"`,
		`op52 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126120000 MT=3 AMsg="hello"`}))
	check(t, "ucp client", "ucp server", []way{
		{`op53 seq=9 AdC=1234 OAdC=0046700000001 SCTS=310726235959 Dst=2 Rsn=107 DSCTS=020826000000 MT=3`,
			`op53 seq=9 AdC=1234 OAdC=0046700000001 SCTS=310726235959 Dst=2 Rsn=107 DSCTS=020826000000 MT=3`},
		{`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=1 Rsn=108 DSCTS=020826000000 MT=3 AMsg="buffered"`,
			`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=1 Rsn=108 DSCTS=020826000000 MT=3 AMsg="buffered"`},
	})
}

// SMPP in, UCP out.
func TestSMPPToUCP(t *testing.T) {
	check(t, "smpp server", "ucp client", []way{
		{`submit_sm seq=1 source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 short_message="\x00hello"`,
			`op51 seq=9 AdC=0046700000001 OAdC=06D0E611 NRq=1 NT=3 MT=3 AMsg="\x00hello" OTOA=5039`},
		{`submit_sm seq=1 source_addr_ton=1 source_addr=46700000002 destination_addr=+46700000001 registered_delivery=18 short_message="hello"`,
			`op51 seq=9 AdC=0046700000001 OAdC=46700000002 NRq=1 NT=6 MT=3 AMsg="hello" OTOA=1139`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=1 esm_class=64 data_coding=8 short_message="\x05\x00\x03\x7f\x02\x02\x04\x14\x040"`,
			`op51 seq=9 AdC=1 OAdC=1234 MT=4 NB=0032 TMsg="\x04\x14\x040" XSer=01060500037F0202020108`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=1 esm_class=64 short_message="\x05\x00\x03\x7f\x02\x01hello"`,
			`op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hello" XSer=01060500037F0201`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=1 esm_class=128 protocol_id=65 validity_period=261120130000000+ data_coding=245 short_message="\x01\x02"`,
			`op51 seq=9 AdC=1 OAdC=1234 VP=2011261300 RPID=0065 MT=4 NB=0016 TMsg="\x01\x02" MCLs=1 RPI=1`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=1 validity_period=000000010000000R data_coding=240 short_message="hello"`,
			`op51 seq=9 AdC=1 OAdC=1234 VP=2011261300 MT=3 AMsg="hello" MCLs=0`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=1 data_coding=4 short_message="\x01"`,
			`op51 seq=9 AdC=1 OAdC=1234 MT=4 NB=0008 TMsg="\x01" XSer=020104`},
		{`submit_sm seq=1 source_addr=1234 destination_addr=12345678901234567 short_message="hello"`,
			`op51 seq=9 OAdC=1234 MT=3 AMsg="hello"`},
		{`submit_sm seq=1 source_addr="A sender too long" destination_addr=1 short_message="hello"`,
			`op51 seq=9 AdC=1 MT=3 AMsg="hello"`},
	})
	check(t, "smpp client", "ucp server", []way{
		{`deliver_sm seq=1 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 short_message="hello"`,
			`op52 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126120000 MT=3 AMsg="hello" OTOA=1139`},
		{`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:0190f3 sub:001 dlvrd:001 submit date:2611201159 done date:2611201200 stat:DELIVRD err:000 text:hi"`,
			`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126115900 Dst=0 Rsn=000 DSCTS=201126120000 MT=3 AMsg="Message for 46700000001, with identification 261120115900 has been delivered on 2026-11-20 at 12:00:00"`},
		{`deliver_sm seq=1 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:x stat:UNDELIV err:107"`,
			`op53 seq=9 AdC=1234 OAdC=0046700000001 SCTS=201126120000 Dst=2 Rsn=107 DSCTS=201126120000 MT=3 AMsg="Message for 0046700000001, with identification 261120120000 could not be delivered because of absent subscriber"`},
		{`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:46700000001:310726235959 done date:261120120059 stat:EXPIRED err:abc"`,
			`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=2 Rsn=010 DSCTS=201126120059 MT=3 AMsg="Message for 46700000001, with identification 260731235959 could not be delivered because of network time-out"`},
		{`deliver_sm seq=1 source_addr=46700000001 dest_addr_ton=5 destination_addr=PMG esm_class=4 short_message="id:1 stat:UNDELIV err:250" network_error_code="\x08\x00\x0a"`,
			`op53 seq=9 AdC=06D0E611 OAdC=46700000001 SCTS=201126120000 Dst=2 Rsn=250 DSCTS=201126120000 MT=3 AMsg="Message for 46700000001, with identification 261120120000 could not be delivered"`},
		{`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 esm_class=32 short_message="id:1 stat:ENROUTE"`,
			`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126120000 Dst=1 Rsn=000 DSCTS=201126120000 MT=3 AMsg="Message for 46700000001, with identification 261120120000 has been buffered"`},
		{`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="nothing that can be read"`,
			`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126120000 Dst=2 Rsn=108 DSCTS=201126120000 MT=3 AMsg="Message for 46700000001, with identification 261120120000 could not be delivered because of delivery fail"`},
	})
}

// UCP in, SMPP out.
func TestUCPToSMPP(t *testing.T) {
	check(t, "ucp server", "smpp client", []way{
		{`op51 seq=1 AdC=0046700000001 OAdC=06D0E611 NRq=1 NT=3 MT=3 AMsg="\x00hello" OTOA=5039`,
			`submit_sm seq=9 source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 short_message="\x00hello"`},
		{`op51 seq=1 AdC=1234 OAdC=46700000002 NRq=1 NT=6 MT=3 AMsg="hello" OTOA=1139`,
			`submit_sm seq=9 source_addr_ton=1 source_addr_npi=1 source_addr=46700000002 destination_addr=1234 registered_delivery=18 short_message="hello"`},
		{`op51 seq=1 AdC=1 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
			`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=64 data_coding=8 short_message="\x05\x00\x03\x7f\x02\x02\x04\x14\x040\x00!"`},
		{`op51 seq=1 AdC=1 OAdC=1234 MT=3 AMsg="hello" MCLs=0 XSer=01060500037F0201`,
			`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=64 data_coding=240 short_message="\x05\x00\x03\x7f\x02\x01hello"`},
		{`op51 seq=1 AdC=1 OAdC=1234 VP=2011261300 RPID=0065 MT=4 NB=0016 TMsg="\x01\x02" MCLs=1 RPI=1`,
			`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=128 protocol_id=65 validity_period=261120130000000+ data_coding=245 short_message="\x01\x02"`},
		{`op51 seq=1 AdC=1 OAdC=1234 MT=2 Msg=12345 PR=1`,
			`submit_sm seq=9 source_addr=1234 destination_addr=1 priority_flag=1 short_message="12345"`},
	})
	check(t, "ucp client", "smpp server", []way{
		{`op52 seq=1 AdC=1234 OAdC=0046700000001 SCTS=010203040506 MT=3 AMsg="hello"`,
			`deliver_sm seq=9 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="hello"`},
		{`op53 seq=1 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=0 Rsn=000 DSCTS=020826000000 MT=3 AMsg="x"`,
			`deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:46700000001:310726235959 sub:001 dlvrd:001 submit date:2607312359 done date:2608020000 stat:DELIVRD err:000 text:" receipted_message_id="46700000001:310726235959\x00" message_state=2`},
		{`op53 seq=1 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=2 Rsn=010 DSCTS=020826000000 MT=3`,
			`deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:46700000001:310726235959 sub:001 dlvrd:000 submit date:2607312359 done date:2608020000 stat:EXPIRED err:010 text:" receipted_message_id="46700000001:310726235959\x00" message_state=3 network_error_code="\x08\x00\x0a"`},
	})
}

// From SMPP to UCP and back, and the other way round, nothing is lost that both have.
func TestThereAndBack(t *testing.T) {
	f := func(protocol, other string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			all := nodes(t)
			m, code := all[protocol+" server"].take(t, line)
			if code != sms.OK {
				t.Fatalf("%s: %s", line, code)
			}
			between := all[other+" client"].give(t, m)
			if m, code = all[other+" server"].take(t, between); code != sms.OK {
				t.Fatalf("%s: %s", between, code)
			}
			if got := all[protocol+" client"].give(t, m); got != line {
				t.Errorf("\ngot  %s\nwant %s\nover %s", got, line, between)
			}
		}
	}
	f("smpp", "ucp",
		`submit_sm seq=9 source_addr_ton=5 source_addr="A@_[1]" dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=1 short_message="\x00hello\x1be"`,
		`submit_sm seq=9 source_addr_ton=1 source_addr_npi=1 source_addr=46700000002 destination_addr=1234 registered_delivery=18 short_message="hello"`,
		`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=64 data_coding=8 short_message="\x05\x00\x03\x7f\x02\x02\x04\x14\x040"`,
		`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=192 protocol_id=127 validity_period=261120130000000+ data_coding=246 short_message="\x02pp\x01\x02"`,
		`submit_sm seq=9 source_addr=1234 destination_addr=1 registered_delivery=19 data_coding=4 short_message="\x00\xff/\x02\x03"`,
		`submit_sm seq=9 source_addr=1234 destination_addr=1 registered_delivery=2 data_coding=241`,
	)
	f("ucp", "smpp",
		`op51 seq=9 AdC=0046700000001 OAdC=06D0E611 NRq=1 NT=3 MT=3 AMsg="\x00hello\x1be" OTOA=5039`,
		`op51 seq=9 AdC=1234 OAdC=46700000002 NRq=1 NT=6 MT=3 AMsg="hello" OTOA=1139`,
		`op51 seq=9 AdC=1 OAdC=1234 VP=2011261300 RPID=0127 MT=4 NB=0016 TMsg="\x01\x02" MCLs=2 RPI=1 XSer=0103027070`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=4 NB=0016 TMsg="\x00\xff" XSer=020104`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hello" MCLs=0 XSer=01060500037F0201`,
	)
}

// Texts of any octets come back from UCP as far as it has room, and one that has no room
// is sent so that it is refused.
func TestTextsOfAnyLength(t *testing.T) {
	all := nodes(t)
	for _, a := range []sms.Alphabet{sms.Default, sms.UCS2, sms.Binary} {
		for n := range 800 {
			text := make([]byte, n)
			for i := range text {
				if text[i] = byte(i * 7); a == sms.Default {
					text[i] &= 0x7F
				}
			}
			m := &sms.Message{Alphabet: a}
			m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, text)
			line := all["ucp client"].give(t, m)
			if n > maxMsg/2 {
				if strings.Contains(line, "AdC=2") || strings.Contains(line, "Msg=") {
					t.Fatalf("%d octets: %s", n, line)
				}
				continue
			}
			if a != sms.Default && n > maxTransparent {
				continue // a server refuses it
			}
			got, code := all["ucp server"].take(t, line)
			if code != sms.OK || !bytes.Equal(got.Text(), text) || got.Alphabet != a {
				t.Fatalf("%d octets of alphabet %d: %s, alphabet %d: %x", n, a, code, got.Alphabet, got.Text())
			}
		}
	}
}

// Times, in the zone of the connector.
func TestTimesOfAMessage(t *testing.T) {
	o := NewConnectorOptions()
	o.Timezone = "Europe/Stockholm"
	n := node{New(Options{}), loggedIn(t, protocols.Server, o)}
	f := func(times string, deliver, expires time.Duration, want sms.Code) {
		t.Helper()
		m, code := n.take(t, "op51 seq=1 AdC=1 "+times+" MT=3")
		prototest.Times(t, times, now, m, code, deliver, expires, want)
	}
	f("", 0, 0, sms.OK)
	f("DD=1 DDT=2011261400", time.Hour, 0, sms.OK)
	f("DD=1 DDT=2011261200", 0, 0, sms.OK) // in the past: now
	f("DDT=2011261400", 0, 0, sms.OK)
	f("VP=2011261500", 0, 2*time.Hour, sms.OK)
	f("DD=1 DDT=2011261400 VP=2011261500", time.Hour, 2*time.Hour, sms.OK)
	f("DD=1 DDT=2011261500 VP=2011261500", 0, 0, sms.BadValidity)
	f("VP=2011261300", 0, 0, sms.BadValidity)
	f("VP=3102261300", 0, 0, sms.BadValidity)
	f("VP=1", 0, 0, sms.BadValidity)
	f("DD=1 DDT=2011262400", 0, 0, sms.BadSchedule)
}

// Different messages have different stamps, for a long time.
func TestStamps(t *testing.T) {
	start := uint64(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMicro())
	seen := map[string]bool{}
	for id := start; id < start+100_000; id++ {
		s := stampOf(id)
		if _, ok := parseTime([]byte(s), time.UTC); !ok || seen[s] {
			t.Fatalf("id %d: %s", id, s)
		}
		seen[s] = true
	}
	if stampOf(start) != stampOf(start+century) || stampOf(0) != "010100000000" || stampOf(century-1) != "311299235959" {
		t.Error("the century is not over")
	}
}

// The hot PDUs go through a session without garbage.
func TestSessionDoesNotAllocate(t *testing.T) {
	f := func(name string, from, to *session, in []byte) {
		t.Helper()
		suite.SessionDoesNotAllocate(t, name, from, to, in, func(p protocols.PDU, _ []byte) { p.(*PDU).answer(sms.OK) })
	}
	server, client := loggedIn(t, protocols.Server, nil), loggedIn(t, protocols.Client, nil)
	f("op51", server, client, hot[0].Octets(t))
	f("op51 from a name", server, client, frameOf(1, "O/51/00393201001/10412614190438AB4D/////////////////3//41////1////5039/////"))
	f("op52", client, server, hot[2].Octets(t))
	f("op53", client, server, hot[4].Octets(t))
}

// One submit in, its message out to an SMSC, and both answers.
func BenchmarkSession(b *testing.B) {
	in := hot[0].Octets(b)
	from, to := loggedIn(b, protocols.Server, nil), loggedIn(b, protocols.Client, nil)
	var p, q PDU
	var m sms.Message
	out := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Decode(in)
		from.Receive(now, &p)
		from.Message(now, &p, &m)
		to.Encode(now, &q, &m, to.NextSequence())
		out = q.AppendWire(out[:0])
		from.Answer(&p, sms.OK, 1)
		out = p.AppendWire(out[:0])
		q.answer(sms.OK)
		to.Receive(now, &q)
	}
}

// The result of an operation 02 has the time stamp behind each recipient but those that were
// refused.
func TestRecipients(t *testing.T) {
	for _, f := range []struct {
		recipients string
		want       string
	}{
		{"NPL=1 RAd=46700000001", "46700000001:010100000007"},
		{"NPL=3 RAd=46700000001 RAd=x RAd=46700000002,99", "46700000001:010100000007,x,46700000002:010100000007"},
		{"NPL=2 RAd=01234567890123456 RAd=46700000001", ",46700000001:010100000007"},
		{"NPL=20" + strings.Repeat(" RAd=0123456789012345", 20), strings.Repeat("0123456789012345:010100000007,", 20)},
	} {
		n := nodes(t)["ucp server"]
		p := n.read(t, "op02 seq=9 "+f.recipients+` OAdC=1234 MT=3 AMsg="hello"`)
		a := n.Receive(now, p)
		var m sms.Message
		for i := range a.Messages {
			n.Session.(protocols.Recipients).To(p, i)
			if code := n.Message(now, p, &m); code != sms.OK {
				n.Session.(protocols.Recipients).Refuse(p, code)
			}
		}
		n.Answer(p, sms.OK, 7)
		want := `op02_result seq=9 status=0 SM="` + strings.TrimSuffix(f.want, ",") + `"`
		if got := string(p.AppendLog(nil, true)); got != want && got != strings.ReplaceAll(want, `"`, "") {
			t.Errorf("%s:\ngot  %s\nwant %s", f.recipients, got, want)
		}
	}
}

// stampOf returns the SCTS by which a client knows a message.
func stampOf(id uint64) string { return string(appendStamp(nil, id)) }
