package pdulog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pmg/gateway/privacy"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// A line about somebody has neither the number nor the text any more; other lines stay as they are. What is left can be read.
func TestRedacted(t *testing.T) {
	who, err := privacy.ParseNumbers([]string{"46701740605"})
	if err != nil {
		t.Fatal(err)
	}
	d := pdulog.NewDecoder(lookup)
	const head = "2026-11-20T19:05:22.469303Z clients/3 "
	for _, c := range []struct{ line, want string }{
		{
			`< submit_sm seq=17 source_addr=1234 dest_addr_ton=1 destination_addr=46701740605 short_message="hello" account=acme`,
			`< submit_sm seq=17 source_addr=1234 dest_addr_ton=1 destination_addr=*11 short_message=*5 account=acme`,
		},
		{
			`< deliver_sm seq=17 source_addr_ton=2 source_addr_npi=1 source_addr=701740605 destination_addr=1234 short_message="hello"`,
			`< deliver_sm seq=17 source_addr_ton=2 source_addr_npi=1 source_addr=*9 destination_addr=1234 short_message=*5`,
		},
		{
			`< submit_sm seq=17 source_addr=1234 destination_addr=467017406051 short_message="call 0701740605" id=1a1fb0c12c230d41`,
			`< submit_sm seq=17 source_addr=1234 destination_addr=467017406051 short_message=*15 id=1a1fb0c12c230d41`,
		},
		{`< submit_sm seq=17 source_addr=1 destination_addr=2 data_coding=8 short_message="\x004\x006\x007\x000\x001\x007\x004\x000\x006\x000\x005"`, `< submit_sm seq=17 source_addr=1 destination_addr=2 data_coding=8 short_message=*22`},
		{`< submit_sm seq=17 source_addr=1 destination_addr=2 short_message="" callback_num=0100013436373031373430363035`, `< submit_sm seq=17 source_addr=1 destination_addr=2 short_message="" callback_num=*28`},
		{
			`< submit_sm seq=17 source_addr=T46701740605 destination_addr=2 short_message="hello" callback_num="\x01\x01\x0146701740605" dest_subaddress="\xa046701740605"`,
			`< submit_sm seq=17 source_addr=*12 destination_addr=2 short_message=*5 callback_num=*14 dest_subaddress=*12`,
		},
		{`< submit_sm seq=17 source_addr=1 destination_addr=2 data_coding=4 short_message="\x00\x0146701740605"`, `< submit_sm seq=17 source_addr=1 destination_addr=2 data_coding=4 short_message=*13`},
		{`< submit_sm seq=17 source_addr=1 destination_addr=01146701740605 short_message="tel46701740605"`, `< submit_sm seq=17 source_addr=1 destination_addr=*14 short_message=*14`},
		{`< op51 seq=1 AdC=2 OAdC=1434DB0D16BBD16036580D OTOA=5039 MT=3 AMsg="hello"`, `< op51 seq=1 AdC=2 OAdC=*22 OTOA=5039 MT=3 AMsg=*5`},
		{`< op51 seq=1 AdC=2 OAdC=15549AED068BDD68301BAC06 OTOA=5039 MT=3 AMsg="hello"`, `< op51 seq=1 AdC=2 OAdC=*24 OTOA=5039 MT=3 AMsg=*5`},
		{`> http_submit seq=7 from=Shop to=1 reference=n46701740605 query=to=%2046701740605 text="x"`, `> http_submit seq=7 from=Shop to=1 reference=*12 query=*17 text=*1`},
		{`> submit_sm_resp seq=46701740 status=0 message_id=1a1fb0c12c230d41`, ``},
		{`< submit_sm seq=17 source_addr=1234 destination_addr=46701740606 short_message="hello"`, ``},
		{`< op51 seq=1 AdC=46701740605 OAdC=1234 MT=3 AMsg="hello"`, `< op51 seq=1 AdC=*11 OAdC=1234 MT=3 AMsg=*5`},
		{`> http_submit seq=7 from=Shop to=+46701740605 reference=order-7 text="p\xc3\xa5"`, `> http_submit seq=7 from=Shop to=*12 reference=order-7 text=*3`},
		{`< nonsense seq=7 to=46701740605 text="secret" x=1`, `< nonsense seq=7 to=*11 text=*6 x=1`},
	} {
		want := head + c.want
		if c.want == "" {
			want = head + c.line
		}
		if c.want != "" && !who.MayBeIn([]byte(c.line)) {
			t.Errorf("it is passed over: %s", c.line)
		}
		got, changed := d.AppendRedacted(nil, []byte(head+c.line), &pdulog.Redaction{Of: who})
		if string(got) != want || changed != (c.want != "") {
			t.Errorf("got  %s (%v)\nwant %s", got, changed, want)
		}
		again, changed := d.AppendRedacted(nil, got, &pdulog.Redaction{Of: who})
		if changed {
			t.Errorf("the second time it is %s", again)
		}
		if _, err := pdulog.Parse(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
	damaged := "ZZ\x00 to 46701740605 half a li"
	if got, changed := d.AppendRedacted(nil, []byte(damaged), &pdulog.Redaction{Of: who}); string(got) != "*28" || !changed {
		t.Errorf("a damaged line is %q", got)
	}
}

// Without texts, numbers of services and names of senders stay.
func TestRedactedByAge(t *testing.T) {
	d := pdulog.NewDecoder(lookup)
	const line = `2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 source_addr=ACME destination_addr=46701740605 short_message="hello" account=acme`
	for _, c := range []struct {
		redaction pdulog.Redaction
		want      string
	}{
		{pdulog.Redaction{Texts: true}, strings.Replace(line, `"hello"`, "*5", 1)},
		{pdulog.Redaction{Texts: true, Numbers: true}, strings.NewReplacer(`"hello"`, "*5", "46701740605", "*11").Replace(line)},
	} {
		if got, _ := d.AppendRedacted(nil, []byte(line), &c.redaction); string(got) != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// lookup returns the driver that has a command.
func lookup(command string) (protocols.Driver, error) {
	for _, d := range []protocols.Driver{smpp.New(smpp.Options{}), ucp.New(ucp.Options{}), httpsms.New()} {
		if slices.Contains(d.Commands(), command) {
			return d, nil
		}
	}
	return nil, errors.New("no such command")
}
