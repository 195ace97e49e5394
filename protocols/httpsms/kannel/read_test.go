package kannel

import (
	"reflect"
	"strings"
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// URL encoding is read as Kannel does; nothing that is malformed is lost.
func TestUnescape(t *testing.T) {
	t.Parallel()
	f := func(s, want string, well bool) {
		t.Helper()
		if got, ok := unescape(s); got != want || ok != well {
			t.Errorf("%q: %q, %t", s, got, ok)
		}
	}
	f("", "", true)
	f("a+b%20c", "a b c", true)
	f("%2B%2b", "++", true)
	f("%00%ff%C3", "\x00\xff\xc3", true)
	f("%zz+", "%zz ", false)
	f("%x%41", "%x%41", false) // three characters are kept
	f("100%", "100%", false)
	f("type=%d", "type=%d", false)
	f("%4", "%4", false)
	f("% 41", "% 41", false)
	f("%+41", "%+41", false)
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	f := func(s string, want int, given bool) {
		t.Helper()
		if n, ok := number(s); n != want || ok != given {
			t.Errorf("%q: %d, %t", s, n, ok)
		}
	}
	f("", 0, false)
	f("x", 0, false)
	f("-", 0, false)
	f("- 1", 0, false)
	f("+-1", 0, false)
	f(" \t\n7", 7, true)
	f("+7", 7, true)
	f("-7", -7, true)
	f("007.9", 7, true)
	f("0x10", 0, true)
	f("3;4", 3, true)
	f("99999999999999999999", maxNumber, true)
	f("-99999999999999999999", -maxNumber, true)
}

// Queries are read as Kannel reads them: the first value counts, and only & separates.
func TestQuery(t *testing.T) {
	t.Parallel()
	f := func(query string, want params) {
		t.Helper()
		if got := readQuery(query); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q", query, got)
		}
	}
	f("", params{})
	f("&&=&=a&unknown=1&TO=1", params{})
	f("to", params{{"to", ""}})
	f("to=1&to=2", params{{"to", "1"}})
	f("t%6F=1;from=2", params{{"to", "1;from=2"}})
	f("text=a=b=c", params{{"text", "a=b=c"}})
	f("dlr-url=http://h/?t=%d", params{{"dlr-url", "http://h/?t=%d"}})
	f("text=%00A%00B", params{{"text", "\x00A\x00B"}})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, name, password string) {
		t.Helper()
		s, a := Read(r)
		if a != nil {
			t.Fatalf("%+v", a)
		}
		if u, p := s.Credentials(); u != name || p != password {
			t.Errorf("%q, %q", u, p)
		}
	}
	f(get("username=u&password=p"), "u", "p")
	f(get("user=u&pass=p%2B"), "u", "p+")
	f(get("user=old&username=u&pass=old&password=p"), "u", "p")
	f(get(""), "", "")
	f(post("text/plain", "hi", "X-Kannel-Username", " u ", "X-Kannel-Password", "p"), "u", "p")
	f(post("text/html", "hi", "X-Kannel-Username", "u", "X-Kannel-Password", "p"), "u", "p")
	f(post("text/xml", `<message><submit><from><user>u</user><pass>p</pass></from></submit></message>`), "u", "p")
	f(post("text/xml", `<message><submit><from><user>o</user><username>u</username><password>p&amp;</password></from></submit></message>`), "u", "p&")
	f(post("application/x-www-form-urlencoded", "username=u&password=p"), "u", "p")
	f(&httpsms.Request{Method: "POST", Query: "username=u&password=p"}, "u", "p")
}

// A body is read by its type.
func TestPost(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, text string, want sms.Alphabet) httpsms.Order {
		t.Helper()
		o := order(t, r)
		if string(o.Text) != text || o.Alphabet != want || o.To != "46700" {
			t.Errorf("%q: %+v", r.Body, o)
		}
		return o
	}
	to := "X-Kannel-To"
	f(post("text/plain", "h\xe9", to, "46700"), "h\x05", sms.Default) // ISO-8859-1 is HTTP's default
	f(post("text/plain; charset=UTF-8", "h\xc3\xa9", to, "46700"), "h\x05", sms.Default)
	f(post(`TEXT/Plain;charset="utf-8"; x=y`, "\xd0\x9f", to, "46700"), "\x04\x1f", sms.UCS2)
	f(post("text/plain; charset=UTF-16BE", "\x00a", to, "46700", "X-Kannel-Coding", "2"), "\x00a", sms.UCS2)
	f(post("text/plain", "+%41", to, "46700"), "+%41", sms.Default)
	f(post("application/octet-stream", "\x00\xff", to, "46700"), "\x00\xff", sms.Binary)
	f(post("", "\x00\xff", to, "46700"), "\x00\xff", sms.Binary)
	f(post("application/octet-stream", "\x00a", to, "46700", "X-Kannel-Coding", "2"), "\x00a", sms.UCS2)
	f(post("application/x-www-form-urlencoded; charset=UTF-8", "to=46700&text=a+b"), "a b", sms.Default)
	o := f(post("text/plain", "a", to, "1", to, "46700", "X-Kannel-From", "Shop", "X-Kannel-Udh", "027000", "X-Kannel-Mclass", "1", "X-Kannel-Dlr-Mask", "1",
		"X-Kannel-Dlr-Url", "http://h/d", "X-Kannel-Pid", "65", "X-Kannel-Rpi", "1", "X-Kannel-Validity", "1", "X-Kannel-Deferred", "2", "X-Kannel-Account", "a",
		"X-Kannel-Binfo", "b", "X-Kannel-Priority", "2", "X-Kannel-Meta-Data", "?a?b=c", "X-Kannel-Smsc", "s", "X-Kannel-Alt-Dcs", "1", "X-Kannel-Compress", "0"), "a", sms.Default)
	want := httpsms.Order{From: "Shop", To: "46700", Header: []byte{2, 0x70, 0}, Text: []byte("a"), Class: sms.Class1, PID: 65, Priority: 2, ReplyPath: true,
		DeliverAt: now + 2*minute, Expires: now + minute, Notify: sms.NotifySuccess,
		Context: httpsms.Context{Dialect: httpsms.Kannel, URL: "http://h/d", Fields: []httpsms.Field{{Name: httpsms.Service, Value: "shop"}, {Name: httpsms.AccountInfo, Value: "a"},
			{Name: httpsms.Billing, Value: "b"}, {Name: httpsms.MetaData, Value: "?a?b=c"}, {Name: httpsms.Tags, Value: "s"}, {Name: httpsms.Mask, Value: "1"}}}}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, want\n%+v", o, want)
	}
	if o := order(t, post("text/plain", "a", to, "46700", "X-Kannel-Udh", "%02%70%00")); string(o.Header) != "\x02\x70\x00" {
		t.Errorf("%x", o.Header)
	}
	if o := order(t, post("text/plain", "a", to, "46700", "X-Kannel-Udh", "%0")); o.Header != nil {
		t.Errorf("%x", o.Header)
	}
}

func TestPostRefused(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, want string) {
		t.Helper()
		_, a := orders(r, defaults)
		checkAnswer(t, string(r.Body), a, want)
	}
	f(post("application/json", "{}"), "400 Invalid content-type")
	f(post("multipart/form-data; boundary=x", "--x"), "400 Invalid content-type")
	f(post("text/plain", "a"), "400 Missing receiver(s) number(s), rejected")
	f(post("text/plain", "a", "X-Kannel-To", " "), "400 Empty receiver number not allowed, rejected")
	f(post("text/html", "a"), "400 Missing receiver(s) number(s), rejected")
	f(post("text/html", "a", "X-Kannel-To", "1"), "415 Unsupported content-type, rejected")
	f(post("text/vnd.wap.wml", "a", "X-Kannel-To", "1"), "415 Unsupported content-type, rejected")
	f(post("application/x-www-form-urlencoded", "text=a"), "400 Missing receiver number, rejected")
	f(post("text/xml", `<message><submit><ud>a</ud></submit></message>`), "400 Missing receiver(s) number(s), rejected")
	f(post("text/xml", `<message><submit><da><number></number></da></submit></message>`), "400 Missing receiver(s) number(s), rejected")
	f(post("text/xml", `<message><submit><da><number> </number></da></submit></message>`), "400 Number(s) has/have been denied by white- and/or black-lists.")
}

const document = `<?xml version="1.0" encoding="ISO-8859-1"?>
<message cid="1">
  <submit>
    <from><username>u</username><password>p</password><account>a</account><binfo>b</binfo></from>
    <oa><number> Shop </number></oa>
    <da><number>+46 701</number><number>46-702</number></da>
    <ud>h%E9+%C6</ud>
    <udh>027000</udh>
    <smsc>s</smsc>
    <pid>65</pid><rpi>1</rpi><priority>1</priority><meta-data>?a?b=c</meta-data>
    <dcs><mclass>2</mclass><coding>0</coding><compress>0</compress><alt-dcs>0</alt-dcs></dcs>
    <statusrequest><dlr-mask>3</dlr-mask><dlr-url>http://h/?a=1&amp;t=%d</dlr-url></statusrequest>
    <vp><delay>10</delay></vp><timing><delay>5</delay></timing>
  </submit>
</message>`

// A document has all parameters.
func TestXML(t *testing.T) {
	t.Parallel()
	all, a := orders(post("text/xml", document), defaults)
	if a != nil || len(all) != 2 || all[0].To != "+46701" || all[1].To != "46702" {
		t.Fatalf("%+v, %+v", all, a)
	}
	want := httpsms.Order{From: "Shop", To: "46702", Header: []byte{2, 0x70, 0}, Text: []byte("h\x05 \x1c"), Class: sms.Class2, PID: 65, Priority: 1, ReplyPath: true,
		DeliverAt: now + 5*minute, Expires: now + 10*minute, Notify: sms.NotifySuccess | sms.NotifyFailure,
		Context: httpsms.Context{Dialect: httpsms.Kannel, URL: "http://h/?a=1&t=%d", Fields: []httpsms.Field{{Name: httpsms.Service, Value: "shop"}, {Name: httpsms.AccountInfo, Value: "a"},
			{Name: httpsms.Billing, Value: "b"}, {Name: httpsms.MetaData, Value: "?a?b=c"}, {Name: httpsms.Tags, Value: "s"}, {Name: httpsms.Mask, Value: "3"}}}}
	if !reflect.DeepEqual(all[1], want) {
		t.Errorf("%+v, want\n%+v", all[1], want)
	}
}

func TestXMLTexts(t *testing.T) {
	t.Parallel()
	f := func(head, ud, text string, want sms.Alphabet) {
		t.Helper()
		o := order(t, post("text/xml; charset=UTF-16BE", head+"<message><submit><da><number>1</number></da><ud>"+ud+"</ud></submit></message>"))
		if string(o.Text) != text || o.Alphabet != want {
			t.Errorf("%s: %q in %d", ud, o.Text, o.Alphabet)
		}
	}
	f("", "", "", sms.Default)
	f("", "hello+you", "hello you", sms.Default)
	f("", "68656c6C6f", "68656c6C6f", sms.Default) // only a header may have hexadecimal digits
	f("", "%C3%A5", "\x0f", sms.Default)
	f("", "å", "\x0f", sms.Default)
	f("", "&#229;<![CDATA[<&]]>", "\x0f<&", sms.Default)
	f(`<?xml version="1.0" encoding="iso-8859-1"?>`, "\xe5%E5", "\x0f\x0f", sms.Default)
	f(`<?xml version="1.0" encoding="windows-1252"?>`, "\x80", "\x1be", sms.Default)
}

// A malformed document has no credentials, as with Kannel.
func TestXMLMalformed(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"x", "<", "<message>", "<message></submit>", document + "</message>", "\xff\xfe<", "<a>&nope;</a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
		strings.Repeat("<message>", 20), strings.Repeat("<a>", 10_000), strings.Repeat("<a>", maxDepth+1) + strings.Repeat("</a>", maxDepth+1),
	} {
		s, a := Read(post("text/xml", body))
		if a != nil {
			t.Fatalf("%+v", a)
		}
		if name, password := s.Credentials(); name != "" || password != "" {
			t.Errorf("%s: %s", body[:min(len(body), 40)], name)
		}
	}
}

// playSMS asks for everything in one query over HTTP/1.0, and compares the last line of the answer.
func TestPlaySMS(t *testing.T) {
	t.Parallel()
	r := get("username=playsms&password=playsms&from=8888&to=%2B628123456789&dlr-mask=31&dlr-url=http%3A%2F%2Flocalhost%2Fplaysms%2Findex.php%3Fapp%3Dcall%26cat%3Dgateway%26plugin%3Dkannel%26access%3Ddlr%26type%3D%25d%26smslog_id%3D7%26uid%3D1&mclass=0&text=Halo+dunia")
	s, _ := Read(r)
	if u, p := s.Credentials(); u != "playsms" || p != "playsms" {
		t.Error(u, p)
	}
	o := order(t, r)
	if o.To != "+628123456789" || o.From != "8888" || string(o.Text) != "Halo dunia" || o.Class != sms.Class0 {
		t.Errorf("%+v", o)
	}
	checkAnswer(t, "playSMS", Answer([]httpsms.Result{{ID: 1}}), "202 0: Accepted for delivery")
	e := &httpsms.Event{Report: &sms.Report{State: sms.StateDelivered, ID: []byte("4a")}, Context: o.Context}
	if c, ok := Report(e); !ok || c.URL != "http://localhost/playsms/index.php?app=call&cat=gateway&plugin=kannel&access=dlr&type=1&smslog_id=7&uid=1" {
		t.Errorf("%+v", c)
	}
}

// FuzzSend reads requests that nobody has written. What is read can be made messages.
func FuzzSend(f *testing.F) {
	f.Add("", "to=1&text=%00A%00B&coding=2&udh=%02%70%00&dlr-url=http://h/?%d", "", "")
	f.Add("text/plain; charset=", "", "hi", "1 2")
	f.Add("text/xml", "", document, "")
	f.Add("application/x-www-form-urlencoded", "", "to=1&mwi=3&text=%zz%", "")
	f.Fuzz(func(t *testing.T, kind, query, body, to string) {
		r := post(kind, body, "X-Kannel-To", to, "X-Kannel-Udh", query, "X-Kannel-Dlr-Url", query)
		r.Query = query
		s, a := Read(r)
		if a != nil {
			return
		}
		s.Credentials()
		all, a := s.Orders(now, defaults)
		if (a == nil) != (len(all) > 0) || a != nil && a.Status/100 != 4 {
			t.Fatalf("%d orders, %+v", len(all), a)
		}
		for i := range all {
			var m sms.Message
			switch code := all[i].Fill(&m); code {
			case sms.OK, sms.BadSource, sms.BadLength:
			default:
				t.Fatalf("%s: %+v", code, all[i])
			}
		}
	})
}
