package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// through submits a text with further fields, and returns the fields of the SMSC's PDU that
// are about the text.
func through(t *testing.T, client, smsc *peer, n int, coding, text string) string {
	t.Helper()
	client.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s short_message=%s", n, coding, text))
	client.want("submit_sm_resp", fmt.Sprintf("seq=%d", n), "status=0")
	line := smsc.want("submit_sm")
	smsc.answer(0, field(line, "seq"))
	_, about, _ := strings.Cut(line, "destination_addr=46700000001 ")
	return about
}

// A client whose default alphabet is Latin-1 and an SMSC whose default is GSM 7-bit
// understand each other, both ways. What they mean alike passes untouched, and so does what
// nobody knows.
func TestAlphabetsDiffer(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "charset: latin1", routes: "{from: operator, to: clients}\n{to: operator}"})
	smsc, client := operator.session(), g.bind("transceiver")
	for i, m := range [][3]string{
		{``, `"Gr\xfc\xdfe @$_"`, `short_message="Gr~\x1ee \x00\x02\x11"`},
		{``, `"\xfd [10]"`, `data_coding=8 short_message="\x00\xfd\x00 \x00[\x001\x000\x00]"`},
		{`data_coding=240`, `"@"`, `data_coding=240 short_message="\x00"`},
		{`data_coding=240`, `"\xfd"`, `data_coding=24 short_message="\x00\xfd"`}, // UCS-2 with class 0
		{`esm_class=64`, `"\x05\x00\x03\x07\x02\x01@"`, `esm_class=64 short_message="\x05\x00\x03\x07\x02\x01\x00"`},
		{`data_coding=3`, `"\xfc@"`, `data_coding=3 short_message="\xfc@"`},
		{`data_coding=1`, `"@"`, `data_coding=1 short_message="@"`},
		{`data_coding=8`, `"\xd8=\xde\x00"`, `data_coding=8 short_message="\xd8=\xde\x00"`},
		{`data_coding=4`, `"\x00\xff@"`, `data_coding=4 short_message="\x00\xff@"`},
		{`data_coding=13`, `"\xfc@"`, `data_coding=13 short_message="\xfc@"`},
		{`data_coding=200`, `"\xfc@"`, `data_coding=200 short_message="~\x00"`}, // a message waits
		{`data_coding=200`, `"\xfd"`, `data_coding=232 short_message="\x00\xfd"`},
		{`data_coding=224`, `"\x00\xfd"`, `data_coding=224 short_message="\x00\xfd"`},
	} {
		if got := through(t, client, smsc, i+2, m[0], m[1]); got != m[2] {
			t.Errorf("%s %s became %s, want %s", m[0], m[1], got, m[2])
		}
	}
	smsc.send(`deliver_sm seq=5 source_addr=46700000001 destination_addr=1234 short_message="Gr~\x1ee \x1be"`)
	smsc.want("deliver_sm_resp", "seq=5", "status=0")
	line := client.want("deliver_sm", "data_coding=8", `short_message="\x00G\x00r\x00\xfc\x00\xdf\x00e\x00`)
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
}

// What becomes of characters that the SMSC's alphabet lacks is an option.
func TestMissingCharacters(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{operator: operator, clients: "charset: utf8", out: "missing_characters: transliterate, window: 1"}
	g := start(t, s)
	smsc, client := operator.session(), g.bind("transceiver")
	if got := through(t, client, smsc, 2, "", `"\xe2\x80\x9c\xc5\x9f\xe2\x80\x9d"`); got != `short_message="\"s\""` {
		t.Errorf("got %s", got)
	}
	s.out = "missing_characters: refuse, window: 1"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	client.send(`submit_sm seq=3 source_addr=1234 destination_addr=46700000001 short_message="\xc5\x9f"`)
	client.want("submit_sm_resp", "seq=3", "status=0xc4(ESME_RINVOPTPARAMVAL)")
	if got := through(t, client, smsc, 4, "", `"\xc3\xa9"`); got != `short_message="\x05"` {
		t.Errorf("got %s", got)
	}
	s.out = "encode_as: shortest, window: 1"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	if got := through(t, client, smsc, 5, "data_coding=8", `"\x00\xe9"`); got != `short_message="\x05"` {
		t.Errorf("got %s", got)
	}
	if got := through(t, client, smsc, 6, "data_coding=8", `"\x04\x10"`); got != `data_coding=8 short_message="\x04\x10"` {
		t.Errorf("got %s", got)
	}
}

// A message that moves to another connector is converted for that one.
func TestConvertedForTheNextConnector(t *testing.T) {
	parallel(t)
	first, second := newSMSC(t), newSMSC(t)
	second.down()
	g := start(t, site{
		operator: second, out: "charset: latin1", clients: "charset: latin1",
		more:   row("first", first, "protocol: ucp, password: secret, failover_after: 50ms, "+again),
		routes: "{to: [first, operator]}",
	})
	smsc := first.ucpSession()
	client := g.bind("transceiver")
	client.send(`submit_sm seq=2 source_addr=1234 destination_addr=46700000001 short_message="\xfc@"`)
	client.want("submit_sm_resp", "seq=2", "status=0")
	smsc.want(`op51 seq=1 AdC=46700000001 OAdC=1234 MT=3 AMsg="~\x00"`)
	first.down()
	smsc.conn.Close()
	second.up()
	line := second.session().want("submit_sm", `short_message="\xfc@"`)
	if strings.Contains(line, "data_coding") {
		t.Error(line)
	}
}

// What a text is survives the way through both protocols.
func TestTextThroughBothProtocols(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "charset: latin1", out: "protocol: ucp, window: 1", routes: "{from: operator, to: clients}\n{to: operator}"})
	smsc, client := operator.ucpSession(), g.bind("transceiver")
	for i, m := range [][3]string{
		{``, `"a@\xe4"`, `MT=3 AMsg="a\x00{"`},
		{`data_coding=3`, `"a@\xe4"`, `MT=3 AMsg="a\x00{"`},
		{`data_coding=1`, `"[a_b]"`, `MT=3 AMsg="\x1b<a\x11b\x1b>"`},
		{`data_coding=3`, `"a\xfd"`, `MT=4 NB=0032 TMsg="\x00a\x00\xfd" XSer=020108`},
		{`data_coding=241`, `"@"`, `MT=3 AMsg="\x00" MCLs=1`},
		{`data_coding=241`, `"\xfd"`, `MT=4 NB=0016 TMsg="\x00\xfd" XSer=020119`},
	} {
		client.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=1 %s short_message=%s", i+2, m[0], m[1]))
		client.want("submit_sm_resp", "status=0")
		line, err := smsc.next()
		if err != nil || !strings.HasSuffix(line, " OAdC=1234 "+m[2]) {
			t.Errorf("%s %s became %s, %v", m[0], m[1], line, err)
		}
		smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=1:010126000000")
	}
	smsc.send(`op52 seq=7 AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="\x00|"`)
	smsc.want("op52_result seq=7 status=0")
	line := client.want("deliver_sm", `short_message="@\xf6"`)
	client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
}

// A client that writes GSM 7-bit where it says ASCII, as npm's smpp does, is understood.
func TestGSMAsASCII(t *testing.T) {
	parallel(t)
	operator, other := newSMSC(t), newSMSC(t)
	g := start(t, site{clients: "ascii: gsm7",
		more: row("one", operator, "") + row("two", other, "charset: utf8"), routes: `{destination: "46700000001", to: one}` + "\n{to: two}"})
	smsc, client := operator.session(), g.bind("transceiver")
	if got := through(t, client, smsc, 2, `data_coding=1`, `"Gr~\x1ee \x1be"`); got != `short_message="Gr~\x1ee \x1be"` {
		t.Errorf("GSM 7-bit became %s", got)
	}
	client.send(`submit_sm seq=3 source_addr=1234 destination_addr=46700000002 data_coding=1 short_message="Gr~\x1ee \x1be"`)
	client.want("submit_sm_resp", "seq=3", "status=0")
	line := other.session().want("submit_sm")
	if !strings.Contains(line, `short_message="Gr\xc3\xbc\xc3\x9fe \xe2\x82\xac"`) {
		t.Errorf("in UTF-8: %s", line)
	}
}
