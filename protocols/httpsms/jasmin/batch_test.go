package jasmin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A batch has lists of recipients and values for all; each recipient is a message.
func TestBatch(t *testing.T) {
	t.Parallel()
	q, all, a := orders(secure(SecureBatch, "", `{"messages":[{"to":["1",2],"content":"a"},{"to":"3","hex_content":"62","from":"Own"}],
		"globals":{"from":"All","dlr_url":"http://h/dlr"},"batch_config":{"callback_url":"http://h/ok?k=1#f","errback_url":"http://h/no","schedule_at":"86400s"}}`))
	if a != nil || len(all) != 3 || !q.Submits() {
		t.Fatalf("%v, %+v", all, a)
	}
	got := ""
	for _, o := range all {
		got += fmt.Sprintf("%s>%s:%s ", o.From, o.To, o.Text)
		if o.DeliverAt != now+int64(24*time.Hour) || o.Context.Get(httpsms.Batch) != batchID || o.Context.URL != "http://h/dlr" {
			t.Errorf("%+v", o)
		}
	}
	if got != "All>1:a All>2:a Own>3:b " {
		t.Error(got)
	}
	if urls := strings.Join(q.URLs(), " "); urls != "http://h/ok?k=1#f http://h/no http://h/dlr" {
		t.Error(urls)
	}
	results := []httpsms.Result{{ID: 1}, {Code: sms.Throttled}, {ID: 3}}
	check1(t, "batch", q.Answer(results), `200 {"data":{"batchId":"`+batchID+`","messageCount":2,"scheduled":"86400s"}}`)
	var urls []string
	for _, c := range q.Calls(results) {
		urls = append(urls, c.Method+" "+c.URL)
	}
	if got, want := strings.Join(urls, "\n"), "GET http://h/ok?k=1&batchId="+batchID+"&status=1&statusText=Success+%2200000000-0000-8000-8001-706d67000000%22&to=1#f\n"+
		"GET http://h/no?batchId="+batchID+"&status=0&statusText=HTTPAPI+error%3A+Error+%22User+throughput+exceeded%22&to=2\n"+
		"GET http://h/ok?k=1&batchId="+batchID+"&status=1&statusText=Success+%2200000000-0000-8000-8003-706d67000000%22&to=3#f"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	check1(t, "refused", q.Answer([]httpsms.Result{{Code: sms.BadDestination}, {Code: sms.Throttled}, {Code: sms.Throttled}}), `412 {"message":"Error \"No route found"}`)
	check1(t, "login", q.Denied(), `412 {"title":"Authentication failed","description":"Authentication failed for user: u"}`)
	check1(t, "URL", q.NotCalled("http://h/no"), `400 {"message":"Error \"Argument [callback_url or errback_url] has an invalid value: [http://h/no]."}`)
	q, _, _ = orders(secure(SecureBatch, "", `{"messages":[{"to":"1","content":"a"}]}`))
	check1(t, "batch", q.Answer(results[:1]), `200 {"data":{"batchId":"`+batchID+`","messageCount":1}}`)
	if calls := q.Calls(results[:1]); len(calls) > 0 {
		t.Errorf("%+v", calls)
	}
}

// A batch with a message that cannot be read is refused, and none of its messages is sent.
func TestBatchRefusals(t *testing.T) {
	t.Parallel()
	f := func(body, title, description string) {
		t.Helper()
		_, _, a := orders(secure(SecureBatch, "", body))
		check1(t, body[:min(len(body), 80)], a, fmt.Sprintf(`412 {"title":%q,"description":%q}`, title, description))
	}
	const tooMany = "A batch has 4096 messages at most, and 8388608 octets in all of them"
	one := func(config string) string {
		return `{"messages":[{"to":"1","content":"a"}],"batch_config":{"schedule_at":"` + config + `"}}`
	}
	f(`{"messages":[{"to":"1","content":"a"},{"content":"a"}]}`, "Cannot read message 2", "Mandatory argument [to] is not found.")
	f(`{"messages":[{"to":"1"}]}`, "Cannot read message 1", "content or hex-content not present.")
	f(`{"messages":[{"to":["1","x"],"content":"a"}]}`, "Cannot read message 1", "Argument [to] has an invalid value: [x].")
	f(`{"messages":[{"to":["1",""],"content":"a"}]}`, "Cannot read message 1", "Argument [to] has an invalid value: [].")
	f(`{"messages":[{"to":[[1]],"content":"a"}]}`, "Cannot read message 1", "Argument [to] has an invalid value: [[1]].")
	f(`{"messages":[{"to":[],"content":"a"}]}`, "Cannot read message 1", "Argument [to] has an invalid value: [[]].")
	f(`{"messages":[{"to":"1","content":"a"},{"to":"1","content":"a","sdt":"261399000000000+"}]}`, "Cannot read message 2", "Argument [sdt] has an invalid value: [261399000000000+].")
	f(`{}`, "Cannot read messages", "There are none")
	f(`{"messages":[`+strings.TrimSuffix(strings.Repeat(`{"to":"1","content":"a"},`, 4097), ",")+`]}`, "Too many messages", tooMany)
	f(`{"messages":[{"to":[1`+strings.Repeat(",1", 4096)+`],"content":"a"}]}`, "Too many messages", tooMany)
	f(`{"messages":[{"to":1}`+strings.Repeat(`,{"to":1}`, 100)+`],"globals":{"content":"`+strings.Repeat("a", 1<<19)+`"}}`, "Too many messages", tooMany)
	f(`{"messages":[{"to":1}`+strings.Repeat(`,{"to":1}`, 100)+`],"globals":{"content":"a","from":"`+strings.Repeat("a", 1<<19)+`"}}`, "Too many messages", tooMany)
	f(one("2026-11-23 00:00"), "Cannot parse scheduled_at value", "Got unknown format: 2026-11-23 00:00, correct formats are 'YYYY-MM-DD hh:mm:ss' or number of seconds, as 86400s")
	f(one("-1s"), "Cannot parse scheduled_at value", "Got unknown format: -1s, correct formats are 'YYYY-MM-DD hh:mm:ss' or number of seconds, as 86400s")
	f(one("99999999999999s"), "Cannot parse scheduled_at value", "Got unknown format: 99999999999999s, correct formats are 'YYYY-MM-DD hh:mm:ss' or number of seconds, as 86400s")
	f(one("2020-01-01 00:00:00"), "Cannot schedule batch in past date", "Invalid past date given: 2020-01-01 00:00:00")
	f(`[]`, "Cannot parse JSON data", "Got unparseable json data: json: cannot unmarshal array into Go value of type struct { Messages []json.RawMessage \"json:\\\"messages\\\"\"; Globals map[string]json.RawMessage \"json:\\\"globals\\\"\"; Config jasmin.batch \"json:\\\"batch_config\\\"\" }")
	_, all, a := orders(secure(SecureBatch, "", one("0s")))
	if a != nil || all[0].DeliverAt != 0 {
		t.Errorf("%+v, %+v", all, a)
	}
	_, all, _ = orders(secure(SecureBatch, "", `{"messages":[{"to":"1","content":"a","validity_period":1}],"batch_config":{"schedule_at":"60s"}}`))
	if o := all[0]; o.DeliverAt != now+int64(time.Minute) || o.Expires != now+2*int64(time.Minute) {
		t.Errorf("%+v", o)
	}
	local := time.Unix(0, now).Add(time.Hour).Local().Format(time.DateTime)
	q, all, a := orders(secure(SecureBatch, "", one(local)))
	if a != nil || all[0].DeliverAt != now+int64(time.Hour) {
		t.Fatalf("%+v, %+v", all, a)
	}
	check1(t, local, q.Answer([]httpsms.Result{{}}), `200 {"data":{"batchId":"`+batchID+`","messageCount":1,"scheduled":"3600s"}}`)
}

// The text of a batch is encoded once, and too many messages are refused before one is read.
func TestBatchCosts(t *testing.T) {
	t.Parallel()
	_, all, a := orders(secure(SecureBatch, "", `{"messages":[{"to":"1"},{"to":"2"}],"globals":{"content":"П","coding":8}}`))
	if a != nil || &all[0].Text[0] != &all[1].Text[0] || string(all[1].Text) != "\x04\x1f" {
		t.Errorf("%+v, %+v", all, a)
	}
	_, _, a = orders(secure(SecureBatch, "", `{"messages":[`+strings.Repeat(`1,`, maxMessages)+`1]}`))
	if a == nil || !strings.Contains(string(a.Body), "Too many messages") {
		t.Errorf("%+v", a)
	}
}
