package jasmin

import (
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A message from a mobile is brought with its octets, in the form that Jasmin's clients read.
func TestInbound(t *testing.T) {
	t.Parallel()
	f := func(a sms.Alphabet, flags sms.Flags, text, method, want string) {
		t.Helper()
		m := &sms.Message{Kind: sms.MO, Alphabet: a, Flags: flags, Priority: 4}
		m.Set(sms.Address{TON: 1, Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, []byte(text))
		c := Inbound(&httpsms.Event{ID: 5, Connector: "operator", Message: m}, "http://h/mo?a=b", method)
		got := c.URL + " " + string(c.Body)
		if method == "POST" {
			got = string(c.Body)
		}
		if got != want || c.Method != method || c.Header[0][1] != "Jasmin gateway/1.0 deliverSmHttpThrower" {
			t.Errorf("%s %s\nwant %s", c.Method, got, want)
		}
		if !c.Taken(200, []byte(" ACK/Jasmin\n")) || c.Taken(200, []byte("OK")) || c.Taken(404, []byte("ACK/Jasmin")) {
			t.Error("it is taken without ACK/Jasmin, or not with it")
		}
	}
	const rest = "&from=46700000001&id=00000000-0000-8000-8005-706d67000000&origin-connector=operator&priority=3&to=1234"
	f(sms.Default, 0, "h\x05 &", "POST", "binary=68052026&coding=0&content=h%05+%26"+rest)
	f(sms.UCS2, 0, "\x04\x16", "POST", "binary=0416&coding=8&content=%04%16"+rest)
	f(sms.Latin1, 0, "\xe9", "GET", "http://h/mo?a=b&binary=e9&coding=3&content=%E9"+rest+" ")
	f(sms.ASCII, 0, "a", "POST", "binary=61&coding=1&content=a"+rest)
	f(sms.Binary, sms.HasHeader, "\x02\x70\x00\xff", "POST", "binary=ff&coding=4&content=%FF"+rest)
}
