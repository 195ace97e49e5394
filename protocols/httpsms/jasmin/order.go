package jasmin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmg/internal/smstext"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/charset"
)

// alphabets are the alphabets by value of coding.
var alphabets = map[int]sms.Alphabet{
	0: sms.Default, 1: sms.ASCII, 2: sms.Binary, 3: sms.Latin1, 4: sms.Binary, 6: sms.Cyrillic, 7: sms.Hebrew, 8: sms.UCS2,
}

// encode returns the octets of a text. Texts of JSON are characters; others are octets already, which stand for
// UTF-8 in coding 0 alone.
func encode(text string, coding int, characters bool) []byte {
	c, ok := smstext.CharsetOf(alphabets[coding])
	if !ok || coding != 0 && !characters {
		return []byte(text)
	}
	octets, _ := c.Encode(nil, []byte(text), charset.Replace)
	return octets
}

// partsOf returns how many short messages a text becomes.
func partsOf(a sms.Alphabet, text []byte) int {
	c, ok := smstext.CharsetOf(a)
	if !ok {
		c.Coding = charset.Latin1 // octets
	}
	units := len(text)
	if c.Coding == charset.UCS2 {
		units /= 2
	}
	return max(c.Parts(units), 1)
}

const (
	maxMinutes = 10 * 366 * 24 * 60
	maxURL     = 4 << 10
)

// Orders returns the messages of a request. now is the wall clock's time in Unix nanoseconds; batch is the id of a batch.
func (q *Request) Orders(now int64, batch string) ([]httpsms.Order, *httpsms.Answer) {
	orders := make([]httpsms.Order, len(q.messages))
	for i := range q.messages {
		var wrong string
		if orders[i], wrong = q.messages[i].order(now); wrong != "" {
			return nil, q.wrongAt(i, wrong)
		}
	}
	if q.path != SecureBatch {
		return orders, nil
	}
	q.batch.id = batch
	a := q.batch.schedule(now)
	for i := range orders {
		orders[i].Context.Add(httpsms.Batch, batch)
		if q.batch.at == 0 {
			continue
		}
		if orders[i].DeliverAt = q.batch.at; orders[i].Expires != 0 { // the validity begins when the batch is sent
			orders[i].Expires += q.batch.at - now
		}
	}
	return orders, a
}

// wrongAt returns the answer to a request in which a message is invalid.
func (q *Request) wrongAt(i int, wrong string) *httpsms.Answer {
	if q.path == SecureBatch {
		return wrongMessage(i, wrong)
	}
	return q.refuse(http.StatusBadRequest, wrong)
}

// order returns the order of a message, or the error of the message.
func (m *message) order(now int64) (o httpsms.Order, wrong string) {
	v := m.values
	o = httpsms.Order{
		From: v["from"], To: m.to, Text: m.text, Alphabet: m.alphabet, Context: httpsms.Context{Dialect: httpsms.Jasmin},
	}
	if v["priority"] != "" {
		o.Priority = v["priority"][0] - '0'
	}
	if minutes, given := v["validity-period"]; given {
		n, err := strconv.Atoi(minutes)
		if err != nil || n > maxMinutes {
			n = maxMinutes
		}
		if n > 0 {
			o.Expires = now + int64(n)*int64(time.Minute)
		}
	}
	if sdt, given := v["sdt"]; given {
		var ok bool
		if o.DeliverAt, ok = parseTime(sdt, now); !ok {
			return o, invalid("sdt", sdt)
		}
	}
	c := &o.Context
	c.URL = v["dlr-url"]
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || len(c.URL) > maxURL) {
		return o, invalid("dlr-url", c.URL)
	}
	c.Add(httpsms.Tags, v["tags"])
	if level, given := v["dlr-level"]; v["dlr"] == "yes" || c.URL != "" || given {
		if !given {
			level = "1"
		}
		o.Notify = notify(level)
		c.Add(httpsms.Mask, level)
		c.Add(httpsms.Method, strings.ToUpper(v["dlr-method"]))
	}
	if len(c.Append(nil)) > sms.MaxContext {
		return o, "Arguments are too long."
	}
	return o, ""
}

// notify returns the outcomes that a level asks for. Refusals of an SMSC are reported at each level.
func notify(level string) sms.Notify {
	switch level {
	case "1":
		return sms.NotifySent | sms.NotifyFailure
	case "2":
		return sms.NotifySuccess | sms.NotifyFailure
	}
	return sms.NotifySent | sms.NotifySuccess | sms.NotifyFailure
}

// parseTime reads a time of SMPP (3.4 §7.1.1), which is absolute or relative to now: YYMMDDhhmmsstnnp.
func parseTime(text string, now int64) (int64, bool) {
	if text[15] == 'R' {
		var f [6]int
		for i := range f {
			f[i], _ = strconv.Atoi(text[2*i : 2*i+2])
		}
		t := time.Unix(0, now).UTC().AddDate(f[0], f[1], f[2])
		return t.Add(
			time.Duration(f[3])*time.Hour + time.Duration(f[4])*time.Minute + time.Duration(f[5])*time.Second,
		).UnixNano(), true
	}
	t, err := time.Parse("060102150405", text[:12])
	quarters, _ := strconv.Atoi(text[13:15])
	if err != nil || quarters > 48 {
		return 0, false
	}
	if text[15] == '+' { // ahead of UTC
		quarters = -quarters
	}
	return t.Add(time.Duration(quarters)*15*time.Minute + time.Duration(text[12]-'0')*time.Second/10).UnixNano(), true
}
