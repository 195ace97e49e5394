package ucp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A notification reaches a client whatever name the message was from. Names of more than eight
// characters are more digits than AdC has by the letter: a client that is a number is written that.
func TestNotificationOfAName(t *testing.T) {
	all := nodes(t)
	number := node{New(Options{}), New(Options{}).NewSession(protocols.SessionOptions{Name: "PMG"})}
	p := number.read(t, "op60 seq=0 OAdC=46700 OTON=1 ONPI=1 STYP=1 PWD=733363726574 VERS=0100")
	number.Receive(now, p)
	number.Login(now, p, sms.OK)
	for _, name := range []string{"A", "ABCDEFGH", "ABCDEFGHI", "Company1234"} {
		m := new(sms.Message)
		m.SetReport(sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, sms.Address{TON: 5, Addr: []byte(name)},
			&sms.Report{Known: 12345, State: sms.StateDelivered, Submitted: now, Done: now})
		m.Kind = sms.Receipt
		packed, _ := appendName(nil, []byte(name))
		for _, of := range []struct {
			server node
			adc    string
		}{
			{all["ucp server"], string(packed)},
			{number, map[bool]string{true: string(packed), false: "46700"}[len(packed) <= maxAddress]},
		} {
			line := of.server.give(t, m)
			if !strings.Contains(line, " AdC="+of.adc+" ") {
				t.Errorf("%s: %s, want AdC %s", name, line, of.adc)
			}
			if _, code := all["ucp client"].take(t, line); code != sms.OK {
				t.Errorf("our own client answers %s to %s", code, line)
			}
		}
	}
}

// MCLs beside a scheme that names no class counts, and both arrive as they came.
func TestClassBesideScheme(t *testing.T) {
	const to = `op51 seq=9 AdC=46700000001 OAdC=1234 `
	check(t, "ucp server", "ucp client", same(
		to+`MT=3 AMsg="hello" MCLs=0 XSer=020100`,
		to+`MT=3 AMsg="hello" MCLs=1 XSer=020100`,
		to+`MT=4 NB=0032 TMsg="\x04\x14\x040" MCLs=0 XSer=020108`,
		to+`MT=3 AMsg="hello" XSer=020110`,
		to+`MT=3 AMsg="hello" XSer=020111`,
	))
	const sent = `submit_sm seq=9 source_addr=1234 destination_addr=46700000001 `
	for _, w := range []struct {
		in     string
		coding int
	}{
		{`MT=3 AMsg="hello" MCLs=0 XSer=020100`, 0xF0}, {`MT=3 AMsg="hello" MCLs=0`, 0xF0}, {`MT=3 AMsg="hello" MCLs=1 XSer=0201F0`, 0xF0},
		{`MT=4 NB=0032 TMsg="\x04\x14\x040" MCLs=0 XSer=020108`, 0x18}, {`MT=3 AMsg="hello" XSer=020110`, 0xF0},
	} {
		all := nodes(t)
		m, _ := all["ucp server"].take(t, to+w.in)
		if lost := lostBetween(all["ucp server"].SessionDriver, all["smpp client"].SessionDriver, m, nil); len(lost) > 0 {
			t.Errorf("%s loses %q", w.in, lost)
		}
		if got := all["smpp client"].give(t, m); !strings.HasPrefix(got, sent+fmt.Sprintf("data_coding=%d ", w.coding)) {
			t.Errorf("%s: %s, want data_coding %d", w.in, got, w.coding)
		}
	}
}

// A transparent text in the default alphabet is packed: NB says how much of it there is.
func TestPackedText(t *testing.T) {
	all := nodes(t)
	for in, text := range map[string]string{
		`NB=0035 TMsg="\xe82\x9b\xfd\x06" XSer=020100`:            "hello",
		`NB=0040 TMsg="\xe82\x9b\xfd\x06" XSer=020110`:            "hello",
		`TMsg="\xe82\x9b\xfd\x06" XSer=0201F1`:                    "hello",
		`NB=0056 TMsg="\x00\x00\x00\x00\x00\x00\x00" XSer=020100`: "\x00\x00\x00\x00\x00\x00\x00",
		`NB=0070 TMsg="\xe82\x9b\xfdF\x97\xd9\xec7" XSer=020100`:  "hellohello",
		`NB=0014 TMsg="\xe82" XSer=020100`:                        "he",
		`NB=0016 TMsg="\xe82" XSer=020104`:                        "\xe82",
		`NB=0016 TMsg="\xe82" XSer=01060500037F0202020100`:        "\x05\x00\x03\x7f\x02\x02\xe82",
	} {
		m, code := all["ucp server"].take(t, `op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 `+in)
		if code != sms.OK || string(m.Text()) != text {
			t.Errorf("%s: %s, %q, want %q", in, code, m.Text(), text)
		}
	}
}

// An originator that cannot be shown is refused.
func TestControlCharactersInOriginator(t *testing.T) {
	server := nodes(t)["ucp server"]
	for oadc, refused := range map[string]bool{
		`OAdC=1234`: false, `OAdC="PMG 1"`: false, `OAdC=06D0E611 OTOA=5039`: false, `OAdC=047F6C OTOA=5039`: false,
		`OAdC="1\x0a2"`: true, `OAdC="1\x1b[2J"`: true, `OAdC="1\xe9"`: true, `OAdC="\x7f"`: true, `OAdC=048A06 OTOA=5039`: true,
	} {
		p := server.read(t, `op51 seq=9 AdC=46700000001 `+strings.Replace(oadc, " OTOA", ` MT=3 AMsg="x" OTOA`, 1)+map[bool]string{true: "", false: ` MT=3 AMsg="x"`}[strings.Contains(oadc, "OTOA")])
		if a := server.Receive(now, p); (a.Kind == protocols.Send) != refused {
			t.Errorf("%s: %+v", oadc, a)
		} else if !refused {
			server.Answer(p, sms.OK, 1)
		}
	}
}

// With always_dcs the coding stands in XSer 02 of every text.
func TestAlwaysDCS(t *testing.T) {
	o := NewConnectorOptions()
	o.AlwaysDCS = true
	n, all := node{New(Options{}), loggedIn(t, protocols.Client, o)}, nodes(t)
	for in, out := range map[string]string{
		`MT=3 AMsg="hello"`: `MT=3 AMsg="hello" XSer=020100`, `MT=3 AMsg="hello" MCLs=1`: `MT=3 AMsg="hello" XSer=0201F1`,
		`MT=4 NB=0016 TMsg="\x01\x02" MCLs=2`:      `MT=4 NB=0016 TMsg="\x01\x02" XSer=0201F6`,
		`MT=4 NB=0016 TMsg="\x04\x14" XSer=020108`: `MT=4 NB=0016 TMsg="\x04\x14" XSer=020108`,
	} {
		m, _ := all["ucp server"].take(t, `op51 seq=9 AdC=4670 OAdC=1234 `+in)
		if got := n.give(t, m); got != `op51 seq=9 AdC=4670 OAdC=1234 `+out {
			t.Errorf("%s: %s, want %s", in, got, out)
		}
	}
}

// Times are read in both lengths, and what is no time is none.
func TestParseTime(t *testing.T) {
	at := func(year, month, day, hour, minute, second int) int64 {
		return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).UnixNano()
	}
	for text, want := range map[string]int64{
		"2911261305": at(2026, 11, 29, 13, 5, 0), "291126130559": at(2026, 11, 29, 13, 5, 59), "290224000000": at(2024, 2, 29, 0, 0, 0),
		"311289235959": at(2089, 12, 31, 23, 59, 59), "010190000000": at(1990, 1, 1, 0, 0, 0), "010100000000": at(2000, 1, 1, 0, 0, 0),
		"": 0, "291126": 0, "29112613": 0, "291126130": 0, "29112613055": 0, "2911261305590": 0, "29112613055x": 0, "-91126130559": 0, "2911 6130559": 0,
		"001126130559": 0, "310426130559": 0, "290226130559": 0, "291326130559": 0, "290026130559": 0, "291126240000": 0, "291126136000": 0, "291126130060": 0,
	} {
		if got, ok := parseTime([]byte(text), time.UTC); got != want || ok != (want != 0) {
			t.Errorf("%q: %s, %t", text, time.Unix(0, got).UTC(), ok)
		}
	}
}

// A notification with fields that cannot be read says what can be.
func TestOddNotifications(t *testing.T) {
	client := nodes(t)["ucp client"]
	const head = `op53 seq=1 AdC=1234 OAdC=46700000001 `
	for fields, want := range map[string]struct {
		state sms.State
		err   string
		done  bool
	}{
		`SCTS=310726235959 Dst=2 Rsn=107 DSCTS=020826000000`: {sms.StateUndeliverable, "107", true},
		`SCTS=310726235959 Dst=2 Rsn=255 DSCTS=020826000000`: {sms.StateUndeliverable, "255", true},
		`SCTS=310726235959 Dst=2 Rsn=256 DSCTS=020826000000`: {sms.StateUndeliverable, "", true},
		`SCTS=310726235959 Dst=2 Rsn=x DSCTS=never`:          {sms.StateUndeliverable, "", false},
		`SCTS=310726235959 Dst=2 Rsn=-1 DSCTS=310226000000`:  {sms.StateUndeliverable, "", false},
		`SCTS=310726235959 Dst=0 Rsn=107 DSCTS=020826000000`: {sms.StateDelivered, "", true},
	} {
		m, code := client.take(t, head+fields+` MT=3`)
		r, ok := m.Report()
		if code != sms.OK || !ok || r.State != want.state || string(r.Err) != want.err || (r.Done != 0) != want.done {
			t.Errorf("%s: %s, %t, %+v", fields, code, ok, r)
		}
	}
}

// Extra services that are cut off, too long or there twice are refused; those of which
// several may be there are not.
func TestExtraServices(t *testing.T) {
	for x, bad := range map[string]bool{
		"": false, "020100": false, "02010": true, "0201": true, "02": true, "0202": true, "0202000": true, "02020000": true, "0200": true, "0201000": true,
		"020100020100": true, "020100030101": false, "0902AABB0902AABB": false, "0C15" + strings.Repeat("00", 21): true, "0C14" + strings.Repeat("00", 20): false,
		"0C00": false, "FF0100": false, "0x0100": true, "04010A": true, "04020A0B": false,
	} {
		if got := badXSer([]byte(x)); got != bad {
			t.Errorf("%s: refused is %t", x, got)
		}
	}
}

// A frame begins with a header whose numbers are digits.
func TestHeaders(t *testing.T) {
	for head, want := range map[string]bool{
		"\x0200/00000/O/00/": true, "\x0299/99999/R/99/": true, "\x020/00000/O/00/0": false, "\x0200/0000:/O/00/": false, "\x020//00000/O/00/": false,
		"\x0200/00000/X/00/": false, "\x0200/00000/O/0:/": false, "\x0200-00000/O/00/": false, "\x02/0/00000/O/00/": false,
	} {
		if got := isHeader([]byte(head)); got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
}

// The log shows a packed text as what it says, and its octets as they came.
func TestPackedTextInLog(t *testing.T) {
	const line = `op51 seq=9 AdC=46700000001 OAdC=1234 MT=4 NB=0035 TMsg="\xe82\x9b\xfd\x06" XSer=020100`
	var p PDU
	if err := p.ParseLog([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if text, ok := p.Text(); !ok || text.Alphabet != sms.DefaultPacked || string(p.AppendLog(nil, true)) != line {
		t.Errorf("%+v, %s", text, p.AppendLog(nil, true))
	}
}
