package http1

import (
	"fmt"
	"strings"
	"testing"
)

// show returns a request in the form of the tables of tests.
func show(r *Request) string {
	words := []string{"GET"}
	if r.Post {
		words[0] = "POST"
	}
	words = append(words, string(r.Path))
	if len(r.Query) > 0 {
		words = append(words, "?"+string(r.Query))
	}
	for name, value := range r.Fields {
		words = append(words, fmt.Sprintf("[%s=%s]", name, value))
	}
	if len(r.Body) > 0 {
		words = append(words, fmt.Sprintf("%q", r.Body))
	}
	if r.HTTP10 {
		words = append(words, "1.0")
	}
	if r.Close {
		words = append(words, "close")
	}
	return strings.Join(words, " ")
}

// outcome returns what Extent and Read make of octets: "foreign", "more N", or the request, and "+N" for octets behind it.
func outcome(b string) string {
	octets := []byte(b)
	n, isForeign := Extent(octets)
	switch {
	case isForeign && n != 0:
		return fmt.Sprintf("foreign with length %d", n)
	case isForeign:
		return "foreign"
	case n > len(octets):
		return fmt.Sprintf("more %d", n-len(octets))
	}
	var r Request
	if !Read(&r, octets[:n:n]) {
		return "not read"
	}
	if n < len(octets) {
		return fmt.Sprintf("%s +%d", show(&r), len(octets)-n)
	}
	return show(&r)
}

const (
	get  = "GET /a HTTP/1.1\r\nHost: h\r\n"
	post = "POST /a HTTP/1.1\r\nHost: h\r\n"
)

// A sample is octets of a client, and the expected outcome.
type sample struct{ octets, want string }

func taken() []sample {
	return []sample{
		{get + "\r\n", "GET /a [Host=h]"},
		{post + "\r\n", "POST /a [Host=h]"},
		{post + "Content-Length: 3\r\n\r\nabc", `POST /a [Host=h] [Content-Length=3] "abc"`},
	}
}

func TestTaken(t *testing.T) {
	for _, s := range taken() {
		if got := outcome(s.octets); got != s.want {
			t.Errorf("%q\n got %s\nwant %s", s.octets, got, s.want)
		}
	}
}
