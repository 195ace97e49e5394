package kannel

import (
	"reflect"
	"strings"
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// inbound returns an event that brings a message from a mobile.
func inbound(a sms.Alphabet, flags sms.Flags, text string) *httpsms.Event {
	m := &sms.Message{Kind: sms.MO, Alphabet: a, Flags: flags}
	m.Set(number1("46700000001"), sms.Address{Addr: []byte("1234")}, []byte(text))
	return &httpsms.Event{ID: 0xabd, Connector: "operator", At: now, Message: m}
}

// A get-url gets the text in its words and as a whole.
func TestGetURL(t *testing.T) {
	t.Parallel()
	f := func(e *httpsms.Event, o InboundOptions, pattern, want string) {
		t.Helper()
		o.URL = "http://h/" + pattern
		c := Inbound(e, &o)
		if c.URL != "http://h/"+want || c.Method != "GET" || c.Body != nil || c.Taken != nil {
			t.Errorf("%s: %s, want %s", pattern, c.URL, want)
		}
	}
	e := inbound(sms.Default, 0, "vote  4*2 \x05& x")
	f(e, InboundOptions{Name: "poll"}, "%p,%P,%n,%i,%d", "%2B46700000001,1234,poll,operator,0")
	f(e, InboundOptions{}, "%k,%s,%S", "vote,4*2,%C3%A9&")
	f(e, InboundOptions{}, "%S", "4~2")
	f(e, InboundOptions{}, "%s,%r", "4*2,%C3%A9%26+x")
	f(e, InboundOptions{}, "%a", "vote+4*2+%C3%A9%26+x")
	f(e, InboundOptions{}, "%A,%b", "vote++4*2+%C3%A9%26+x,vote++4*2+%C3%A9%26+x")
	f(e, InboundOptions{}, "%c,%C,%m,%M,%O,%u", "0,UTF-8,-1,-1,00,")
	f(e, InboundOptions{}, "%t,%T,%F%R%D%B%o%f%v%V", "2026-11-23+07:30:00,1795419000,")
	f(inbound(sms.Default, 0, "a 1%2F/../\x1be"), InboundOptions{}, "%S", "1%2F/../%E2%82%AC")
	f(inbound(sms.Default, 0, "  "), InboundOptions{}, "%k,%a,%r,%s", ",,,")
	u := inbound(sms.UCS2, 0, "\x04\x20\x00 \x00a")
	f(u, InboundOptions{}, "%c,%C,%b,%k,%r,%O", "2,UTF-16BE,%04+%00+%00a,%04+,%00a,08")
	f(u, InboundOptions{Recode: true}, "%c,%C,%b,%k,%r,%O", "0,UTF-8,%D0%A0+a,%D0%A0,a,00")
	b := inbound(sms.Binary, sms.HasHeader, "\x06\x05\x04\x15\x8a\x00\x00\x01\xff")
	f(b, InboundOptions{}, "%c,%C,%b,%u,%O", "1,8-BIT,%01%FF,%06%05%04%15%8A%00%00,04")
	e.Message.Class = sms.Class0
	f(e, InboundOptions{}, "%m,%O", "0,16")
	b.Message.Class = sms.Class1
	f(b, InboundOptions{}, "%m,%O", "1,21")
}

// A post-url gets the text as it is, and the rest in headers.
func TestPostURL(t *testing.T) {
	t.Parallel()
	f := func(e *httpsms.Event, o InboundOptions, body string, headers ...string) {
		t.Helper()
		o.Post, o.URL = true, "http://h/%k"
		c := Inbound(e, &o)
		var got []string
		for _, h := range c.Header {
			got = append(got, h[0]+": "+h[1])
		}
		if c.Method != "POST" || string(c.Body) != body || !reflect.DeepEqual(got, headers) {
			t.Errorf("%s %q\n%s", c.URL, c.Body, strings.Join(got, "\n"))
		}
	}
	f(inbound(sms.Default, 0, " vote \x05"), InboundOptions{Name: "poll"}, " vote é", "User-Agent: Kannel/1.4.5", `Content-Type: text/plain; charset="UTF-8"`,
		"X-Kannel-To: 1234", "X-Kannel-Time: 2026-11-23 07:30:00", "X-Kannel-SMSC: operator", "X-Kannel-Coding: 0", "X-Kannel-Service: poll")
	f(inbound(sms.Default, 0, " vote \n \x05 x "), InboundOptions{StripKeyword: true, SendSender: true}, "é x ", "User-Agent: Kannel/1.4.5", `Content-Type: text/plain; charset="UTF-8"`,
		"X-Kannel-From: +46700000001", "X-Kannel-To: 1234", "X-Kannel-Time: 2026-11-23 07:30:00", "X-Kannel-SMSC: operator", "X-Kannel-Coding: 0")
	f(inbound(sms.UCS2, 0, "\x04\x20\x00 \x00a"), InboundOptions{StripKeyword: true}, "\x00a", "User-Agent: Kannel/1.4.5", `Content-Type: text/plain; charset="UTF-16BE"`,
		"X-Kannel-To: 1234", "X-Kannel-Time: 2026-11-23 07:30:00", "X-Kannel-SMSC: operator", "X-Kannel-Coding: 2")
	e := inbound(sms.Binary, sms.HasHeader|sms.ReplyPath, "\x02\x70\x00\x00\xff")
	e.Message.Class, e.Message.PID, e.Connector = sms.Class2, 65, "a\r\nb"
	f(e, InboundOptions{}, "\x00\xff", "User-Agent: Kannel/1.4.5", "Content-Type: application/octet-stream",
		"X-Kannel-To: 1234", "X-Kannel-Time: 2026-11-23 07:30:00", "X-Kannel-UDH: %02p%00", "X-Kannel-SMSC: ab", "X-Kannel-MClass: 2", "X-Kannel-PID: 65", "X-Kannel-RPI: 1", "X-Kannel-Coding: 1")
	f(inbound(sms.Default, 0, ""), InboundOptions{StripKeyword: true}, "", "User-Agent: Kannel/1.4.5", `Content-Type: text/plain; charset="UTF-8"`,
		"X-Kannel-To: 1234", "X-Kannel-Time: 2026-11-23 07:30:00", "X-Kannel-SMSC: operator", "X-Kannel-Coding: 0")
	c := Inbound(inbound(sms.Default, 0, "a"), &InboundOptions{URL: "http://h/", SendSender: true})
	if want := [][2]string{{"User-Agent", "Kannel/1.4.5"}, {"X-Kannel-From", "+46700000001"}}; !reflect.DeepEqual(c.Header, want) {
		t.Errorf("%q", c.Header)
	}
}

// What a server replies is sent to the mobile.
func TestReply(t *testing.T) {
	t.Parallel()
	f := func(o InboundOptions, status int, kind, body, want string, alphabet sms.Alphabet) {
		t.Helper()
		got := Reply(inbound(sms.Default, 0, "a"), &o, status, kind, []byte(body))
		if got == nil {
			t.Errorf("%s %q: no reply", kind, body)
			return
		}
		if string(got.Text) != want || got.Alphabet != alphabet || got.From != "1234" || got.To != "+46700000001" {
			t.Errorf("%s %q: %+v", kind, body, got)
		}
	}
	f(InboundOptions{}, 200, "text/plain; charset=UTF-8", "Thanks \xc3\xa9\n", "Thanks \x05\n", sms.Default)
	f(InboundOptions{}, 202, "text/plain", "\xe9", "\x05", sms.Default)
	f(InboundOptions{}, 200, "text/plain; charset=utf-8", "\xd0\x9f", "\x04\x1f", sms.UCS2)
	f(InboundOptions{}, 201, "text/html", "<html><!-- <b> -->\n<b>Hi</b> &lt;you&gt;&amp;\n  me</html>", "Hi <you>& me", sms.Default)
	f(InboundOptions{}, 200, "text/vnd.wap.wml", "<p>a</p>", "a", sms.Default)
	f(InboundOptions{}, 200, "text/xml", "<message><submit><ud>a+b</ud></submit></message>", "a b", sms.Default)
	f(InboundOptions{}, 200, "application/octet-stream", "\x00\xff", "\x00\xff", sms.Binary)
	f(InboundOptions{}, 200, "", "\x00\xff", "\x00\xff", sms.Binary)
	f(InboundOptions{}, 200, "application/json", "{}", "Result could not be represented as an SMS message.", sms.Default)
	f(InboundOptions{}, 200, "text/plain; charset=NOPE", "a", "Result could not be represented as an SMS message.", sms.Default)
	f(InboundOptions{}, 200, "text/plain; charset=UTF-8", "\xff", "Result could not be represented as an SMS message.", sms.Default)
	f(InboundOptions{}, 204, "", "", "<Empty reply from service provider>", sms.Default)
	f(InboundOptions{}, 200, "text/html", "<br>", "<Empty reply from service provider>", sms.Default)
	f(InboundOptions{}, 500, "text/plain", "a", "Could not fetch content, sorry.", sms.Default)
	f(InboundOptions{OmitEmpty: true}, 0, "", "", "Could not fetch content, sorry.", sms.Default)
	if o := Reply(inbound(sms.Default, 0, "a"), &InboundOptions{OmitEmpty: true}, 200, "text/plain", nil); o != nil {
		t.Errorf("%+v", o)
	}
	if o := Reply(inbound(sms.Default, 0, "a"), &InboundOptions{NoReply: true}, 200, "text/plain", []byte("a")); o != nil {
		t.Errorf("%+v", o)
	}
}

// FuzzInbound brings messages that nobody has written to URLs that nobody has configured.
func FuzzInbound(f *testing.F) {
	f.Add("http://h/%k%s%S%r%a?%A%b%#a#b#%D%", uint8(0), false, "vote 1 2", "text/html", "<b>x")
	f.Add("%", uint8(3), true, "\x02\x70\x00\x04", "text/xml", document)
	f.Fuzz(func(t *testing.T, url string, alphabet uint8, header bool, text, kind, reply string) {
		flags := sms.Flags(0)
		if header {
			flags = sms.HasHeader
		}
		e := inbound(sms.Alphabet(alphabet)%(sms.LastAlphabet+1), flags, text)
		for _, o := range []*InboundOptions{{URL: url}, {URL: url, Post: true, StripKeyword: true, Recode: true}} {
			c := Inbound(e, o)
			for _, h := range c.Header {
				if strings.ContainsAny(h[1], "\r\n\x00") {
					t.Errorf("%q", h)
				}
			}
			if strings.ContainsFunc(c.URL, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				t.Errorf("%q", c.URL)
			}
			if o := Reply(e, o, 200, kind, []byte(reply)); o == nil || len(o.Text) == 0 {
				t.Errorf("%+v", o)
			}
		}
	})
}
