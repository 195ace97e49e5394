package smsc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

func mustNew(t testing.TB, o httpsms.ConnectorOptions) *SMSC {
	t.Helper()
	c, problems := New(&o, Identity{"operator", "pmg", "s3&cret"})
	if c == nil {
		t.Fatalf("%+v", problems)
	}
	return c
}

func message(alphabet sms.Alphabet, text string, change func(*sms.Message)) *sms.Message {
	m := &sms.Message{ID: 0x4d2, Alphabet: alphabet}
	m.Set(sms.Address{TON: 5, Addr: []byte("A&B")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, []byte(text))
	if change != nil {
		change(m)
	}
	return m
}

func valuesOf(t testing.TB, m *sms.Message) *Values {
	t.Helper()
	v, ok := ValuesOf(m, m.Expires, 0)
	if !ok {
		t.Fatal("the text cannot be read")
	}
	v.username, v.password = "pmg", "s3&cret"
	return &v
}

// What is written where a field stands, of a text, a binary message and a part.
func TestFields(t *testing.T) {
	t.Parallel()
	text := valuesOf(t, message(sms.Default, "h\x05 \x00", func(m *sms.Message) {
		m.Class, m.Priority, m.Expires = sms.Class0, 3, int64(61*time.Second)
	}))
	binary := valuesOf(t, message(sms.Binary, "\x05\x00\x03\x07\x02\x01\x00\xff", func(m *sms.Message) { m.Flags = sms.HasHeader }))
	cyrillic := valuesOf(t, message(sms.UCS2, "\x04\x16\x00a", nil))
	latin := valuesOf(t, message(sms.Latin1, "a\xe9", nil))
	polish := valuesOf(t, message(sms.DefaultUTF8, "ł", nil))
	shifted := valuesOf(t, message(sms.Default, "\x08\x25\x01\x01\x00\x03\x07\x02\x01\x04", func(m *sms.Message) { m.Flags = sms.HasHeader }))
	asked := *text
	asked.Notify, asked.ReceiptURL = sms.NotifySuccess|sms.NotifyProgress, "http://us/r?a=b"
	f := func(name string, v *Values, template, want string) {
		t.Helper()
		p, err := parse(template)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.fill(v, same); got != want {
			t.Errorf("%s: %s is %q, want %q", name, template, got, want)
		}
	}
	f("text", text, "{to} {from} {text} {content} {binary}|", "+46700000001 A&B hé @ hé @ |")
	f("text", text, "{octets_hex} {octets_base64} {udh}{udh_hex}{udh_base64} {coding} {data_coding}", "68052000 aAUgAA==  0 0")
	f("text", text, "{class} {priority} {validity} {validity_seconds} {id} {uuid}", "0 3 2 61 00000000000004d2 "+httpsms.UUID(0x4d2))
	f("text", text, "{receipt}{receipt_url}{dlr_url}{dlr_mask} {username} {password}", " pmg s3&cret")
	f("asked", &asked, "{receipt} {receipt_url} {dlr_url} {dlr_mask}", "all http://us/r?a=b http://us/r?a=b&state=%d&answer=%A 23")
	f("binary", binary, "{text}|{content}|{binary}|{octets_hex}|{udh_hex}|{coding} {data_coding} {class}{priority}{validity}", "|\x00\xff|AP8=|00ff|050003070201|1 4 ")
	f("binary", binary, "{udh}", "\x05\x00\x03\x07\x02\x01")
	f("UCS-2", cyrillic, "{text} {octets_hex} {coding} {data_coding}", "Жa 04160061 2 8")
	f("Latin-1", latin, "{text} {octets_hex} {coding}", "aé 6105 0")
	f("UTF-8", polish, "{text} {octets_hex} {coding}", "ł 0142 2")
	f("text", text, "{data} {data_hex} {charset}", "hé @ 68c3a92040 UTF-8")
	f("UCS-2", cyrillic, "{data_hex} {charset}", "04160061 UTF-16BE")
	f("binary", binary, "{data_hex} {charset}{binary?8-BIT}", "00ff 8-BIT")
	f("a national language", shifted, "{text} {octets_hex} {coding} {udh_hex}", "€ 1b65 0 050003070201")
	f("braces", text, `{{to}} {} {to {"a": {to?yes}{class?no}{udh?never}}`, `{+46700000001} {} {to {"a": yesno}`)
	f("braces", text, "{", "{")
	f("braces", text, "{to", "{to")
	if _, err := parse("{too}"); err == nil {
		t.Error("{too} is a field")
	}
	Fields(func(name, doc string) {
		if _, err := parse("{" + name + "}"); err != nil || len(doc) < 5 {
			t.Errorf("%s: %q, %v", name, doc, err)
		}
	})
}

func TestTextsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*sms.Message{
		"half a character": message(sms.UCS2, "a", nil),
		"another coding":   message(sms.Other, "a", nil),
		"a cut header":     message(sms.Default, "\x05\x00", func(m *sms.Message) { m.Flags = sms.HasHeader }),
		"no header":        message(sms.Default, "", func(m *sms.Message) { m.Flags = sms.HasHeader }),
	} {
		if _, ok := ValuesOf(m, 0, 0); ok {
			t.Errorf("%s can be read", name)
		}
	}
}

// A request of one's own: parameters are escaped and left out where they are empty, JSON stays JSON whatever comes, and
// headers stay one line.
func TestCall(t *testing.T) {
	t.Parallel()
	c := mustNew(t, httpsms.ConnectorOptions{
		URL: "https://api.example.net/{username}/send?key={password}&flash={class}&type=sms&{udh_hex}=1",
		Request: httpsms.RequestOptions{
			JSON:    `{"messages": [{"to": "{to}", "from": "{from}", "text": "{text}", "udh": {"hex": "{udh_hex}"}, "parts": ["{udh}"], "n": "#{priority}", "v": "#x{validity}", "flag": true, "none": null, "k": "#1"}], "empty": {}}`,
			Headers: []string{"Authorization: App {password}", "X-Text: {text}"}, Login: "basic",
		},
	})
	got := c.Call(valuesOf(t, message(sms.Default, "a\"\n\\", func(m *sms.Message) { m.Priority = 2 })))
	if got.Method != "POST" || got.URL != "https://api.example.net/pmg/send?key=s3%26cret&type=sms" {
		t.Errorf("%s %s", got.Method, got.URL)
	}
	want := `{"messages":[{"to":"+46700000001","from":"A\u0026B","text":"a\"\nÖ","n":2,"flag":true,"none":null,"k":1}],"empty":{}}`
	if string(got.Body) != want {
		t.Errorf("body\n%s, want\n%s", got.Body, want)
	}
	header := fmt.Sprint(got.Header)
	if header != "[[User-Agent pmg] [Content-Type application/json] [Authorization Basic cG1nOnMzJmNyZXQ=] [Authorization App s3&cret] [X-Text a\"Ö]]" {
		t.Error(header)
	}
	if a := c.Address().String(); a != "https://api.example.net//send" {
		t.Error(a)
	}
	form := mustNew(t, httpsms.ConnectorOptions{URL: "http://192.0.2.1", Request: httpsms.RequestOptions{Form: "to={to}&t={content}&u={udh}&x=", Method: "PUT"}})
	got = form.Call(valuesOf(t, message(sms.Binary, "\x00 &", nil)))
	if got.Method != "PUT" || got.URL != "http://192.0.2.1" || string(got.Body) != "to=%2B46700000001&t=%00+%26&x=" {
		t.Errorf("%s %s %s", got.Method, got.URL, got.Body)
	}
}

// Whatever a message has, the JSON of its request is JSON, and its URL has the host of the configuration.
func FuzzCall(f *testing.F) {
	f.Add("+46700000001", "A&B", "te\"xt", []byte{5, 0, 3, 1, 2, 1}, "secret")
	f.Add("?/../x", "\x00", "\xff}{to}", []byte{}, "@evil/")
	f.Fuzz(func(t *testing.T, to, from, text string, header []byte, password string) {
		o := httpsms.ConnectorOptions{
			URL:     "http://192.0.2.1:80/a/{to}?p={password}&t={text}",
			Request: httpsms.RequestOptions{JSON: `{"a": ["{to}", {"{from}": "{text}"}, "#{text}"], "u": "{udh}"}`, Headers: []string{"X-A: {from}"}},
		}
		c, _ := New(&o, Identity{"x", "u", password})
		call := c.Call(&Values{To: to, From: from, Text: text, Header: header, Class: -1})
		if !json.Valid(call.Body) {
			t.Errorf("%q", call.Body)
		}
		u, err := url.Parse(call.URL)
		if err != nil || u.Host != "192.0.2.1:80" || !strings.HasPrefix(u.Path, "/a/") {
			t.Errorf("%q: %v", call.URL, err)
		}
		for _, h := range call.Header {
			if strings.ContainsAny(h[1], "\r\n\x00") {
				t.Errorf("%q", h)
			}
		}
	})
}

// A message for which the request has no field is not sent without it.
func TestLacks(t *testing.T) {
	t.Parallel()
	part := valuesOf(t, message(sms.Default, "\x05\x00\x03\x07\x02\x01a", func(m *sms.Message) { m.Flags = sms.HasHeader }))
	binary := valuesOf(t, message(sms.Binary, "a", nil))
	f := func(o httpsms.ConnectorOptions, part, binary bool, parts, binaries *Values) {
		t.Helper()
		c := mustNew(t, o)
		if c.Lacks(parts) == "" != part || c.Lacks(binaries) == "" != binary {
			t.Errorf("%+v: %q, %q", o, c.Lacks(parts), c.Lacks(binaries))
		}
		if o.TakesHeader() != part {
			t.Errorf("%+v: it takes headers: %t", o, o.TakesHeader())
		}
	}
	f(httpsms.ConnectorOptions{URL: "http://a?to={to}&text={text}"}, false, false, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a?to={to}&text={content}"}, false, true, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a?to={to}&text={text}&u={udh_hex}"}, true, false, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a", Preset: "kannel"}, true, true, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a", Preset: "jasmin"}, false, true, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a/", Preset: "pmg"}, true, true, part, binary)
	f(httpsms.ConnectorOptions{URL: "http://a", Preset: "kannel", Request: httpsms.RequestOptions{Form: "to={to}"}}, false, false, part, binary)
}

// A request without a field for the sender needs none.
func TestTakesSender(t *testing.T) {
	t.Parallel()
	f := func(o httpsms.ConnectorOptions, want bool) {
		t.Helper()
		if o.TakesSender() != want {
			t.Errorf("%+v: it takes senders: %t", o, !want)
		}
	}
	f(httpsms.ConnectorOptions{URL: "http://a?to={to}&text={text}"}, false)
	f(httpsms.ConnectorOptions{URL: "http://a?from={from}&to={to}&text={text}"}, true)
	f(httpsms.ConnectorOptions{URL: "http://a", Preset: "kannel"}, true)
	f(httpsms.ConnectorOptions{URL: "http://a", Preset: "pmg", Request: httpsms.RequestOptions{JSON: `{"to": "{to}"}`}}, false)
	f(httpsms.ConnectorOptions{URL: "http://a", Request: httpsms.RequestOptions{Form: "to={to}", Headers: []string{"X-From: {from}"}}}, true)
}

// What answers mean: by default, and to the presets.
func TestJudge(t *testing.T) {
	t.Parallel()
	plain := mustNew(t, httpsms.ConnectorOptions{URL: "http://a?to={to}"})
	f := func(c *SMSC, status int, body string, code sms.Code, id string) {
		t.Helper()
		if v := c.Judge(status, http.Header{"X-Id": {" 7 "}}, []byte(body)); v.Code != code || v.ID != id {
			t.Errorf("%d %q: %s %q, want %s %q", status, body, v.Code, v.ID, code, id)
		}
	}
	for status, code := range map[int]sms.Code{
		200: sms.OK, 299: sms.OK, 301: sms.TemporaryFailure, 400: sms.Rejected, 401: sms.TemporaryFailure, 402: sms.Rejected, 403: sms.TemporaryFailure,
		404: sms.TemporaryFailure, 405: sms.TemporaryFailure, 407: sms.TemporaryFailure, 408: sms.TemporaryFailure, 413: sms.Rejected, 422: sms.Rejected,
		429: sms.Throttled, 500: sms.TemporaryFailure, 503: sms.TemporaryFailure, 999: sms.TemporaryFailure,
	} {
		f(plain, status, "", code, "")
	}
	kannel := mustNew(t, httpsms.ConnectorOptions{URL: "http://a", Preset: "kannel"})
	f(kannel, 202, "0: Accepted for delivery", sms.OK, "")
	f(kannel, 202, "3: Queued for later delivery", sms.OK, "")
	f(kannel, 202, "Sent.", sms.OK, "")
	f(kannel, 200, "Ok.", sms.OK, "")
	f(kannel, 200, "Result: OK, message ID=1", sms.OK, "")
	f(kannel, 200, "<html>", sms.Timeout, "")
	f(kannel, 403, "Authorization failed for sendsms", sms.TemporaryFailure, "")
	f(kannel, 400, "Empty text not allowed, rejected", sms.Rejected, "")
	f(kannel, 503, "Temporal failure, try again later.", sms.TemporaryFailure, "")
	jasmin := mustNew(t, httpsms.ConnectorOptions{URL: "http://a", Preset: "jasmin"})
	f(jasmin, 200, `Success "07033084-5cfd-4812-90a4-e4d24ffb6e3d"`, sms.OK, "07033084-5cfd-4812-90a4-e4d24ffb6e3d")
	f(jasmin, 403, `Error "User throughput exceeded"`, sms.Throttled, "")
	f(jasmin, 403, `Error "Authentication failure for username:x"`, sms.TemporaryFailure, "")
	f(jasmin, 412, `Error "No route found"`, sms.Rejected, "")
	f(jasmin, 412, `Error "Failover route has no bound connectors"`, sms.TemporaryFailure, "")
	f(jasmin, 500, `Error "Cannot send submit_sm, check SMPPClientManagerPB log file for details"`, sms.TemporaryFailure, "")
	pmg := mustNew(t, httpsms.ConnectorOptions{URL: "http://a", Preset: "pmg"})
	f(pmg, 202, `{"id":"00000000000004d2"}`, sms.OK, "00000000000004d2")
	f(pmg, 202, `{"id":1e3}`, sms.OK, "1e3")
	f(pmg, 202, `{}`, sms.Timeout, "")
	f(pmg, 422, `{"type":"/problems/invalid-message"}`, sms.Rejected, "")

	own := mustNew(t, httpsms.ConnectorOptions{URL: "http://a?to={to}", Answers: httpsms.AnswerOptions{
		Success:   httpsms.Condition{Status: []string{"2xx"}, JSON: "/messages/0/status", Value: "^(0|ok)$"},
		Temporary: httpsms.Condition{JSON: "/messages/0/status", Value: "^5"},
		Permanent: httpsms.Condition{Status: []string{"200"}, Body: "no credit"},
		ID:        httpsms.Place{Header: "X-Id"},
	}})
	f(own, 200, `{"messages":[{"status":0}]}`, sms.OK, "7")
	f(own, 200, `{"messages":[{"status":"ok"}]}`, sms.OK, "7")
	f(own, 200, `{"messages":[{"status":"50"}]}`, sms.TemporaryFailure, "")
	f(own, 200, `{"messages":[{"status":"9"}]} no credit`, sms.Rejected, "")
	f(own, 200, `{"messages":{}}`, sms.Timeout, "")
	f(own, 200, strings.Repeat("[", 1000), sms.Timeout, "")
	f(own, 404, `{"messages":[{"status":0}]}`, sms.TemporaryFailure, "")
	for word, code := range map[string]sms.Code{"permanent": sms.Rejected, "temporary": sms.TemporaryFailure} {
		body := mustNew(t, httpsms.ConnectorOptions{URL: "http://a?to={to}", Answers: httpsms.AnswerOptions{Success: httpsms.Condition{Body: "ok"}, Otherwise: word}})
		f(body, 500, "ok", sms.OK, "")
		for _, status := range []int{200, 400, 401, 429, 503} {
			f(body, status, "no", code, "")
		}
	}
}

// What is wrong with options is reported at its place.
func TestProblems(t *testing.T) {
	t.Parallel()
	f := func(o httpsms.ConnectorOptions, option, words string) {
		t.Helper()
		c, problems := New(&o, Identity{"x", "u", "p"})
		if c != nil || len(problems) != 1 || problems[0].Option != option || !strings.Contains(problems[0].Text, words) {
			t.Errorf("%+v, want %s %q", problems, option, words)
		}
	}
	ok := "http://a?to={to}"
	request := func(r httpsms.RequestOptions) httpsms.ConnectorOptions {
		return httpsms.ConnectorOptions{URL: ok, Request: r}
	}
	f(httpsms.ConnectorOptions{Request: httpsms.RequestOptions{Form: "to={to}"}}, "url", "must be given")
	f(httpsms.ConnectorOptions{URL: "http://a?to={to}&x={x}"}, "url", "no such field")
	f(httpsms.ConnectorOptions{URL: "http://a?x=1"}, "url", "recipient")
	f(httpsms.ConnectorOptions{URL: "ftp://a?to={to}"}, "url", "http://")
	f(httpsms.ConnectorOptions{URL: "http://u:p@a?to={to}"}, "url", "password")
	f(httpsms.ConnectorOptions{URL: "http:///?to={to}"}, "url", "host")
	f(httpsms.ConnectorOptions{URL: "http://a b?to={to}"}, "url", "cannot be read")
	f(request(httpsms.RequestOptions{JSON: `{"a": }`}), "request.json", "no JSON")
	f(request(httpsms.RequestOptions{JSON: `{} {}`}), "request.json", "more than one")
	f(request(httpsms.RequestOptions{JSON: strings.Repeat("[", 40) + strings.Repeat("]", 40)}), "request.json", "too many")
	f(request(httpsms.RequestOptions{JSON: `"{x}"`}), "request.json", "no such field")
	f(request(httpsms.RequestOptions{JSON: `{}`, Form: "a"}), "request.json", "together")
	f(request(httpsms.RequestOptions{Form: "{x}"}), "request.form", "no such field")
	f(request(httpsms.RequestOptions{Form: "a", Method: "GET"}), "request.method", "POST")
	f(request(httpsms.RequestOptions{Headers: []string{"no colon"}}), "request.headers", "colon")
	f(request(httpsms.RequestOptions{Headers: []string{"host: a"}}), "request.headers", "Host")
	f(httpsms.ConnectorOptions{URL: ok, Answers: httpsms.AnswerOptions{Success: httpsms.Condition{Status: []string{"6xx"}}}}, "answers.success.status", "202")
	f(httpsms.ConnectorOptions{URL: ok, Answers: httpsms.AnswerOptions{Permanent: httpsms.Condition{Body: "("}}}, "answers.permanent.body", "RE2")
	f(httpsms.ConnectorOptions{URL: ok, Answers: httpsms.AnswerOptions{Temporary: httpsms.Condition{JSON: "a"}}}, "answers.temporary.json", "pointer")
	f(httpsms.ConnectorOptions{URL: ok, Answers: httpsms.AnswerOptions{Throttled: httpsms.Condition{Body: "a", Value: "b"}}}, "answers.throttled.value", "json")
	f(httpsms.ConnectorOptions{URL: ok, Answers: httpsms.AnswerOptions{ID: httpsms.Place{Body: "a"}}}, "answers.id.body", "group")
	f(httpsms.ConnectorOptions{URL: ok, Callbacks: httpsms.CallbackOptions{Listener: "api"}}, "callbacks.secret", "anybody")
	f(httpsms.ConnectorOptions{URL: ok, Callbacks: httpsms.CallbackOptions{Secret: "x"}}, "callbacks.listener", "must be given")
	f(httpsms.ConnectorOptions{URL: ok, Callbacks: httpsms.CallbackOptions{Listener: "api", Secret: "x", URL: "us:8080"}}, "callbacks.url", "https://")
	f(httpsms.ConnectorOptions{URL: ok, Callbacks: httpsms.CallbackOptions{Receipts: httpsms.ReceiptFields{States: []string{"1=gone"}}}}, "callbacks.receipts.states", "delivered")
	for name := range presets {
		mustNew(t, httpsms.ConnectorOptions{URL: "http://a", Preset: name})
	}
}

func ask(method, query, kind, body, login string) *httpsms.Request {
	r := &httpsms.Request{Method: method, Query: query, Body: []byte(body), Header: map[string][]string{"Content-Type": {kind}}}
	if login != "" {
		r.Header["Authorization"] = []string{login}
	}
	return r
}

// A callback must show the secret, in one of three places, and come from a network that may bring it.
func TestSecret(t *testing.T) {
	t.Parallel()
	o := httpsms.ConnectorOptions{URL: "http://a", Preset: "jasmin", Callbacks: httpsms.CallbackOptions{
		Listener: "api", Secret: "top/secret", URL: "https://us/", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	}}
	c := mustNew(t, o)
	if u := c.ReceiptURL(0x4d2); u != "https://us/from/operator/receipts?message=00000000000004d2&token=top%2Fsecret" || c.Listener() != "api" || c.Reply() != "ACK/Jasmin" {
		t.Errorf("%s, %s, %s", u, c.Listener(), c.Reply())
	}
	f := func(r *httpsms.Request, from string, want bool) {
		t.Helper()
		if ok := c.Admits(r, netip.MustParseAddr(from)); ok != want {
			t.Errorf("%+v from %s: %t", r, from, ok)
		}
	}
	form := "application/x-www-form-urlencoded"
	f(ask("GET", "token=top%2Fsecret", "", "", ""), "192.0.2.7", true)
	f(ask("GET", "token=top%2Fsecret", "", "", ""), "::ffff:192.0.2.7", true)
	f(ask("GET", "token=top%2Fsecret", "", "", ""), "192.0.3.7", false)
	f(ask("GET", "", "", "", "Bearer top/secret"), "192.0.2.7", true)
	f(ask("GET", "", "", "", "Basic OnRvcC9zZWNyZXQ="), "192.0.2.7", true)
	f(ask("GET", "", "", "", "Basic !"), "192.0.2.7", false)
	f(ask("GET", "token=top", "", "", ""), "192.0.2.7", false)
	f(ask("GET", "", "", "", ""), "192.0.2.7", false)
	f(ask("POST", "", form, "token=top%2Fsecret", ""), "192.0.2.7", false) // a client of the SMSC may have written it there
	f(ask("POST", "token=top%2Fsecret", form, "token=x&id=1", ""), "192.0.2.7", true)
}

// Receipts in the forms that are usual.
func TestReceipts(t *testing.T) {
	t.Parallel()
	f := func(o httpsms.ConnectorOptions, r *httpsms.Request, want ...Receipt) {
		t.Helper()
		o.URL = "http://a?to={to}"
		if o.Preset != "" {
			o.URL = "http://a"
		}
		k := mustNew(t, o).ReadCallback(r)
		got, err := k.Receipts()
		if len(want) == 0 {
			if err == nil {
				t.Errorf("%+v", got)
			}
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
	}
	kannel, jasmin, pmg := httpsms.ConnectorOptions{Preset: "kannel"}, httpsms.ConnectorOptions{Preset: "jasmin"}, httpsms.ConnectorOptions{Preset: "pmg"}
	f(kannel, ask("GET", "message=7&state=1&answer=id%3A5+stat%3ADELIVRD+err%3A000+text%3A", "", "", ""), Receipt{ID: "7", Word: "DELIVRD", Error: "000", State: sms.StateDelivered})
	f(kannel, ask("GET", "message=7&state=2&answer=NACK%2F", "", "", ""), Receipt{ID: "7", Word: "2", State: sms.StateUndeliverable})
	f(kannel, ask("GET", "message=7&state=2&answer=stat%3AREJECTD", "", "", ""), Receipt{ID: "7", Word: "REJECTD", State: sms.StateRejected})
	f(kannel, ask("GET", "message=7&state=8&answer=ACK%2F", "", "", ""), Receipt{ID: "7", Word: "8", Ignored: true})
	f(kannel, ask("GET", "message=7&state=16&answer=NACK%2F0x58%2FThrottled", "", "", ""), Receipt{ID: "7", Word: "16", State: sms.StateRejected})
	f(kannel, ask("GET", "message=7&state=99", "", "", ""), Receipt{ID: "7", Word: "99"})
	f(kannel, ask("GET", "message=7", "", "", ""))
	f(kannel, ask("GET", "message=&state=1", "", "", ""))
	f(kannel, ask("GET", "message=%ZZ&state=1;x", "", "", ""))
	f(kannel, ask("GET", "state=1&message="+strings.Repeat("1", 256), "", "", ""))
	form := "application/x-www-form-urlencoded; charset=utf-8"
	f(jasmin, ask("POST", "message=x&id=other", form, "id=5&message_status=UNDELIV&err=001&level=2", ""), Receipt{ID: "5", Word: "UNDELIV", Error: "001", State: sms.StateUndeliverable})
	f(jasmin, ask("GET", "id=5&message_status=ESME_ROK&level=1", form, "", ""), Receipt{ID: "5", Word: "ESME_ROK", Ignored: true})
	f(jasmin, ask("POST", "", form, "id=5&message_status=ESME_RSUBMITFAIL&level=1", ""), Receipt{ID: "5", Word: "ESME_RSUBMITFAIL", State: sms.StateRejected})
	f(pmg, ask("POST", "", "application/json", `{"type":"message.expired","data":{"id":"a","state":"expired","network_error":"27"}}`, ""), Receipt{ID: "a", Word: "expired", Error: "27", State: sms.StateExpired})
	f(pmg, ask("POST", "", "application/json", `{"data":[{"data":{"id":"a","state":"sent"}},{"data":{"id":"b","state":"failed"}}]}`, ""),
		Receipt{ID: "a", Word: "sent", Ignored: true}, Receipt{ID: "b", Word: "failed", State: sms.StateUndeliverable})
	f(pmg, ask("POST", "", "application/json", `{"data":{"id":{"a":1},"state":"sent"}}`, ""))
	f(pmg, ask("POST", "", "application/json", `{"data":[`+strings.Repeat(`{},`, 1000)+`{}]}`, ""))
	f(pmg, ask("POST", "", "application/json", strings.Repeat(`[`, 100000), ""))
	list := httpsms.ConnectorOptions{Callbacks: httpsms.CallbackOptions{Receipts: httpsms.ReceiptFields{List: "/", ID: "/i~1d", State: "/s/0", States: []string{"Ok=delivered"}}}}
	f(list, ask("POST", "", "", `[{"i/d": 5, "s": ["OK"]}, {"i/d": 12345678901234567890, "s": ["no"]}]`, ""),
		Receipt{ID: "5", Word: "OK", State: sms.StateDelivered}, Receipt{ID: "12345678901234567890", Word: "no"})
}

// A receipt becomes a message that says it, with its word where its meaning is not known.
func TestReceiptFill(t *testing.T) {
	t.Parallel()
	for _, want := range []Receipt{{ID: "5", Word: "x", Error: "27"}, {ID: "5", Word: "DELIVRD", State: sms.StateDelivered}} {
		var m sms.Message
		code := want.Fill(&m)
		r, ok := m.Report()
		word := want.Word
		if want.State != sms.NoState {
			word = ""
		}
		if code != sms.OK || !ok || string(r.ID) != "5" || r.State != want.State || string(r.Word) != word || string(r.Err) != want.Error || m.Kind != sms.Receipt {
			t.Errorf("%+v", r)
		}
	}
}

// Messages from mobiles, in each charset and coding.
func TestMessages(t *testing.T) {
	t.Parallel()
	all := httpsms.CallbackOptions{Inbound: httpsms.InboundFields{From: "from", To: "to", Text: "text", Charset: "charset", Octets: "hex", Coding: "coding", UDH: "udh"}}
	f := func(query, text string, a sms.Alphabet, header string) {
		t.Helper()
		k := mustNew(t, httpsms.ConnectorOptions{URL: "http://a?to={to}", Callbacks: all}).ReadCallback(ask("GET", "from=%2B467&to=123&"+query, "", "", ""))
		got, err := k.Messages()
		if err != nil || len(got) != 1 || got[0].From != "+467" || got[0].To != "123" || string(got[0].Text) != text || got[0].Alphabet != a || string(got[0].Header) != header {
			t.Errorf("%s: %+v %v", query, got, err)
		}
	}
	f("text=h%C3%A9+%40", "h\x05 \x00", sms.Default, "")
	f("text=%D0%96", "\x04\x16", sms.UCS2, "")
	f("text=", "", sms.Default, "")
	f("text=%04%16&charset=UTF-16BE", "\x04\x16", sms.UCS2, "")
	f("text=%E9&charset=iso-8859-1", "\xe9", sms.Latin1, "")
	f("text=%00%FF&charset=8-BIT&udh=%02%70%00", "\x00\xff", sms.Binary, "\x02\x70\x00")
	f("hex=00ff&coding=4&udh=027000", "\x00\xff", sms.Binary, "\x02\x70\x00")
	f("hex=0416&coding=8", "\x04\x16", sms.UCS2, "")
	f("hex=6105", "a\x05", sms.Default, "")
	f("hex=61&coding=1", "a", sms.ASCII, "")
	f("hex=e9&coding=3", "\xe9", sms.Latin1, "")
	f("hex=e9&coding=x", "\xe9", sms.Binary, "")
	for _, query := range []string{"from=1&text=a", "to=1&text=a", "from=1&to=2", "from=1&to=2&text=%FF", "from=1&to=2&hex=0", "from=1&to=2&text=a&udh=xyz"} {
		k := mustNew(t, httpsms.ConnectorOptions{URL: "http://a?to={to}", Callbacks: all}).ReadCallback(ask("GET", query, "", "", ""))
		if got, err := k.Messages(); err == nil {
			t.Errorf("%s: %+v", query, got)
		}
	}
}

// Whatever a callback has, it is read or refused.
func FuzzCallback(f *testing.F) {
	f.Add("message=7&state=1", "", "")
	f.Add("", "application/x-www-form-urlencoded", "from=1&to=2&text=a&udh=%00")
	f.Add("", "application/json", `{"data":[{"data":{"id":"a","state":"sent"}}]}`)
	f.Fuzz(func(t *testing.T, query, kind, body string) {
		for name := range presets {
			c := mustNew(t, httpsms.ConnectorOptions{URL: "http://a", Preset: name})
			r := ask("POST", query, kind, body, "")
			k, ok := c.ReadCallback(r), c.Admits(r, netip.Addr{})
			if !ok {
				t.Fatal("it needs no secret")
			}
			receipts, _ := k.Receipts()
			for _, r := range receipts {
				if len(r.ID) == 0 || len(r.ID) > maxID {
					t.Errorf("%+v", r)
				}
			}
			_, _ = k.Messages()
		}
	})
}
