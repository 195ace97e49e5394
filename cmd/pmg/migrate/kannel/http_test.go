package kannel

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/cmd/pmg/migrate/draft"
	"pmg/config"
	model "pmg/protocols/httpsms/smsc"
	"pmg/sms"
)

// What a user of Kannel sends, and what Kannel 1.4.5 of Debian has called an SMSC with for it (2026-11-24).
var asked = []struct {
	name    string
	message *sms.Message
	calls   map[string]string // by the ids of the groups below
}{{
	name:    "text",
	message: messageOf(sms.Address{TON: 5, Addr: []byte("Shop A")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, sms.DefaultUTF8, "", "Hello  a b å€!*()~"),
	calls: map[string]string{
		"gen": "/gen?P=Shop+A&p=%2B46700000001&q=%2B46700000001&a=Hello+a+b+%C3%A5%E2%82%AC!*()~&A=Hello++a+b+%C3%A5%E2%82%AC!*()~&b=Hello++a+b+%C3%A5%E2%82%AC!*()~&k=Hello&s=a&S=b&" +
			"r=%C3%A5%E2%82%AC!*()~&t=2026-11-24+01:59:26&T=1795485566&i=gen&I=b4b1889f-315e-4763-8464-ccf291aceddc&F=&d=31&R=http%3A%2F%2Fc%2F%3Fd%3D%25d&D=&n=acme&c=0&C=UTF-8&m=-1&M=-1&" +
			"O=00&u=&B=&o=&f=&v=&V=&pc=%20&x=%x&sp=%20&h=%h&E=%E{x}&mt=&end=%",
		"kan":  "/cgi-bin/sendsms?username=u1&password=p1&to=%2B46700000001&text=Hello++a+b+%C3%A5%E2%82%AC!*()~&from=Shop+A&coding=0&charset=UTF-8&smsc=kan&dlr-url=http%3A%2F%2Fc%2F%3Fd%3D%25d&dlr-mask=31",
		"path": "/x?username=u1&password=p1&to=%2B46700000001&text=Hello++a+b+%C3%A5%E2%82%AC!*()~&from=Shop+A&coding=0&charset=UTF-8&smsc=path&dlr-url=http%3A%2F%2Fc%2F%3Fd%3D%25d&dlr-mask=31",
		"kan2": "/x?username=u1&password=p1&to=%2B46700000001&text=48656c6c6f202061206220c3a5e282ac212a28297e&charset=UTF-8&smsc=kan2&dlr-mask=31",
		"alt":  "/alt/%2B46700000001/x?c=-1&C=UTF-8&b=Hello++a+b+%C3%A5%E2%82%AC!*()~",
	},
}, {
	name:    "UCS-2",
	message: messageOf(sms.Address{NPI: 1, Addr: []byte("1234")}, sms.Address{NPI: 1, Addr: []byte("0046700000001")}, sms.UCS2, "", "\x04\x1f\x04\x40\x00 \x00x"),
	calls: map[string]string{
		"gen": "/gen?P=1234&p=0046700000001&q=%2B46700000001&a=%04%1F%04%40%00+%00x&A=%04%1F%04%40%00+%00x&b=%04%1F%04%40%00+%00x&k=%04%1F%04%40%00&s=%00x&S=&r=&" +
			"t=2026-11-24+01:59:26&T=1795485566&i=gen&I=feb8180f-4a83-48dc-8473-fb3f13cd177e&F=&d=-1&R=&D=&n=acme&c=2&C=UTF-16BE&m=0&M=-1&O=24&u=&B=&o=&f=&v=10&V=0&pc=%20&x=%x&sp=%20&h=%h&E=%E{x}&mt=&end=%",
		"kan":  "/cgi-bin/sendsms?username=u1&password=p1&to=0046700000001&text=%04%1F%04%40%00+%00x&from=1234&mclass=0&coding=2&charset=UTF-16BE&smsc=kan&dlr-url=&validity=10",
		"path": "/x?username=u1&password=p1&to=0046700000001&text=%04%1F%04%40%00+%00x&from=1234&mclass=0&coding=2&charset=UTF-16BE&smsc=path&dlr-url=&validity=10",
		"kan2": "/x?username=u1&password=p1&to=0046700000001&text=041f044000200078&mclass=0&charset=UTF-16BE&smsc=kan2&validity=10",
		"alt":  "/alt/0046700000001/x?c=-1&C=UTF-8&b=%D0%9F%D1%80+x",
	},
}, {
	name:    "binary with a header",
	message: messageOf(sms.Address{NPI: 1, Addr: []byte("1234")}, sms.Address{NPI: 1, Addr: []byte("46700000001")}, sms.Binary, "\x06\x05\x04\x15\x81\x15\x81", "\x01\x02\xff \x00"),
	calls: map[string]string{
		"gen": "/gen?P=1234&p=46700000001&q=46700000001&a=%01%02%FF+%00&A=%01%02%FF+%00&b=%01%02%FF+%00&k=%01%02%FF&s=%00&S=&r=&t=2026-11-24+01:59:26&T=1795485566&i=gen&" +
			"I=a731f1f3-f48b-49e6-b8e3-7adaaa7f1836&F=&d=-1&R=&D=&n=acme&c=1&C=8-BIT&m=-1&M=-1&O=04&u=%06%05%04%15%81%15%81&B=&o=&f=&v=&V=&pc=%20&x=%x&sp=%20&h=%h&E=%E{x}&mt=&end=%",
		"kan":  "/cgi-bin/sendsms?username=u1&password=p1&to=46700000001&text=%01%02%FF+%00&udh=%06%05%04%15%81%15%81&from=1234&coding=1&smsc=kan&dlr-url=",
		"path": "/x?username=u1&password=p1&to=46700000001&text=%01%02%FF+%00&udh=%06%05%04%15%81%15%81&from=1234&coding=1&smsc=path&dlr-url=",
		"kan2": "/x?username=u1&password=p1&to=46700000001&text=0102ff2000&udh=06050415811581&smsc=kan2",
	}, // and "alt", which has no place for the header, without it
}}

// called are the groups of these SMSCs.
const called = `group = smsc
smsc = http
smsc-id = gen
system-type = generic
send-url = "http://127.0.0.1:23999/gen?P=%P&p=%p&q=%q&a=%a&A=%A&b=%b&k=%k&s=%s&S=%S&r=%r&t=%t&T=%T&i=%i&I=%I&F=%F&d=%d&R=%R&D=%D&n=%n&c=%c&C=%C&m=%m&M=%M&O=%O&u=%u&B=%B&o=%o&f=%f&v=%v&V=%V&pc=%%20&x=%x&sp=%20&h=%h&E=%E{x}&mt=%#g#k#&end=%"
status-success-regex = "^ok$"

group = smsc
smsc = http
smsc-id = kan
system-type = kannel
smsc-username = u1
smsc-password = p1
send-url = "http://127.0.0.1:23999/cgi-bin/sendsms"

group = smsc
smsc = http
smsc-id = path
system-type = kannel
smsc-username = u1
smsc-password = p1
send-url = "http://127.0.0.1:23999/x"

group = smsc
smsc = http
smsc-id = kan2
system-type = kannel
smsc-username = u1
smsc-password = p1
send-url = "http://127.0.0.1:23999/x"
no-sender = true
no-coding = true
no-sep = true

group = smsc
smsc = http
smsc-id = alt
system-type = generic
send-url = "http://us:pw@127.0.0.1:23999/alt/%p/x?c=%c&C=%C&b=%b"
status-success-regex = "ok"
alt-charset = "UTF-8"
`

// differ are the parameters whose values differ, as a comment says of each, and those that only one of the two has.
var differ = map[string][]string{
	"gen": {"k", "s", "S", "r", "t", "T", "i", "R", "D", "n", "M", "B", "o", "V", "mt", "q", "a", "d", "O", "I"},
	"kan": {"smsc", "dlr-url", "dlr-mask", "charset"}, "path": {"smsc", "dlr-url", "dlr-mask"}, "kan2": {"smsc", "dlr-mask"},
}

func messageOf(source, dest sms.Address, a sms.Alphabet, header, text string) *sms.Message {
	m := &sms.Message{ID: 0x4d2, Alphabet: a}
	if header != "" {
		m.Flags = sms.HasHeader
	}
	if a == sms.UCS2 {
		m.Class, m.Expires = sms.Class0, int64(10*time.Minute)
	}
	m.Set(source, dest, []byte(header+text))
	return m
}

// The requests that an imported configuration makes are those that Kannel makes.
func TestRequestsOfSMSCs(t *testing.T) {
	t.Parallel()
	c := load(t, translate(t, called))
	for i := range c.Connectors {
		of := &c.Connectors[i]
		s, problems := of.SMSC()
		if s == nil {
			t.Fatal(problems)
		}
		for _, ask := range asked {
			v, ok := model.ValuesOf(ask.message, ask.message.Expires, 0)
			if why := s.Lacks(&v); !ok || (why == "") != (ask.calls[of.Name] != "") {
				t.Errorf("%s, %s: refused: %q", of.Name, ask.name, why)
			}
			if ask.calls[of.Name] == "" {
				continue
			}
			request := s.Call(&v)
			got, want := parsed(t, request.URL), parsed(t, ask.calls[of.Name])
			if got.Path != want.Path || got.Host != "127.0.0.1:23999" || request.Method != "GET" {
				t.Errorf("%s, %s: %s %s, want %s", of.Name, ask.name, request.Method, request.URL, ask.calls[of.Name])
			}
			compare(t, of, ask.name, got.RawQuery, want.RawQuery)
		}
	}
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// compare compares two queries.
func compare(t *testing.T, of *config.Connector, name, got, want string) {
	t.Helper()
	g, w := values(got), values(want)
	for key := range w {
		if w[key] == "" || w[key] == "-1" && key != "c" || of.Name == "kan" && key == "text" && w["charset"] == "UTF-16BE" && utf16(w[key]) == g[key] {
			delete(w, key)
			if g[key] == "" || key == "text" {
				delete(g, key)
			}
		}
	}
	for _, key := range differ[of.Name] {
		delete(g, key)
		delete(w, key)
	}
	for key, value := range w {
		if other, ok := g[key]; !ok || other != value {
			t.Errorf("%s, %s: %s is %q, want %q", of.Name, name, key, other, value)
		}
		delete(g, key)
	}
	if len(g) > 0 {
		t.Errorf("%s, %s: more than Kannel has: %q", of.Name, name, g)
	}
}

// values returns the parameters of a query, in which a percent sign may stand for itself.
func values(query string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		} else {
			value = strings.NewReplacer("%7B", "{", "%7D", "}").Replace(value)
		}
		all[key] = value
	}
	return all
}

func utf16(octets string) string {
	text := make([]rune, 0, len(octets)/2)
	for i := 0; i+1 < len(octets); i += 2 {
		text = append(text, rune(octets[i])<<8|rune(octets[i+1]))
	}
	return string(text)
}

// What answers mean is what they mean to Kannel, whatever their statuses are.
func TestAnswersOfSMSCs(t *testing.T) {
	t.Parallel()
	c := load(t, translate(t, "group = smsc\nsmsc = http\nsystem-type = generic\nsend-url = \"http://a/?to=%p\"\nstatus-success-regex = \"^(ok|sent)\"\n"+
		"status-permfail-regex = \"no credit\"\nstatus-tempfail-regex = \"busy\"\ngeneric-foreign-id-regex = \"id=([0-9]+)\"\n"))
	s, _ := c.Connectors[0].SMSC()
	for _, row := range []struct {
		body string
		code sms.Code
		id   string
	}{{"ok id=12 x", sms.OK, "12"}, {"sent", sms.OK, ""}, {"no credit", sms.Rejected, ""}, {"ok, no credit left", sms.OK, ""}, {"busy", sms.TemporaryFailure, ""}, {"what?", sms.Rejected, ""}} {
		for _, status := range []int{200, 404, 429, 500} {
			if v := s.Judge(status, nil, []byte(row.body)); v.Code != row.code || v.ID != row.id {
				t.Errorf("%d %s: %s %q", status, row.body, v.Code, v.ID)
			}
		}
	}
}

// Parts of expressions that mean the same in POSIX, PCRE and RE2 need no comment.
func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, made string
		group      bool
		comments   []string // words of them, in their order
	}{
		{"ok", "ok", false, nil},
		{`^[0-9]+,\(\w*\) [[:alpha:]][]a-z^-] "a{2,3}"`, `^[0-9]+,\(\w*\) [[:alpha:]][]a-z^-] "a{2,3}"`, false, nil},
		{"a|b", "a|b", false, nil},
		{"<id>([^<]+)</id>", "<id>([^<]+)</id>", true, nil},
		{"<id>(.+)</id>", "<id>(.+)</id>", true, []string{". is no line end"}},
		{"ok.*$", `(?s)ok.*\n?$`, false, []string{"before a last line end", ". is a line end"}},
		{"(a|ab)", "(a|ab)", true, []string{"a choice (|)"}},
		{"(a)?b", "(a)?b", true, []string{"several times"}},
		{"^OK$|^0$", `^OK\n?$|^0\n?$`, false, []string{"before a last line end"}},
		{`OK\$`, `OK\$`, false, nil},
		{`[.$|]`, `[.$|]`, false, nil},
		{`\d+`, `\d+`, false, []string{`\d may mean`}},
		{`\<a`, `\<a`, false, []string{`\< may mean`}},
		{`[\d]`, `[\d]`, false, []string{"in [ ]"}},
		{"a+?", "a+?", false, []string{"+? may mean"}},
		{"(?i)ok", "(?i)ok", false, []string{"(? may mean"}},
		{"a{,2}", "a{,2}", false, []string{"{, may mean"}},
		{"(?!x)", "", false, []string{"cannot read"}},
		{`(a)\1`, "", false, []string{"cannot read"}},
		{"[a", "", false, []string{"cannot read"}},
		{"(", "", false, []string{"cannot read"}},
		{`\`, "", false, []string{"cannot read"}},
		{"id", "", true, []string{"no group"}},
	} {
		e := &draft.Entry{}
		got := expression(e, "option", row.text, row.group)
		if got != row.made || len(e.Remarks) != len(row.comments) {
			t.Errorf("%s: %q, %+v", row.text, got, e.Remarks)
			continue
		}
		for i, words := range row.comments {
			if !strings.Contains(e.Remarks[i].Text, words) {
				t.Errorf("%s: %+v, want %q", row.text, e.Remarks, words)
			}
		}
	}
}

// Whatever an expression and a send-url are, they are read.
func FuzzSMSC(f *testing.F) {
	f.Add("http://a/?to=%p&text=%b&x=%#a#b#", "^ok[a]$")
	f.Add("http://u:p@a/%q?%", `\`)
	f.Add("%#", "[[:")
	f.Fuzz(func(t *testing.T, raw, text string) {
		if strings.ContainsAny(raw+text, "\"\n\\\r\x00") {
			return
		}
		d := translate(t, "group = smsc\nsmsc = http\nsystem-type = generic\nsend-url = \""+raw+"\"\nstatus-success-regex = \""+text+"\"\n")
		if len(d.Connectors) != 1 || slices.ContainsFunc(d.Connectors, func(e *draft.Entry) bool { return e.Get("protocol") == nil }) {
			t.Fatalf("%s", d.Bytes())
		}
	})
}
