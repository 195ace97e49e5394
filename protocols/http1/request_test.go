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

// A section is the samples of a part of the specification.
type section struct {
	name    string
	samples []sample
}

func lines() section {
	const rest = "\r\nHost: h\r\n\r\n"
	return section{"request line", []sample{
		{"GET / HTTP/1.1" + rest, "GET / [Host=h]"},
		{"GET /a/b-c.d_e~f/ HTTP/1.1" + rest, "GET /a/b-c.d_e~f/ [Host=h]"},
		{"GET /.a/..b/c./... HTTP/1.1" + rest, "GET /.a/..b/c./... [Host=h]"},
		{"POST /a HTTP/1.1" + rest, "POST /a [Host=h]"},
		{"GET /a? HTTP/1.1" + rest, "GET /a [Host=h]"},
		{"GET /a?? HTTP/1.1" + rest, "GET /a ?? [Host=h]"},
		{"GET /a?b=//../c?d&e;%zz+%4 HTTP/1.1" + rest, "GET /a ?b=//../c?d&e;%zz+%4 [Host=h]"},
		{"GET /a?!\"$'()*,:<>@[\\]^`{|}~ HTTP/1.1" + rest, "GET /a ?!\"$'()*,:<>@[\\]^`{|}~ [Host=h]"},
		{"GET /a?b=%4 HTTP/1.1" + rest, "GET /a ?b=%4 [Host=h]"},

		{"", "more 1"}, {"G", "more 1"}, {"GET", "more 1"}, {"POST ", "more 1"}, {"GET /", "more 1"}, {"GET /.", "more 1"},
		{"GET /a/..", "more 1"}, {"GET /a?", "more 1"}, {"GET /a ", "more 1"}, {"GET /a HTTP/1.", "more 1"},
		{"GET /a HTTP/1.1\r", "more 1"}, {"GET /a HTTP/1.1\r\n", "more 1"},

		{"H", "foreign"}, {"HEAD /a HTTP/1.1" + rest, "foreign"}, {"g", "foreign"}, {"get /a HTTP/1.1" + rest, "foreign"},
		{"Get /a HTTP/1.1" + rest, "foreign"}, {"PUT /a HTTP/1.1" + rest, "foreign"}, {"POSTS /a HTTP/1.1" + rest, "foreign"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "foreign"}, {"\x16\x03\x01\x02", "foreign"},
		{"\r", "foreign"}, {"\n", "foreign"}, {"\r\nGET /a HTTP/1.1" + rest, "foreign"}, {" GET /a HTTP/1.1" + rest, "foreign"},
		{"GET  /a HTTP/1.1" + rest, "foreign"}, {"GET\t/a HTTP/1.1" + rest, "foreign"}, {"GET /a  HTTP/1.1" + rest, "foreign"},
		{"GET /a\tHTTP/1.1" + rest, "foreign"}, {"GET /a HTTP/1.1 " + rest, "foreign"}, {"GET /a\r\n\r\n", "foreign"},
		{"GET /a HTTP/1.2" + rest, "foreign"}, {"GET /a HTTP/2.0" + rest, "foreign"}, {"GET /a HTTP/0.9" + rest, "foreign"},
		{"GET /a HTTP/1.10" + rest, "foreign"}, {"GET /a http/1.1" + rest, "foreign"}, {"GET /a HTTP/01.1" + rest, "foreign"},
		{"GET /a HTTP/1.1\nHost: h\r\n\r\n", "foreign"}, {"GET /a HTTP/1.1\rHost: h\r\n\r\n", "foreign"},

		{"GET http://h/a HTTP/1.1" + rest, "foreign"}, {"GET h:80 HTTP/1.1" + rest, "foreign"}, {"GET * HTTP/1.1" + rest, "foreign"},
		{"OPTIONS * HTTP/1.1" + rest, "foreign"}, {"CONNECT h:80 HTTP/1.1" + rest, "foreign"}, {"GET a HTTP/1.1" + rest, "foreign"},
		{"GET //a HTTP/1.1" + rest, "foreign"}, {"GET /a//b HTTP/1.1" + rest, "foreign"}, {"GET /a// HTTP/1.1" + rest, "foreign"},
		{"GET /./a HTTP/1.1" + rest, "foreign"}, {"GET /a/../b HTTP/1.1" + rest, "foreign"}, {"GET /a/. HTTP/1.1" + rest, "foreign"},
		{"GET /.. HTTP/1.1" + rest, "foreign"}, {"GET /..?a HTTP/1.1" + rest, "foreign"}, {"GET /a%2e HTTP/1.1" + rest, "foreign"},
		{"GET /% HTTP/1.1" + rest, "foreign"}, {"GET /a%4 HTTP/1.1" + rest, "foreign"}, {"GET /a;b HTTP/1.1" + rest, "foreign"},
		{"GET /a\\b HTTP/1.1" + rest, "foreign"}, {"GET /a#b HTTP/1.1" + rest, "foreign"}, {"GET /a?b#c HTTP/1.1" + rest, "foreign"},
		{"GET /a\x00 HTTP/1.1" + rest, "foreign"}, {"GET /a?\x00 HTTP/1.1" + rest, "foreign"}, {"GET /a?\x7f HTTP/1.1" + rest, "foreign"},
		{"GET /a?b\xc3\xa4 HTTP/1.1" + rest, "foreign"}, {"GET /\xc3\xa4 HTTP/1.1" + rest, "foreign"},
		{"GET /a?b\tc HTTP/1.1" + rest, "foreign"}, {"GET /a?b c HTTP/1.1" + rest, "foreign"}, {"GET /a?b\nc HTTP/1.1" + rest, "foreign"},
		{"GET ", "more 1"}, {"GET ?a HTTP/1.1" + rest, "foreign"}, {"GET  HTTP/1.1" + rest, "foreign"},
	}}
}

func fields() section {
	const line = "GET /a HTTP/1.1\r\n"
	return section{"fields", []sample{
		{get + "A:b\r\n\r\n", "GET /a [Host=h] [A=b]"},
		{get + "A: \t b \tc\t \r\n\r\n", "GET /a [Host=h] [A=b \tc]"},
		{get + "A:\r\nB: \r\nC:\t\r\n\r\n", "GET /a [Host=h] [A=] [B=] [C=]"},
		{get + "A: b:c\r\n\r\n", "GET /a [Host=h] [A=b:c]"},
		{get + "a: b\r\nA: c\r\n\r\n", "GET /a [Host=h] [a=b] [A=c]"},
		{get + "!#$%&'*+-.^_`|~9: b\r\n\r\n", "GET /a [Host=h] [!#$%&'*+-.^_`|~9=b]"},
		{get + "Authorization: Basic YTpi\r\nX-Kannel-To: 1\r\n\r\n", "GET /a [Host=h] [Authorization=Basic YTpi] [X-Kannel-To=1]"},
		{get + "Accept: */*\r\nPragma: no-cache\r\n\r\n", "GET /a [Host=h] [Accept=*/*] [Pragma=no-cache]"},
		{get + strings.Repeat("A: b\r\n", MaxFields-1) + "\r\n", "GET /a [Host=h]" + strings.Repeat(" [A=b]", MaxFields-1)},
		{get + strings.Repeat("A: b\r\n", MaxFields) + "\r\n", "foreign"},
		{sized(MaxHead), "GET /a [Host=h] [A=" + strings.Repeat("b", MaxHead-len(sized(0))) + "]"},
		{sized(MaxHead + 1), "foreign"}, {sized(MaxHead + 1)[:MaxHead], "more 1"}, {sized(MaxHead)[:MaxHead-1], "more 1"},
		{get + "A: " + strings.Repeat("b", 64<<10), "foreign"}, {get + strings.Repeat("A: b\r\n", 10<<10), "foreign"},

		{get, "more 1"}, {get + "\r", "more 1"}, {get + "A", "more 1"}, {get + "A:", "more 1"}, {get + "A: b\r", "more 1"},
		{get + "Transfer-Encoding", "more 1"},

		{get + ":", "foreign"}, {get + ": b\r\n\r\n", "foreign"}, {get + "A : b\r\n\r\n", "foreign"}, {get + "A\t: b\r\n\r\n", "foreign"},
		{get + "A b: c\r\n\r\n", "foreign"}, {get + "A\r\n\r\n", "foreign"}, {get + "A(: b\r\n\r\n", "foreign"},
		{get + "A\x00: b\r\n\r\n", "foreign"}, {get + "\xc3\xa4: b\r\n\r\n", "foreign"}, {get + "A\"", "foreign"},
		{get + " A: b\r\n\r\n", "foreign"}, {get + "\tA: b\r\n\r\n", "foreign"}, {line + " Host: h\r\n\r\n", "foreign"},
		{get + "A: b\r\n c\r\n\r\n", "foreign"}, {get + "A: b\r\n\tc\r\n\r\n", "foreign"}, {get + "A:\r\n b\r\n\r\n", "foreign"},
		{get + "A: b\r\n \r\n\r\n", "foreign"},
		{get + "\n", "foreign"}, {get + "\rA: b\r\n\r\n", "foreign"}, {get + "\r\r\n", "foreign"}, {get + "A: b\n", "foreign"},
		{get + "A: b\n\n", "foreign"}, {get + "A: b\rC: d\r\n\r\n", "foreign"}, {get + "A: b\r\r\n\r\n", "foreign"},
		{get + "A: b\x00\r\n\r\n", "foreign"}, {get + "A: \x7f\r\n\r\n", "foreign"}, {get + "A: \x0b\r\n\r\n", "foreign"},
		{get + "A: 12345678\x1f\r\n\r\n", "foreign"}, {get + "A: \xa0\r\n\r\n", "foreign"}, {get + "A: b\xff", "foreign"},

		{line + "Host: h\r\nHost: h\r\n\r\n", "foreign"}, {line + "\r\n", "foreign"}, {line + "A: b\r\n\r\n", "foreign"},
		{line + "Host:\r\n\r\n", "foreign"}, {line + "Host: \r\n\r\n", "foreign"}, {line + "Host : h\r\n\r\n", "foreign"},
		{line + "Host: h h\r\n\r\n", "foreign"}, {line + "Host: a,b\r\n\r\n", "foreign"}, {line + "Host: a@b\r\n\r\n", "foreign"},
		{line + "Host: a/b\r\n\r\n", "foreign"}, {line + "Host: http://h\r\n\r\n", "foreign"}, {line + "Host: h:x\r\n\r\n", "foreign"},
		{line + "Host: :80\r\n\r\n", "foreign"}, {line + "Host: [::1\r\n\r\n", "foreign"}, {line + "Host: []\r\n\r\n", "foreign"},
		{line + "Host: [g::]\r\n\r\n", "foreign"}, {line + "Host: [::1]80\r\n\r\n", "foreign"}, {line + "Host: h:80:80\r\n\r\n", "foreign"},
		{line + "Host: ::1\r\n\r\n", "foreign"}, {line + "Host: h%41\r\n\r\n", "foreign"}, {line + "Host: [fe80::1%25a]\r\n\r\n", "foreign"},
		{line + "hOST:h:80\r\n\r\n", "GET /a [hOST=h:80]"}, {line + "Host: h:\r\n\r\n", "GET /a [Host=h:]"},
		{line + "Host: [::1]:80\r\n\r\n", "GET /a [Host=[::1]:80]"}, {line + "Host: [1::192.0.2.1]\r\n\r\n", "GET /a [Host=[1::192.0.2.1]]"},
		{line + "Host: a-b_c.d.\r\n\r\n", "GET /a [Host=a-b_c.d.]"},
	}}
}

// sized returns a request whose head has a number of octets, at least those that it has anyway.
func sized(octets int) string {
	head := get + "A: " + "\r\n\r\n"
	return get + "A: " + strings.Repeat("b", max(0, octets-len(head))) + "\r\n\r\n"
}

func bodies() section {
	large := strings.Repeat("x", MaxBody)
	return section{"bodies", []sample{
		{post + "Content-Length: 3\r\n\r\nabc", `POST /a [Host=h] [Content-Length=3] "abc"`},
		{post + "content-length:3\t\r\n\r\nabc", `POST /a [Host=h] [content-length=3] "abc"`},
		{post + "Content-Length: 003\r\n\r\nabc", `POST /a [Host=h] [Content-Length=003] "abc"`},
		{post + "Content-Length: 0\r\n\r\n", "POST /a [Host=h] [Content-Length=0]"},
		{get + "Content-Length: 0\r\n\r\n", "GET /a [Host=h] [Content-Length=0]"},
		{post + "\r\nabc", "POST /a [Host=h] +3"},
		{post + "Content-Length: 3\r\n\r\nabcGET /", `POST /a [Host=h] [Content-Length=3] "abc" +5`},
		{post + "Content-Length: 65536\r\n\r\n" + large, fmt.Sprintf("POST /a [Host=h] [Content-Length=65536] %q", large)},
		{get + "\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a [Host=h] +35"},
		{get + "\r\n\r\n", "GET /a [Host=h] +2"},

		{post + "Content-Length: 3\r\n\r\nab", "more 1"}, {post + "Content-Length: 65536\r\n\r\n", "more 65536"},
		{post + "Content-Length: 3\r\n\r", "more 1"},

		{post + "Content-Length: 65537\r\n", "foreign"}, {post + "Content-Length: 99999\r\n\r\n", "foreign"},
		{post + "Content-Length: 000003\r\n\r\nabc", "foreign"}, {post + "Content-Length: 00000000000000000003\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 18446744073709551619\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 99999999999999999999\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 4294967299\r\n\r\nabc", "foreign"},
		{post + "Content-Length:\r\n\r\nabc", "foreign"}, {post + "Content-Length: \r\n\r\nabc", "foreign"},
		{post + "Content-Length: +3\r\n\r\nabc", "foreign"}, {post + "Content-Length: -3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 0x3\r\n\r\nabc", "foreign"}, {post + "Content-Length: 3.0\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3 3\r\n\r\nabc", "foreign"}, {post + "Content-Length: 3,3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3, 3\r\n\r\nabc", "foreign"}, {post + "Content-Length: 3;a\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 1_0\r\n\r\nabc", "foreign"}, {post + "Content-Length: 3e0\r\n\r\nabc", "foreign"},
		{post + "Content-Length: \"3\"\r\n\r\nabc", "foreign"}, {post + "Content-Length: \x0b3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: \xb2\r\n\r\nabc", "foreign"}, {post + "Content-Length: 3\x00\r\n\r\nabc", "foreign"},
		{post + "Content-Length : 3\r\n\r\nabc", "foreign"}, {post + " Content-Length: 3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3\r\n 0\r\n\r\nabc", "foreign"}, {post + "Content-Length:\n3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "foreign"},
		{post + "Content-Length: 3\r\ncontent-length: 0\r\n\r\nabc", "foreign"},
		{get + "Content-Length: 3\r\n\r\nabc", "foreign"}, {get + "Content-Length: 00000\r\n\r\n", "GET /a [Host=h] [Content-Length=00000]"},
	}}
}

// encodings are the ways to hide a Transfer-Encoding from one of two servers.
func encodings() section {
	s := section{name: "transfer codings"}
	const body = "\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, line := range []string{
		"Transfer-Encoding: chunked", "transfer-encoding: chunked", "TRANSFER-ENCODING:chunked", "Transfer-Encoding: CHUNKED",
		"Transfer-Encoding : chunked", " Transfer-Encoding: chunked", "\tTransfer-Encoding: chunked", "Transfer-Encoding\t:chunked",
		"Transfer-Encoding:\tchunked", "Transfer-Encoding: \x0bchunked", "Transfer-Encoding: chunked\x00", "Transfer-Encoding: \"chunked\"",
		"Transfer-Encoding: xchunked", "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity",
		"Transfer-Encoding:\r\n chunked", "Transfer-Encoding:\n chunked", "Transfer-Encoding\r\n : chunked", "X: y\nTransfer-Encoding: chunked",
		"X: y\rTransfer-Encoding: chunked", "X: y\r\n\rTransfer-Encoding: chunked", "\rTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding", "Transfer-Encoding:", "Transfer-Encoding;: chunked", "Transfer-Encoding\x00: chunked", "\x00Transfer-Encoding: chunked",
		"Transfer\xadEncoding: chunked", "Transfer-Encoding\xa0: chunked", "Transfer Encoding: chunked", ":Transfer-Encoding: chunked",
	} {
		s.samples = append(s.samples,
			sample{post + line + body, "foreign"},
			sample{post + "Content-Length: 5\r\n" + line + body, "foreign"},
			sample{post + line + "\r\nContent-Length: 5" + body, "foreign"})
	}
	for _, chunk := range []string{"5\r\nabcde", "5;a=b\r\nabcde", "00000000000000005\r\nabcde", "10000000000000005\r\nabcde", "5 \r\nabcde", "0x5\r\nabcde"} {
		s.samples = append(s.samples, sample{post + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "\r\n0\r\n\r\n", "foreign"})
	}
	// Not only this package but net/http, too, takes this for a field without a meaning.
	s.samples = append(s.samples, sample{post + "Transfer_Encoding: chunked\r\n\r\n", "POST /a [Host=h] [Transfer_Encoding=chunked]"})
	return s
}

func refusals() section {
	s := section{name: "foreign fields"}
	for _, name := range []string{
		"Transfer-Encoding", "TE", "Trailer", "Expect", "Upgrade", "HTTP2-Settings", "Content-Encoding", "Proxy-Connection",
		"Proxy-Authorization", "Proxy-", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Cookie",
		"Idempotency-Key", "Last-Event-ID", "Origin", "Sec-Fetch-Site", "Sec-WebSocket-Key",
	} {
		for _, name := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			s.samples = append(s.samples,
				sample{get + name + ":", "foreign"}, sample{get + name + ": x\r\n\r\n", "foreign"},
				sample{get + "X" + name + ": x\r\n\r\n", "GET /a [Host=h] [X" + name + "=x]"})
		}
	}
	for _, name := range []string{"T", "Tea", "Trailers", "Expected", "Upgrade-Insecure-Requests", "I", "If", "Proxy", "Ranges", "Cookie2", "Sec", "Hos"} {
		s.samples = append(s.samples, sample{get + name + ": x\r\n\r\n", "GET /a [Host=h] [" + name + "=x]"})
	}
	return s
}

func connections() section {
	const old = "GET /a HTTP/1.0\r\n"
	return section{"connections", []sample{
		{get + "Connection: close\r\n\r\n", "GET /a [Host=h] [Connection=close] close"},
		{get + "connection:CLOSE \r\n\r\n", "GET /a [Host=h] [connection=CLOSE] close"},
		{get + "Connection: keep-alive\r\n\r\n", "GET /a [Host=h] [Connection=keep-alive]"},
		{get + "Connection: Keep-Alive\r\nKeep-Alive: 5\r\n\r\n", "GET /a [Host=h] [Connection=Keep-Alive] [Keep-Alive=5]"},
		{old + "\r\n", "GET /a 1.0 close"}, {old + "Host: h\r\n\r\n", "GET /a [Host=h] 1.0 close"},
		{old + "Connection: Keep-Alive\r\n\r\n", "GET /a [Connection=Keep-Alive] 1.0"},
		{old + "Connection: close\r\n\r\n", "GET /a [Connection=close] 1.0 close"},
		{"POST /a HTTP/1.0\r\nContent-Length: 1\r\n\r\nab", `POST /a [Content-Length=1] "a" 1.0 close +1`},
		{old + "Host: h\r\nHost: h\r\n\r\n", "foreign"}, {old + "Host:\r\n\r\n", "foreign"},
		{get + "Connection:\r\n\r\n", "foreign"}, {get + "Connection: close, keep-alive\r\n\r\n", "foreign"},
		{get + "Connection: close,\r\n\r\n", "foreign"}, {get + "Connection: upgrade\r\n\r\n", "foreign"},
		{get + "Connection: Content-Length\r\n\r\n", "foreign"}, {get + "Connection: closed\r\n\r\n", "foreign"},
		{get + "Connection: keep-alive\r\nConnection: keep-alive\r\n\r\n", "foreign"},
		{get + "Connection: keep-alive\r\nConnection: close\r\n\r\n", "foreign"},
	}}
}

func sections() []section {
	return []section{lines(), fields(), bodies(), encodings(), refusals(), connections()}
}

// The known ways to smuggle a request, and what is near them, are foreign or are taken as net/http takes them.
func TestOutcomes(t *testing.T) {
	for _, section := range sections() {
		t.Run(section.name, func(t *testing.T) {
			for _, s := range section.samples {
				if got := outcome(s.octets); got != s.want {
					t.Errorf("%.300q\n got %.300s\nwant %.300s", s.octets, got, s.want)
				}
			}
		})
	}
}

// checkPrefixes checks that the verdict about the octets so far holds whatever follows: no beginning of a request is taken for a
// whole one, more octets are asked for than there are, and no more than the request has.
func checkPrefixes(t testing.TB, b []byte) {
	t.Helper()
	n, isForeign := Extent(b)
	for i := range len(b) {
		part, partForeign := Extent(b[:i:i])
		switch {
		case partForeign && !isForeign:
			t.Fatalf("%.300q: the first %d octets are foreign, all of them are not", b, i)
		case partForeign:
			return // so that all of b is foreign: only that was to be checked
		case part <= i && (part != n || isForeign):
			t.Fatalf("%.300q: the first %d octets are a request of %d octets, all of them one of %d, foreign %t", b, i, part, n, isForeign)
		case !isForeign && (part > n || part <= i && i < n):
			t.Fatalf("%.300q: the first %d octets ask for %d, the request has %d", b, i, part, n)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for _, section := range sections() {
		for _, s := range section.samples {
			if len(s.octets) < 2*MaxHead {
				checkPrefixes(t, []byte(s.octets))
			}
		}
	}
}

// Octets that are foreign are so at the first octet that makes them foreign, so that the connection is handed over early.
func TestForeignEarly(t *testing.T) {
	for _, beginning := range []string{
		"H", "GETS", "POST *", "GET //", "GET /a/../", "GET /a/. ", "GET /a%", "GET /a?#", "GET /a HTTP/2", "GET /a HTTP/1.1\n",
		get + "A ", get + " ", get + "A: b\x00", get + "Cookie:", get + "Host:", get + "A: b\r\r", get + "Content-Length: x\r\n",
		get + "Connection: x\r\n", post + "Content-Length: 65537\r\n", get + "Content-Length: 1\r\n", "GET /a HTTP/1.1\r\n\r\n",
	} {
		before := beginning[:len(beginning)-1]
		if got := outcome(before); got != "more 1" {
			t.Errorf("%q: %s", before, got)
		}
		if got := outcome(beginning); got != "foreign" {
			t.Errorf("%q: %s", beginning, got)
		}
	}
}

// Read takes only octets that are one request.
func TestReadWhole(t *testing.T) {
	var r Request
	request := post + "Content-Length: 3\r\n\r\nabc"
	for _, b := range []string{"", request[:len(request)-1], request + "G", request + request, "HEAD" + request} {
		if !Read(&r, []byte(request)) {
			t.Fatal("the request is not read")
		}
		if Read(&r, []byte(b)) || show(&r) != "GET " {
			t.Errorf("%q: read, or not empty: %s", b, show(&r))
		}
	}
}

func TestField(t *testing.T) {
	var r Request
	if !Read(&r, []byte(get+"X-Kannel-To: 1\r\nx-KANNEL-to: 2\r\nX-Kannel-Too: 3\r\nEmpty:\r\n\r\n")) {
		t.Fatal("the request is not read")
	}
	for _, want := range []struct {
		name, value string
		n           int
	}{{"host", "h", 1}, {"x-kannel-to", "1", 2}, {"x-kannel-too", "3", 1}, {"empty", "", 1}, {"x-kannel", "", 0}, {"", "", 0}} {
		if value, n := r.Field(want.name); string(value) != want.value || n != want.n {
			t.Errorf("%s: %q, %d; want %q, %d", want.name, value, n, want.value, want.n)
		}
	}
	for name := range r.Fields {
		if string(name) != "Host" {
			t.Errorf("%s follows although the loop has ended", name)
		}
		break
	}
	if r.Reset(); show(&r) != "GET " || r.Body != nil || r.head != nil {
		t.Errorf("not empty after Reset: %s", show(&r))
	}
	if _, n := r.Field("host"); n != 0 {
		t.Error("a field after Reset")
	}
}

// Eight octets at a time or one by one, at every place, the same octets end a query and a value.
func TestSkip(t *testing.T) {
	for _, skip := range []struct {
		name  string
		to    func(b []byte, i int) int
		class uint8
	}{{"query", skipQuery, inQuery}, {"value", skipValue, inValue}} {
		for c := range 256 {
			for next := range 256 {
				b := []byte("aaaaaaaaaaaaaaaaaaa")
				b[7], b[8] = byte(c), byte(next)
				for i := range 9 {
					want := i
					for want < len(b) && classes[b[want]]&skip.class != 0 {
						want++
					}
					if got := skip.to(b, i); got != want {
						t.Fatalf("%s of %q from %d: to %d, want %d", skip.name, b, i, got, want)
					}
				}
			}
		}
	}
}
