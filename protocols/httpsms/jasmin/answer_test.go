package jasmin

import (
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

func read(t *testing.T, r *httpsms.Request) *Request {
	t.Helper()
	q, a := Read(r)
	if a != nil {
		t.Fatalf("%+v", a)
	}
	return q
}

// Each result has its answer, to the octet.
func TestAnswer(t *testing.T) {
	t.Parallel()
	q := read(t, get(Send, login+"&to=1&content=a"))
	rest := read(t, secure(SecureSend, "", `{"to":"1","content":"a"}`))
	f := func(code sms.Code, status, text string) {
		t.Helper()
		results := []httpsms.Result{{ID: 0x0123456789abcdef, Code: code}}
		check1(t, code.String(), q.Answer(results), status+` Error "`+text+`"`)
		check1(t, code.String(), rest.Answer(results), status+` {"message":"Error \"`+text+`"}`)
	}
	const failed = "Cannot send submit_sm, check SMPPClientManagerPB log file for details"
	f(sms.Throttled, "403", "User throughput exceeded")
	f(sms.BadDestination, "412", "No route found")
	f(sms.BadSource, "400", "Value filter failed for user [u] (source_address filter mismatch).")
	f(sms.BadValidity, "400", "Value filter failed for user [u] (validity_period filter mismatch).")
	f(sms.BadLength, "400", "Authorization failed for user [u] (Long content not authorized).")
	f(sms.BadSchedule, "400", "Authorization failed for user [u] (Setting schedule delivery time not authorized).")
	for _, c := range []sms.Code{sms.QueueFull, sms.TemporaryFailure, sms.SystemError, sms.Rejected, sms.Faulty, sms.BadParameter} {
		f(c, "500", failed)
	}
	good := []httpsms.Result{{ID: 0x0123456789abcdef}}
	check1(t, "sent", q.Answer(good), `200 Success "01234567-89ab-8cde-800f-706d67000000"`)
	check1(t, "sent", rest.Answer(good), `200 {"data":"Success \"01234567-89ab-8cde-800f-706d67000000"}`)
	check1(t, "login", q.Denied(), `403 Error "Authentication failure for username:u"`)
	check1(t, "login", rest.Denied(), `403 {"message":"Error \"Authentication failure for username:u"}`)
	check1(t, "URL", q.NotCalled("http://h/"), `400 Error "Argument [dlr-url] has an invalid value: [http://h/]."`)
	check1(t, "ping", Ping(), "200 Jasmin/PONG")
	check1(t, "root", Root(), "200 Jasmin 0.11.1")
	if a := rest.Denied(); a.Header[0] != [2]string{"Powered-By", release} || a.ContentType != "application/json" || q.Denied().ContentType != "text/plain" {
		t.Errorf("%+v", a)
	}
}

// A rate has no price, and the number of parts; a balance is not known.
func TestRates(t *testing.T) {
	t.Parallel()
	f := func(r *httpsms.Request, want string) {
		t.Helper()
		q, all, a := orders(r)
		if a == nil {
			if q.Submits() || len(q.URLs()) > 0 {
				t.Errorf("%s is sent: %d", r.Query, len(all))
			}
			a = q.Answer(nil)
		}
		check1(t, r.Query, a, want)
	}
	f(get(Rate, login+"&to=1"), `200 {"unit_rate": 0.0, "submit_sm_count": 1}`)
	f(get(Rate, login+"&to=1&content="+long("a", 160)), `200 {"unit_rate": 0.0, "submit_sm_count": 1}`)
	f(get(Rate, login+"&to=1&content="+long("a", 161)), `200 {"unit_rate": 0.0, "submit_sm_count": 2}`)
	f(get(Rate, login+"&to=1&content="+long("a", 307)), `200 {"unit_rate": 0.0, "submit_sm_count": 3}`)
	f(get(Rate, login+"&to=1&coding=8&hex-content="+long("0041", 70)), `200 {"unit_rate": 0.0, "submit_sm_count": 1}`)
	f(get(Rate, login+"&to=1&coding=8&hex-content="+long("0041", 71)), `200 {"unit_rate": 0.0, "submit_sm_count": 2}`)
	f(get(Rate, login+"&to=1&coding=2&hex-content="+long("00", 141)), `200 {"unit_rate": 0.0, "submit_sm_count": 2}`)
	f(post(Rate, "application/json", `{"to":1,"username":"u","password":"p"}`), `200 {"unit_rate": 0.0, "submit_sm_count": 1}`)
	f(secure(SecureRate, "to=1&content=a", ""), `200 {"data":{"unit_rate":0.0,"submit_sm_count":1}}`)
	f(secure(SecureRate, "", `{"to":1}`), `200 {"data":{"unit_rate":0.0,"submit_sm_count":1}}`)
	f(get(Rate, login), `400 "Mandatory argument [to] is not found."`)
	f(get(Rate, login+"&to=1&dlr=yes"), `400 "Argument [dlr] is unknown."`)
	f(secure(SecureRate, "", ""), `400 {"message":"Mandatory argument [to] is not found."}`)
	f(get(Balance, login), `200 {"balance": "ND", "sms_count": "ND"}`)
	f(get(Balance, ""), `400 "Mandatory argument [username] is not found."`)
	f(get(Balance, login+"&to=1"), `400 "Argument [to] is unknown."`)
	f(secure(SecureStatus, "", ""), `200 {"data":{"balance":"ND","sms_count":"ND"}}`)
	noRoute := []httpsms.Result{{Code: sms.BadDestination}}
	check1(t, "no route", read(t, get(Rate, login+"&to=1")).Answer(noRoute), `412 "No route found"`)
	check1(t, "no route", read(t, secure(SecureRate, "to=1", "")).Answer(noRoute), `412 {"message":"No route found"}`)
	check1(t, "method", NotAllowed(), "405 Method Not Allowed")
	check1(t, "login", read(t, get(Balance, login)).Denied(), `403 "Authentication failure for username:u"`)
	check1(t, "login", read(t, secure(SecureStatus, "", "")).Denied(), `403 {"message":"Authentication failure for username:u"}`)
}

func long(s string, n int) (all string) {
	for range n {
		all += s
	}
	return all
}

// The REST interface has words of its own for those who do not log in.
func TestBasic(t *testing.T) {
	t.Parallel()
	f := func(header, want string) {
		t.Helper()
		r := secure(SecureSend, "", `{"to":"1","content":"a"}`)
		r.Header["Authorization"] = []string{header}
		_, a := Read(r)
		check1(t, header, a, want)
	}
	const hint = `","description":"Please provide a valid Basic auth token"}`
	f("", `401 {"title":"Authentication required`+hint)
	for _, bad := range []string{"Basic", "Basic ?", "Basic dTpw=", "Basic dXA=", "Bearer dTpw"} {
		f(bad, `401 {"title":"Invalid token: `+bad+hint)
	}
	_, a := Read(secure(SecureSend, "", `{`))
	check1(t, "JSON", a, `412 {"title":"Cannot parse JSON data","description":"Got unparseable json data: unexpected end of JSON input"}`)
	_, a = Read(secure(SecureSend, "", `{"to":"1"}`))
	check1(t, "no content", a, `400 {"message":"Error \"content or hex-content not present."}`)
	q := read(t, secure(SecureSend, "", `{"to":"1","content":"a","username":"other","password":"x"}`))
	if u, p := q.Credentials(); u != "u" || p != "p" {
		t.Errorf("%q, %q", u, p)
	}
}
