package kannel

import (
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pmg/internal/smstext"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// InboundOptions say how messages from mobiles are brought, as a group sms-service does.
type InboundOptions struct {
	Name         string // %n
	URL          string // get-url or post-url
	Post         bool   // the service has a post-url
	StripKeyword bool   // post-url: the text is sent without its first word
	SendSender   bool   // the sender is sent in the header X-Kannel-From
	Recode       bool   // mo-recode: UCS-2 is brought as UTF-8

	NoReply   bool // max-messages = 0
	OmitEmpty bool // an empty reply is not sent
}

// Inbound returns the call that brings a message from a mobile.
func Inbound(e *httpsms.Event, o *InboundOptions) *httpsms.Call {
	v := inboundValues(e, o)
	c := &httpsms.Call{Method: http.MethodGet, URL: v.expand(o.URL), Header: [][2]string{{"User-Agent", name}}}
	add := func(name, value string) {
		c.Header = append(c.Header, [2]string{name, clean(value)})
	}
	if !o.Post {
		if o.SendSender {
			add("X-Kannel-From", v.phone)
		}
		return c
	}
	c.Method, c.Body = http.MethodPost, []byte(v.text)
	if o.StripKeyword {
		c.Body = []byte(withoutKeyword(v))
	}
	add("Content-Type", [...]string{`text/plain; charset="UTF-8"`, "application/octet-stream", `text/plain; charset="UTF-16BE"`}[v.coding])
	if o.SendSender {
		add("X-Kannel-From", v.phone)
	}
	add("X-Kannel-To", v.local)
	add("X-Kannel-Time", v.at.UTC().Format(time.DateTime))
	m := e.Message
	for _, h := range []struct {
		name, value string
		given       bool
	}{
		{"X-Kannel-UDH", quote(v.udh), v.udh != ""},
		{"X-Kannel-SMSC", v.connector, v.connector != ""},
		{"X-Kannel-MClass", strconv.Itoa(v.class), v.class >= 0},
		{"X-Kannel-PID", strconv.Itoa(int(m.PID)), m.PID != 0},
		{"X-Kannel-RPI", "1", m.Flags&sms.ReplyPath != 0},
		{"X-Kannel-Coding", strconv.Itoa(v.coding), true},
		{"X-Kannel-Service", v.service, v.service != ""},
	} {
		if h.given {
			add(h.name, h.value)
		}
	}
	return c
}

// clean removes characters that are not allowed in a header.
func clean(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return -1
		}
		return r
	}, value)
}

// inboundValues returns the values of escapes for a message from a mobile.
func inboundValues(e *httpsms.Event, o *InboundOptions) *values {
	m := e.Message
	v := &values{
		phone: httpsms.Number(m.Source()), local: httpsms.Number(m.Dest()), at: time.Unix(0, e.At), connector: e.Connector,
		id: httpsms.UUID(e.ID), service: o.Name, class: notGiven, url: e.Context.URL, charset: "8-BIT", coding: eightBit,
	}
	octets, hasHeader := m.Text(), m.Flags&sms.HasHeader != 0
	if head, rest, ok := userdata.Cut(octets); hasHeader && ok {
		v.udh, octets = string(head), rest
	}
	v.text = string(octets)
	if text, ok := smstext.Decode(m.Alphabet, hasHeader, m.Text()); ok {
		v.text, v.charset, v.coding = text, "UTF-8", sevenBit
	}
	v.words = strings.Fields(v.text)
	if (m.Alphabet == sms.UCS2 || m.Alphabet == sms.DefaultUCS2) && v.coding == sevenBit && !o.Recode {
		v.charset, v.coding, v.text = "UTF-16BE", ucs2, utf16BE(v.text)
		for i, w := range v.words {
			v.words[i] = utf16BE(w)
		}
	}
	v.dcs = v.coding << 2
	if m.Class != sms.NoClass {
		v.class = int(m.Class - sms.Class0)
		v.dcs |= 0x10 | v.class
	}
	return v
}

func utf16BE(text string) string {
	octets, _ := charset.Charset{Coding: charset.UCS2}.Encode(nil, []byte(text), charset.Replace)
	return string(octets)
}

// withoutKeyword returns the text without its first word, and without the blanks around the word.
func withoutKeyword(v *values) string {
	if len(v.words) == 0 {
		return v.text
	}
	_, rest, _ := strings.Cut(v.text, v.words[0])
	if v.coding != ucs2 {
		return strings.TrimLeft(rest, " \t\r\n\v\f")
	}
	for len(rest) > 1 && rest[0] == 0 && strings.IndexByte(" \t\r\n\v\f", rest[1]) >= 0 {
		rest = rest[2:]
	}
	return rest
}

// The texts that a mobile gets if the server has no text for it.
const (
	noContent = "Could not fetch content, sorry."
	noSMS     = "Result could not be represented as an SMS message."
	emptyText = "<Empty reply from service provider>"
)

// Reply returns the message with a server's reply to a message from a mobile. It returns nil if there is no
// reply. A status other than 2xx means that the call was given up.
func Reply(e *httpsms.Event, o *InboundOptions, status int, mediaType string, body []byte) *httpsms.Order {
	if o.NoReply {
		return nil
	}
	m := e.Message
	text, from, coding, ok := noContent, "", sevenBit, true
	if status/100 == 2 {
		text, from, coding, ok = replied(mediaType, body)
	}
	if text == "" {
		if o.OmitEmpty {
			return nil
		}
		text, from, coding = emptyText, "", sevenBit
	}
	order := &httpsms.Order{
		From: httpsms.Number(m.Dest()), To: httpsms.Number(m.Source()), Context: httpsms.Context{Dialect: httpsms.Kannel},
	}
	if ok {
		order.Text, order.Alphabet, ok = encode(text, from, coding)
	}
	if !ok {
		order.Text, order.Alphabet, _ = encode(noSMS, "", sevenBit)
	}
	return order
}

// replied returns the text that a server has replied, its charset and its coding. It reports false if a message
// cannot have such a text.
func replied(mediaType string, body []byte) (text, from string, coding int, ok bool) {
	kind, from := contentType(mediaType)
	switch {
	case len(body) == 0:
		return "", "", sevenBit, true
	case kind == "text/plain":
		return string(body), from, sevenBit, true
	case kind == "text/html" || kind == "text/vnd.wap.wml":
		return plain(string(body)), from, sevenBit, true
	case kind == "text/xml":
		p, _ := readXML(body)
		return p.value("text"), p.value("charset"), sevenBit, true
	case kind == "application/octet-stream":
		return string(body), "", eightBit, true
	}
	return noSMS, "", sevenBit, true
}

var tags = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// plain returns the text of a page.
func plain(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, ""))), " ")
}
