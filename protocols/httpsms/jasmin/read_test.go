package jasmin

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

var now = time.Date(2026, 11, 23, 7, 30, 0, 0, time.UTC).UnixNano()

const login = "username=u&password=p"

func get(path, query string) *httpsms.Request {
	return &httpsms.Request{Method: "GET", Path: path, Query: query}
}

func post(path, kind, body string) *httpsms.Request {
	return &httpsms.Request{Method: "POST", Path: path, Header: map[string][]string{"Content-Type": {kind}}, Body: []byte(body)}
}

// secure returns a request of the REST interface.
func secure(path, query, body string) *httpsms.Request {
	r := post(path, "application/json", body)
	r.Query = query
	r.Header["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("u:p"))}
	return r
}

const batchID = "01234567-89ab-8cde-8000-706d67000000"

func orders(r *httpsms.Request) (*Request, []httpsms.Order, *httpsms.Answer) {
	q, a := Read(r)
	if a != nil {
		return nil, nil, a
	}
	all, a := q.Orders(now, batchID)
	return q, all, a
}

func order(t *testing.T, r *httpsms.Request) httpsms.Order {
	t.Helper()
	q, all, a := orders(r)
	if a != nil || len(all) != 1 {
		t.Fatalf("%s %s: %d orders, %+v", r.Query, r.Body, len(all), a)
	}
	if u, p := q.Credentials(); u != "u" || p != "p" || !q.Submits() {
		t.Errorf("%s %s: %q, %q", r.Query, r.Body, u, p)
	}
	return all[0]
}

func check1(t *testing.T, what string, a *httpsms.Answer, want string) {
	t.Helper()
	if a == nil {
		t.Errorf("%s: no answer, want %s", what, want)
	} else if got := fmt.Sprintf("%d %s", a.Status, a.Body); got != want {
		t.Errorf("%s:\n%s, want\n%s", what, got, want)
	}
}

// What is refused before the login has Jasmin's words, and what is wrong first in Jasmin's order counts.
func TestRefusals(t *testing.T) {
	t.Parallel()
	f := func(query, want string) {
		t.Helper()
		_, _, a := orders(get(Send, query))
		check1(t, query, a, `400 Error "`+want+`"`)
		_, _, a = orders(post(Send, "application/x-www-form-urlencoded", query))
		check1(t, query, a, `400 Error "`+want+`"`)
	}
	const to = "to=46700&"
	f("", "Mandatory argument [to] is not found.")
	f("x=1", "Argument [x] is unknown.")
	f("x=1&to=a", "Argument [x] is unknown.")
	f("dlr_url=http://h/", "Argument [dlr_url] is unknown.")
	f("to=46700", "Mandatory argument [username] is not found.")
	f("to=46700&username=u", "Mandatory argument [password] is not found.")
	f("to=46700&priority=9", "Mandatory argument [username] is not found.")
	f("to=46700&coding=7&username=", "Argument [coding] has an invalid value: [7].")
	for name, values := range map[string][]string{
		"to": {"", "a", "%2B", "46 700", "++46"}, "coding": {"", "x", "11", "12", "15", "-1", "5", "6", "7", "9", "10", "13", "14", "00"}, "username": {"", strings.Repeat("u", 65)}, "password": {"", strings.Repeat("u", 65)},
		"priority": {"", "4", "-1", "1.0"}, "sdt": {"", "1", "00000000010000R", "000000000100000X", "260231000000000+", "261123250000000+", "261123000000049-"}, "validity-period": {"", "-1", "1.5", "x"},
		"dlr": {"", "YES", "1"}, "dlr-url": {"", "ftp://h/", "h", "http://", "http:///x", "http://h/%zz%25zz\n"}, "dlr-level": {"", "0", "4", "11"}, "dlr-method": {"", "PUT"}, "tags": {"a b", "a;b", "a_b"},
		"custom_tlvs": {"", "x", "{}", "[1]", "[[1]]", `[[70000,null,"Int1",1]]`, `[[5120,null,"Float",1]]`, `[[5120,null,"Int1",[]]]`, `[[5120,-1,"Int1",1]]`, `[[5120,null,"Int1",1,1]]`},
	} {
		for _, v := range values {
			query := to + login + "&content=a"
			if name == "username" {
				query = to + "password=p&content=a"
			} else if name == "password" {
				query = to + "username=u&content=a"
			} else if name == "to" {
				query = login + "&content=a"
			}
			f(query+"&"+name+"="+v, "Argument ["+name+"] has an invalid value: ["+unescape(v)+"].")
		}
	}
	f(to+login, "content or hex-content not present.")
	f(to+login+"&content=a&hex-content=61", "content and hex-content cannot be used both in same request.")
	f(to+login+"&hex-content=6", "Invalid hex-content data: '6'")
	f(to+login+"&hex-content=zz", "Invalid hex-content data: 'zz'")
	f(to+login+"&coding=8&hex-content=61", "Invalid hex-content data: '61'")
	f(to+login+"&coding=8&content=abc", "Argument [content] has an invalid value: [abc].")
	f(to+login+"&content=a&dlr-url=http://h/"+strings.Repeat("a", 4096), "Argument [dlr-url] has an invalid value: [http://h/"+strings.Repeat("a", 4096)+"].")
	f(to+login+"&content=a&tags="+strings.Repeat("a", sms.MaxContext), "Arguments are too long.")
	_, _, a := orders(get(Send, strings.Repeat("a", MaxRequest+1)))
	check1(t, "large", a, `413 Error "Request is too large"`)
	check1(t, "ends", Unread(Send), `400 Error "Request ends too early"`)
	_, _, a = orders(post(Send, "application/json", "{"))
	check1(t, "JSON", a, `400 Error "Cannot parse JSON data"`)
	_, _, a = orders(post(Send, "text/plain", to+login+"&content=a"))
	check1(t, "no form", a, `400 Error "Mandatory argument [to] is not found."`)
}

// The requests of Jasmin's documentation, and of playSMS, are understood.
func TestRequests(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, want httpsms.Order) {
		t.Helper()
		want.Context.Dialect = httpsms.Jasmin
		if got := order(t, r); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s %s:\n%+v, want\n%+v", r.Query, r.Body, got, want)
		}
	}
	hello := httpsms.Order{To: "06222172", Text: []byte("hello")}
	f(get(Send, "username=u&password=p&to=06222172&content=hello"), hello)
	f(post(Send, "application/x-www-form-urlencoded; charset=utf-8", "username=u&password=p&to=06222172&content=hello"), hello)
	f(post(Send, "application/json", `{"to":"06222172","username":"u","password":"p","coding":0,"content":"hello","from":null}`), hello)
	f(post(Send, "application/json; charset=utf-8", `{"to":6222172,"username":"u","password":"p","hex-content":"68656c6c6f"}`), httpsms.Order{To: "6222172", Text: []byte("hello")})
	f(secure(SecureSend, "", `{"to":"06222172","content":"hello"}`), hello)
	f(secure(SecureSend, "", `{"to":"06222172","hex_content":"68656c6c6f","custom_tlvs":[[5121,null,"COctetString","a"],[5122,2,"Int2",7]]}`), hello)
	f(get(Send, "to=1&to=2&from=a&from=b&"+login+"&content=&malformed"), httpsms.Order{To: "1", From: "a", Text: []byte{}})
	url := "http://h/index.php?app=call"
	fields := []httpsms.Field{{Name: httpsms.Mask, Value: "2"}, {Name: httpsms.Method, Value: "POST"}}
	f(get(Send, "username=u&password=p&to=%2B4670000&from=Shop&content=hi&coding=0&dlr=yes&dlr-level=2&dlr-method=POST&dlr-url=http%3A%2F%2Fh%2Findex.php%3Fapp%3Dcall"),
		httpsms.Order{To: "+4670000", From: "Shop", Text: []byte("hi"), Notify: sms.NotifySuccess | sms.NotifyFailure, Context: httpsms.Context{URL: url, Fields: fields}})
	f(get(Send, login+"&to=1&hex-content=00410042&coding=8&priority=3&validity-period=2&sdt=000000000100000R&tags=a,b-1"), httpsms.Order{
		To: "1", Text: []byte("\x00A\x00B"), Alphabet: sms.UCS2, Priority: 3, Expires: now + 2*int64(time.Minute), DeliverAt: now + int64(time.Minute), Context: httpsms.Context{Fields: []httpsms.Field{{Name: httpsms.Tags, Value: "a,b-1"}}},
	})
}

// A level, or a URL, asks for reports.
func TestLevels(t *testing.T) {
	t.Parallel()
	f := func(query, level string, want sms.Notify) {
		t.Helper()
		o := order(t, get(Send, login+"&to=1&content=a&"+query))
		if got := o.Context.Get(httpsms.Mask); got != level || o.Notify != want {
			t.Errorf("%s: %q, %v", query, got, o.Notify)
		}
	}
	f("", "", 0)
	f("dlr=no", "", 0)
	f("dlr-method=get", "", 0)
	f("dlr=yes", "1", sms.NotifySent|sms.NotifyFailure)
	f("dlr-url=https://h", "1", sms.NotifySent|sms.NotifyFailure)
	f("dlr=no&dlr-level=2", "2", sms.NotifySuccess|sms.NotifyFailure)
	f("dlr-level=3", "3", sms.NotifySent|sms.NotifySuccess|sms.NotifyFailure)
}

// Coding 0 is UTF-8 that becomes GSM 7-bit; other octets are as they were given, but for texts of JSON.
func TestTexts(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, want string, a sms.Alphabet) {
		t.Helper()
		if o := order(t, r); string(o.Text) != want || o.Alphabet != a {
			t.Errorf("%s %s: %q in %d, want %q in %d", r.Query, r.Body, o.Text, o.Alphabet, want, a)
		}
	}
	query := func(coding, content string) *httpsms.Request {
		return get(Send, login+"&to=1&coding="+coding+"&content="+content)
	}
	object := func(coding, content string) *httpsms.Request {
		return secure(SecureSend, "", `{"to":"1","coding":`+coding+`,"content":"`+content+`"}`)
	}
	f(query("0", "%C3%A5@%E2%82%AC"), "\x0f\x00\x1be", sms.Default)
	f(query("0", "%D0%9F%ff"), "??", sms.Default)
	f(query("1", "%C3%A5"), "\xc3\xa5", sms.ASCII)
	f(query("2", "%00%ff"), "\x00\xff", sms.Binary)
	f(query("3", "%e5"), "\xe5", sms.Latin1)
	f(query("4", "a%zzb%"), "a%zzb%", sms.Binary)
	f(query("8", "%04%1F%00A"), "\x04\x1f\x00A", sms.UCS2)
	f(object("0", "å"), "\x0f", sms.Default)
	f(object("1", "aå"), "a?", sms.ASCII)
	f(object("2", "å"), "\xc3\xa5", sms.Binary)
	f(object("3", "å"), "\xe5", sms.Latin1)
	f(object("8", "П😀"), "\x04\x1f\xd8\x3d\xde\x00", sms.UCS2)
	f(object(`"8"`, ""), "", sms.UCS2)
}

func TestTimes(t *testing.T) {
	t.Parallel()
	f := func(text, want string) {
		t.Helper()
		at, ok := parseTime(text, now)
		if got := time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.0"); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %t", text, got, ok)
		}
	}
	f("261124080000500+", "2026-11-24T08:00:00.5")
	f("261124080000004+", "2026-11-24T07:00:00.0")
	f("261124080000004-", "2026-11-24T09:00:00.0")
	f("261124080000049+", "")
	f("261324080000000+", "")
	f("000001020304000R", "2026-11-24T09:33:04.0")
	f("010000000000000R", "2027-11-23T07:30:00.0")
	f("000100000000000R", "2026-12-23T07:30:00.0")
	for query, want := range map[string]int64{"0": 0, "1": int64(time.Minute), "99999999999999999999": maxMinutes * int64(time.Minute)} {
		o := order(t, get(Send, login+"&to=1&content=a&validity-period="+query))
		if want != 0 {
			want += now
		}
		if o.Expires != want {
			t.Errorf("%s: %d", query, o.Expires)
		}
	}
}

// Nothing that a client may send makes a parser fail, and what they accept can be answered.
func fuzz(f *testing.F, request func(string) *httpsms.Request) {
	f.Fuzz(func(_ *testing.T, text string) {
		q, all, a := orders(request(text))
		if a != nil {
			return
		}
		results := make([]httpsms.Result, len(all))
		var m sms.Message
		for i := range all {
			results[i].Code = all[i].Fill(&m)
		}
		q.Answer(results)
		q.Calls(results)
	})
}

func FuzzQuery(f *testing.F) {
	f.Add(login + "&to=1&content=%41+b&dlr-level=3&sdt=000000000100000R&custom_tlvs=[]")
	fuzz(f, func(s string) *httpsms.Request { return get(Send, s) })
}

func FuzzForm(f *testing.F) {
	f.Add(login + "&to=1&hex-content=0041&coding=8")
	fuzz(f, func(s string) *httpsms.Request { return post(Send, "application/x-www-form-urlencoded", s) })
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"to":1,"username":"u","password":"p","coding":8,"content":"\ud83d"}`)
	fuzz(f, func(s string) *httpsms.Request { return post(Send, "application/json", s) })
}

func FuzzBatch(f *testing.F) {
	f.Add(`{"messages":[{"to":["1",2],"content":"a"}],"globals":{"from":"b"},"batch_config":{"schedule_at":"60s","callback_url":"http://h/"}}`)
	fuzz(f, func(s string) *httpsms.Request { return secure(SecureBatch, "", s) })
}

func FuzzTLVs(f *testing.F) {
	f.Add(`[[5121,null,"COctetString","a"]]`)
	f.Add(`[[5121,2,"Int2",]]`)
	f.Fuzz(func(_ *testing.T, s string) { areTLVs(s) })
}
