package kannel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

const minute = int64(time.Minute)

var (
	now      = time.Date(2026, 11, 23, 7, 30, 0, 0, time.UTC).UnixNano()
	defaults = Defaults{Sender: "Default", Service: "shop"}
)

func get(query string) *httpsms.Request {
	return &httpsms.Request{Method: "GET", Path: "/cgi-bin/sendsms", Query: query}
}

func post(kind, body string, headers ...string) *httpsms.Request {
	r := &httpsms.Request{Method: "POST", Path: "/cgi-bin/sendsms", Body: []byte(body), Header: map[string][]string{}}
	if kind != "" {
		r.Header["Content-Type"] = []string{kind}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
	}
	return r
}

func orders(r *httpsms.Request, d Defaults) ([]httpsms.Order, *httpsms.Answer) {
	s, a := Read(r)
	if a != nil {
		return nil, a
	}
	return s.Orders(now, d)
}

// order returns the only order of a request.
func order(t *testing.T, r *httpsms.Request) httpsms.Order {
	t.Helper()
	all, a := orders(r, defaults)
	if a != nil || len(all) != 1 {
		t.Fatalf("%s %s: %d orders, %+v", r.Query, r.Body, len(all), a)
	}
	return all[0]
}

func checkAnswer(t *testing.T, what string, a *httpsms.Answer, want string) {
	t.Helper()
	if a == nil {
		t.Errorf("%s: no answer, want %s", what, want)
		return
	}
	if got := fmt.Sprintf("%d %s", a.Status, a.Body); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	if a.ContentType != "text/html" || !reflect.DeepEqual(a.Header, [][2]string{{"Pragma", "no-cache"}, {"Cache-Control", "no-cache"}, {"Server", "Kannel/1.4.5"}}) {
		t.Errorf("%s: %+v", what, a)
	}
}

// Each parameter has its effect.
func TestParameters(t *testing.T) {
	t.Parallel()
	f := func(query string, change func(*httpsms.Order)) {
		t.Helper()
		want := httpsms.Order{From: "Default", To: "46700", Context: httpsms.Context{Dialect: httpsms.Kannel, Fields: []httpsms.Field{{Name: httpsms.Service, Value: "shop"}}}}
		change(&want)
		got := order(t, get("to=46700"+query))
		if len(got.Text) == 0 {
			got.Text = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want\n%+v", query, got, want)
		}
	}
	add := func(name uint8, value string) func(*httpsms.Order) {
		return func(o *httpsms.Order) { o.Context.Add(name, value) }
	}
	f("", func(*httpsms.Order) {})
	f("&from=Shop", func(o *httpsms.Order) { o.From = "Shop" })
	f("&from=", func(*httpsms.Order) {})
	f("&text=hi", func(o *httpsms.Order) { o.Text = []byte("hi") })
	f("&mclass=0", func(o *httpsms.Order) { o.Class = sms.Class0 })
	f("&mclass=3", func(o *httpsms.Order) { o.Class = sms.Class3 })
	f("&flash=1", func(*httpsms.Order) {}) // up to Kannel 1.2
	f("&pid=255", func(o *httpsms.Order) { o.PID = 255 })
	f("&rpi=0", func(*httpsms.Order) {})
	f("&rpi=1", func(o *httpsms.Order) { o.ReplyPath = true })
	f("&rpi=2", func(o *httpsms.Order) { o.ReplyPath = true })
	f("&priority=3", func(o *httpsms.Order) { o.Priority = 3 })
	f("&alt-dcs=1&compress=0", func(*httpsms.Order) {})
	f("&validity=5", func(o *httpsms.Order) { o.Expires = now + 5*minute })
	f("&validity=0&deferred=0", func(*httpsms.Order) {})
	f("&validity=999999999999", func(o *httpsms.Order) { o.Expires = now + maxMinutes*minute })
	f("&deferred=+60x", func(o *httpsms.Order) { o.DeliverAt = now + 60*minute })
	f("&account=A%201", add(httpsms.AccountInfo, "A 1"))
	f("&account="+strings.Repeat("a", 64), add(httpsms.AccountInfo, strings.Repeat("a", 64)))
	f("&binfo=b", add(httpsms.Billing, "b"))
	f("&meta-data=%3Fsmpp%3Fa%3Db", add(httpsms.MetaData, "?smpp?a=b"))
	f("&smsc=fast", add(httpsms.Tags, "fast"))
	f("&charset=utf-8", func(*httpsms.Order) {})
	f("&dlr-url=http://h/d?type=%25d", func(o *httpsms.Order) { o.Context.URL = "http://h/d?type=%d" })
	f("&dlrurl=HTTPS://h/d", func(o *httpsms.Order) { o.Context.URL = "HTTPS://h/d" })
	f("&dlr-url=", func(*httpsms.Order) {})
	f("&udh=%06%05%04%15%8A%00%00&text=%00%01", func(o *httpsms.Order) {
		o.Header, o.Text, o.Alphabet = []byte{6, 5, 4, 0x15, 0x8a, 0, 0}, []byte{0, 1}, sms.Binary
	})
	f("&udh=&text=a", func(o *httpsms.Order) { o.Text = []byte("a") })
	f("&udh=%02%70%00&coding=0&text=a", func(o *httpsms.Order) { o.Header, o.Text = []byte{2, 0x70, 0}, []byte("a") })
	f("&mwi=2", func(o *httpsms.Order) { o.Header = []byte{4, 1, 2, 2, 1} })
	f("&mwi=4&text=a", func(o *httpsms.Order) { o.Header, o.Text = []byte{4, 1, 2, 0x80, 0}, []byte("a") })
	f("&mwi=7&udh=%02%70%00&coding=0", func(o *httpsms.Order) { o.Header = []byte{6, 0x70, 0, 1, 2, 3, 0} })
	for _, field := range []string{"mclass", "pid", "rpi", "alt-dcs", "mwi", "coding", "compress", "validity", "deferred", "priority", "dlr-mask"} {
		f("&"+field+"=-1&"+field+"=77", func(*httpsms.Order) {}) // -1 is what Kannel has for "not given"
		f("&"+field+"=", func(*httpsms.Order) {})
		f("&"+field+"=none", func(*httpsms.Order) {})
	}
}

// The bits of dlr-mask are outcomes.
func TestMask(t *testing.T) {
	t.Parallel()
	f := func(mask string, want sms.Notify) {
		t.Helper()
		o := order(t, get("to=1&dlr-mask="+mask))
		if o.Notify != want || o.Context.Get(httpsms.Mask) != mask {
			t.Errorf("%s: %d, %+v", mask, o.Notify, o.Context)
		}
		if o = order(t, get("to=1&dlrmask="+mask)); o.Notify != want || o.Context.Get(httpsms.Mask) != mask {
			t.Errorf("%s: %d, %+v", mask, o.Notify, o.Context)
		}
	}
	f("1", sms.NotifySuccess)
	f("2", sms.NotifyFailure)
	f("4", sms.NotifyProgress)
	f("8", sms.NotifySent)
	f("16", sms.NotifyFailure)
	f("32", sms.NotifyFailure)
	f("19", sms.NotifySuccess|sms.NotifyFailure)
	f("64", 0)
	f("66", sms.NotifyFailure)
	f("63", sms.NotifySuccess|sms.NotifyFailure|sms.NotifyProgress|sms.NotifySent)
	if o := order(t, get("to=1&dlr-mask=0&dlr-url=http://h/d")); o.Notify != 0 || o.Context.Get(httpsms.Mask) != "" {
		t.Errorf("%+v", o)
	}
}

// What is wrong is answered in the order of Kannel's checks: each request has the fault of its row and of those above.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	query := "&to=4670&from=S" // the first value of a name counts
	for _, row := range []struct{ fault, want string }{
		{"text=%04%1f%04%40", "Charset or body misformed, rejected"}, // UTF-16 that does not say so
		{"text=%FF", "Charset or body misformed, rejected"},
		{"priority=4", "Priority field misformed, rejected"},
		{"deferred=-2", "Deferred field misformed, rejected"},
		{"validity=-2", "Validity field misformed, rejected"},
		{"compress=2", "Compress field misformed, rejected"},
		{"coding=3", "Coding field misformed, rejected"},
		{"mwi=8", "MWI field misformed, rejected"},
		{"alt-dcs=2", "Alt-DCS field misformed, rejected"},
		{"rpi=3", "RPI field misformed, rejected"},
		{"pid=256", "PID field misformed, rejected"},
		{"mclass=4", "MClass field misformed, rejected"},
		{"dlr-mask=67", "DLR-Mask field misformed, rejected"},
		{"dlr-url=ftp://h/d", "DLR-URL field misformed, rejected"},
		{"account=a%5D", "Account field misformed or too long, rejected"},
		{"from=", "Sender missing and no global set, rejected"},
		{"to=4670x", "Number(s) has/have been denied by white- and/or black-lists."},
		{"udh=%06%05", "UDH field misformed, rejected"},
		{"to=", "Empty receiver number not allowed, rejected"},
	} {
		query = "&" + row.fault + query
		_, a := orders(get(query), Defaults{})
		checkAnswer(t, row.fault, a, "400 "+row.want)
	}
}

// What is refused, with its exact answer.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := func(query, want string) {
		t.Helper()
		_, a := orders(get(query), defaults)
		checkAnswer(t, query, a, want)
	}
	f("", "400 Missing receiver number, rejected")
	f("to", "400 Empty receiver number not allowed, rejected")
	f("to=", "400 Empty receiver number not allowed, rejected")
	f("to=+", "400 Number(s) has/have been denied by white- and/or black-lists.")
	f("to=%2B", "400 Number(s) has/have been denied by white- and/or black-lists.")
	f("to=46%00", "400 Number(s) has/have been denied by white- and/or black-lists.")
	f("to="+strings.Repeat("1", 21), "400 Number(s) has/have been denied by white- and/or black-lists.")
	f("to=1&udh=%8C"+strings.Repeat("a", 140), "400 UDH field is too long, rejected")
	f("to=1&mwi=0&udh=%8B"+strings.Repeat("a", 139), "400 UDH field is too long, rejected")
	f("to=1&account="+strings.Repeat("a", 65), "400 Account field misformed or too long, rejected")
	f("to=1&account=a%0D", "400 Account field misformed or too long, rejected")
	f("to=1&account=a%0A", "400 Account field misformed or too long, rejected")
	f("to=1&account=%5B", "400 Account field misformed or too long, rejected")
	f("to=1&compress=1", "400 Compress field misformed, rejected") // Kannel takes it
	f("to=1&meta-data="+strings.Repeat("a", sms.MaxContext), "400 Fields are too long, rejected")
	f("to=1&coding=2&text=abc", "400 Charset or body misformed, rejected")
	f("to=1&text=a&charset=NOPE", "400 Charset or body misformed, rejected")
	f("to=1&text=a&charset=..%2F", "400 Charset or body misformed, rejected")
	f("to=1&text=caf%E9", "400 Charset or body misformed, rejected")
	for _, url := range []string{"http://", "https://", "h", "//h/d", "http:/h/d", "http://%25p/", "http://h%25d/d", "http://user:%25p@h/", "http://[::1/d", "http://h/%25zz", "http://h/" + strings.Repeat("a", 4096)} {
		f("to=1&dlr-url="+url, "400 DLR-URL field misformed, rejected")
	}
	_, a := orders(get("to=1"), Defaults{})
	checkAnswer(t, "no sender", a, "400 Sender missing and no global set, rejected")
	if all, _ := orders(get("to=1"), Defaults{Senderless: true}); len(all) != 1 || all[0].From != "" {
		t.Errorf("%+v", all)
	}
}

// Receivers are separated by blanks, each gets one message, and those that are no numbers are left out.
func TestReceivers(t *testing.T) {
	t.Parallel()
	s, _ := Read(get("to=%2B46-70-1+46702++46702%0946x+0046703&text=a&from=S"))
	all, a := s.Orders(now, Defaults{})
	var to []string
	for _, o := range all {
		to = append(to, o.To)
	}
	if want := []string{"+46701", "46702", "0046703"}; a != nil || !reflect.DeepEqual(to, want) || !reflect.DeepEqual(s.Dropped, []string{"46x"}) {
		t.Errorf("%q, %q, %+v", to, s.Dropped, a)
	}
}

// A megabyte of receivers is refused, and so is more.
func TestManyReceivers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("to=")
	for i := 0; b.Len() < MaxRequest-10; i++ {
		fmt.Fprintf(&b, "%d+", 100000+i)
	}
	_, a := orders(get(b.String()), defaults)
	checkAnswer(t, "1 MiB", a, "400 Too many receivers, rejected")
	many := b.String()[:strings.LastIndex(b.String()[:7*4096], "+")]
	if all, a := orders(get(many+"&text=x"), defaults); a != nil || len(all) < 4000 {
		t.Errorf("%d messages, %+v", len(all), a)
	}
	_, a = orders(get(many+"&text="+strings.Repeat("x", 2200)), defaults)
	checkAnswer(t, "8 MiB in all", a, "400 Too many receivers, rejected")
	_, a = orders(get("to=1&text="+strings.Repeat("x", maxText+1)), defaults)
	checkAnswer(t, "a text of 256 KiB", a, "400 Charset or body misformed, rejected")
	_, a = Read(get("to=" + strings.Repeat("1", MaxRequest)))
	checkAnswer(t, "more", a, "413 Request is too large, rejected")
	_, a = Read(post("text/plain", strings.Repeat("1", MaxRequest+1)))
	checkAnswer(t, "more", a, "413 Request is too large, rejected")
	_, a = orders(get("to="+strings.Repeat("1+", MaxRequest/2-10)), defaults)
	if a != nil {
		t.Errorf("the same receiver: %s", a.Body)
	}
	_, a = orders(get("to=1"+strings.Repeat("&to=2&x&%", MaxRequest/10)), defaults)
	if a != nil {
		t.Errorf("repeated keys: %s", a.Body)
	}
}

// Texts come in the charset that their alphabet takes.
func TestTexts(t *testing.T) {
	t.Parallel()
	f := func(query, octets string, want sms.Alphabet) {
		t.Helper()
		o := order(t, get("to=1&"+query))
		if string(o.Text) != octets || o.Alphabet != want {
			t.Errorf("%s: %q in %d", query, o.Text, o.Alphabet)
		}
	}
	f("text=", "", sms.Default)
	f("text=%C3%A5+%E2%82%AC", "\x0f \x1be", sms.Default)
	f("text=%5B%5D%7B%7D%5C%7E%7C%5E", "\x1b<\x1b>\x1b(\x1b)\x1b/\x1b=\x1b@\x1b\x14", sms.Default)
	f("text=e%CC%81", "\x05", sms.Default)
	f("text=%D0%9F", "\x04\x1f", sms.UCS2)
	f("text=%F0%9F%98%80", "\xd8\x3d\xde\x00", sms.UCS2)
	f("text=%00A%00B&coding=2", "\x00A\x00B", sms.UCS2)
	f("text=%00A%00B&coding=1", "\x00A\x00B", sms.Binary)
	f("text=%00%FF%2B&coding=1&charset=NOPE", "\x00\xff+", sms.Binary)
	f("text=caf%E9&charset=ISO-8859-1", "caf\x05", sms.Default)
	f("text=caf%E9&charset=latin1", "caf\x05", sms.Default)
	f("text=%80&charset=windows-1252", "\x1be", sms.Default)
	f("text=%80&charset=CP1252", "\x1be", sms.Default)
	f("text=%A4&charset=ISO8859-15", "\x1be", sms.Default)
	f("text=abc&charset=US-ASCII", "abc", sms.Default)
	f("text=a%00b%00&charset=UTF-16LE", "ab", sms.Default)
	f("text=%00a%00b&charset=UTF-16BE", "ab", sms.Default)
	f("text=%00a%00b&charset=UCS-2", "ab", sms.Default)
	f("text=%93%FA&charset=Shift_JIS", "\x65\xe5", sms.UCS2)
	f("text=hi&coding=2&charset=UTF-8", "\x00h\x00i", sms.UCS2)
	f("text=%E9&coding=2&charset=ISO-8859-1", "\x00\xe9", sms.UCS2)
}

// A wrong octet in a charset is never sent as another character.
func TestWrongOctets(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"charset=US-ASCII&text=%E9", "charset=UTF-16BE&text=abc", "charset=UTF-16LE&text=%00%D8", "charset=windows-1252&text=%81", "text=%ED%A0%80", "coding=2&charset=UTF-8&text=%FF"} {
		if _, a := orders(get("to=1&"+query), defaults); a == nil || string(a.Body) != "Charset or body misformed, rejected" {
			t.Errorf("%s: %+v", query, a)
		}
	}
}

// An order can be made a message.
func TestOrdersFill(t *testing.T) {
	t.Parallel()
	o := order(t, get("to=%2B46700&text=a&mwi=1&dlr-mask=31&dlr-url=http://h/d&meta-data="+strings.Repeat("a", sms.MaxContext-200)))
	var m sms.Message
	if code := o.Fill(&m); code != sms.OK {
		t.Fatal(code)
	}
	if c, _ := sms.ReadContext(m.Context()); !reflect.DeepEqual(c, o.Context) || string(m.Text()) != "\x04\x01\x02\x81\x01a" {
		t.Errorf("%+v, %q", c, m.Text())
	}
}
