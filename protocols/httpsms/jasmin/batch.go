package jasmin

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// Bounds on a batch. Values for all messages can make much of few octets.
const (
	maxMessages = 4096
	maxOctets   = 8 << 20
)

// A batch is the part of a request that applies to all messages.
type batch struct {
	Callback string `json:"callback_url"`
	Errback  string `json:"errback_url"`
	Schedule string `json:"schedule_at"`

	id    string
	at    int64 // time at which the batch is sent; 0: immediately
	after int64 // seconds until then
}

// readBatch reads the messages of a batch. It refuses the batch if one message cannot be read: no message is left out.
func (q *Request) readBatch(body []byte) *httpsms.Answer {
	var b struct {
		Messages []json.RawMessage          `json:"messages"`
		Globals  map[string]json.RawMessage `json:"globals"`
		Config   batch                      `json:"batch_config"`
	}
	err := json.Unmarshal(body, &b)
	if err == nil && len(b.Messages) > maxMessages {
		return tooMany()
	}
	q.batch = b.Config
	globals, octets := fromJSON(b.Globals, true), 0
	for i := 0; err == nil && i < len(b.Messages); i++ {
		var object map[string]json.RawMessage
		if err = json.Unmarshal(b.Messages[i], &object); err != nil {
			break
		}
		p := fromJSON(object, true)
		for _, name := range globals.names {
			p.set(name, globals.values[name]) // the message's own parameters come first
		}
		for _, value := range p.values {
			octets += len(value)
		}
		if octets > maxOctets {
			return tooMany()
		}
		if refusal := q.readItem(i, p); refusal != nil {
			return refusal
		}
	}
	switch {
	case err != nil:
		return problem(http.StatusPreconditionFailed, "Cannot parse JSON data", "Got unparseable json data: "+err.Error())
	case len(q.messages) == 0:
		return problem(http.StatusPreconditionFailed, "Cannot read messages", "There are none")
	}
	return nil
}

// readItem reads message i of a batch, which may have several recipients.
func (q *Request) readItem(i int, p params) *httpsms.Answer {
	p.set("username", q.username)
	p.set("password", q.password)
	list := recipients(p.values["to"])
	if len(list) > 0 {
		p.values["to"] = list[0]
	}
	m, wrong := q.readMessage(p, SecureSend)
	if wrong != "" {
		return wrongMessage(i, wrong)
	}
	if len(q.messages)+max(len(list), 1) > maxMessages {
		return tooMany()
	}
	q.messages = append(q.messages, m)
	for _, m.to = range list[min(1, len(list)):] {
		if !isNumber.MatchString(m.to) {
			return wrongMessage(i, invalid("to", m.to))
		}
		q.messages = append(q.messages, m)
	}
	return nil
}

// tooMany returns the answer to a batch that is too large.
func tooMany() *httpsms.Answer {
	return problem(
		http.StatusPreconditionFailed, "Too many messages",
		fmt.Sprintf("A batch has %d messages at most, and %d octets in all of them", maxMessages, maxOctets),
	)
}

// wrongMessage returns the answer to a batch one of whose messages is wrong.
func wrongMessage(i int, wrong string) *httpsms.Answer {
	return problem(http.StatusPreconditionFailed, fmt.Sprintf("Cannot read message %d", i+1), wrong)
}

// recipients returns the recipients of a list, and none if the text is no list.
func recipients(to string) []string {
	var list []json.RawMessage
	if !strings.HasPrefix(to, "[") || json.Unmarshal([]byte(to), &list) != nil {
		return nil
	}
	all := make([]string, len(list))
	for i, value := range list {
		if json.Unmarshal(value, &all[i]) != nil {
			all[i] = string(value)
		}
	}
	return all
}

// schedule reads when the batch is sent: in so many seconds, or at a time of the gateway's zone.
func (b *batch) schedule(now int64) *httpsms.Answer {
	if b.Schedule == "" {
		return nil
	}
	if at, err := time.ParseInLocation(time.DateTime, b.Schedule, time.Local); err == nil {
		if b.at = at.UnixNano(); b.at < now {
			return problem(
				http.StatusPreconditionFailed, "Cannot schedule batch in past date", "Invalid past date given: "+b.Schedule,
			)
		}
		b.after = (b.at - now) / int64(time.Second)
		return nil
	}
	seconds, ok := strings.CutSuffix(b.Schedule, "s")
	n, err := strconv.ParseUint(seconds, 10, 64)
	if !ok || err != nil || n > maxMinutes*60 {
		return problem(http.StatusPreconditionFailed, "Cannot parse scheduled_at value",
			"Got unknown format: "+b.Schedule+", correct formats are 'YYYY-MM-DD hh:mm:ss' or number of seconds, as 86400s")
	}
	if n > 0 {
		b.at, b.after = now+int64(min(n, math.MaxInt32))*int64(time.Second), int64(n)
	}
	return nil
}

// batchAnswer returns the answer to a batch. The answer reports success if any message was accepted: a client
// that repeated the batch would send some messages twice.
func (q *Request) batchAnswer(results []httpsms.Result) *httpsms.Answer {
	count := 0
	for _, r := range results {
		if r.Code == sms.OK {
			count++
		}
	}
	if count == 0 {
		return q.refuse(q.refusal(results[0].Code))
	}
	data := struct {
		ID        string `json:"batchId"`
		Count     int    `json:"messageCount"`
		Scheduled string `json:"scheduled,omitempty"`
	}{ID: q.batch.id, Count: count}
	if q.batch.after > 0 {
		data.Scheduled = strconv.FormatInt(q.batch.after, 10) + "s"
	}
	return rest(http.StatusOK, map[string]any{"data": data})
}

// URLs returns the URLs that the request asks to be called, each once.
func (q *Request) URLs() (all []string) {
	seen := map[string]bool{"": true}
	add := func(url string) {
		if !seen[url] {
			seen[url] = true
			all = append(all, url)
		}
	}
	add(q.batch.Callback)
	add(q.batch.Errback)
	for i := range q.messages {
		add(q.messages[i].values["dlr-url"])
	}
	return all
}

// Calls returns the calls with the results of a batch. An answer 2xx means that the client has received a call.
func (q *Request) Calls(results []httpsms.Result) (calls []*httpsms.Call) {
	for i, r := range results {
		to, status, text := q.batch.Callback, "1", ""
		if r.Code == sms.OK {
			text = success(r.ID) + `"`
		} else {
			_, why := q.refusal(r.Code)
			to, status, text = q.batch.Errback, "0", `HTTPAPI error: Error "`+why+`"`
		}
		if to == "" {
			continue
		}
		calls = append(calls, &httpsms.Call{Method: http.MethodGet, URL: withQuery(to, url.Values{
			"batchId": {q.batch.id}, "to": {q.messages[i].to}, "status": {status}, "statusText": {text},
		})})
	}
	return calls
}

// withQuery adds values to the query of a URL.
func withQuery(text string, values url.Values) string {
	before, fragment, _ := strings.Cut(text, "#")
	between := "?"
	if strings.Contains(before, "?") {
		between = "&"
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return before + between + values.Encode() + fragment
}
