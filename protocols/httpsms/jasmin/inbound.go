package jasmin

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"

	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/userdata"
)

// Inbound returns the call that brings a message from a mobile, as Jasmin's HTTP client connectors make it.
// The answer ACK/Jasmin means that the client has the message.
func Inbound(e *httpsms.Event, to, method string) *httpsms.Call {
	m := e.Message
	octets := m.Text()
	if _, text, ok := userdata.Cut(octets); ok && m.Flags&sms.HasHeader != 0 {
		octets = text
	}
	v := url.Values{
		"id": {httpsms.UUID(e.ID)}, "from": {string(m.Source().Addr)}, "to": {string(m.Dest().Addr)},
		"origin-connector": {known(e.Connector)},
		"content":          {string(octets)}, "binary": {hex.EncodeToString(octets)},
		"coding":   {strconv.Itoa(codingOf(m.Alphabet))},
		"priority": {strconv.Itoa(min(int(m.Priority), 3))},
	}
	return thrown("deliverSmHttpThrower", to, method, v)
}

// codingOf returns the coding of octets in an alphabet (SMPP 3.4 §5.2.19).
func codingOf(a sms.Alphabet) int {
	switch a {
	case sms.ASCII, sms.DefaultASCII:
		return 1
	case sms.Latin1, sms.DefaultLatin1:
		return 3
	case sms.Cyrillic:
		return 6
	case sms.Hebrew:
		return 7
	case sms.UCS2, sms.DefaultUCS2:
		return 8
	case sms.Binary, sms.DefaultPacked, sms.DefaultUTF8, sms.Other:
		return 4
	}
	return 0
}

// thrown returns a call of Jasmin's with fields.
func thrown(by, to, method string, v url.Values) *httpsms.Call {
	c := &httpsms.Call{
		Method: method, URL: to,
		Header: [][2]string{
			{"User-Agent", "Jasmin gateway/1.0 " + by}, {"Accept", "text/plain"},
			{"Content-Type", "application/x-www-form-urlencoded"},
		},
		Taken: isTaken,
	}
	if method == http.MethodGet {
		c.URL = withQuery(c.URL, v)
	} else {
		c.Body = []byte(v.Encode())
	}
	return c
}
