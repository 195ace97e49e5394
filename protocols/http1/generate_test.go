package http1

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutated returns the octets of a connection by a seed: a few requests, most of which this package takes, with up to three
// mutations.
func mutated(seed uint64) []byte {
	g := &generator{rand.New(rand.NewPCG(seed, 1))}
	var b []byte
	for range 1 + g.IntN(3) {
		b = append(b, g.request()...)
	}
	for range g.IntN(4) {
		b = g.mutate(b)
	}
	return b
}

// A generator makes requests.
type generator struct{ *rand.Rand }

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// mostly returns usual, and seldom one of the others.
func (g *generator) mostly(usual string, others ...string) string {
	if g.IntN(12) > 0 {
		return usual
	}
	return g.pick(others...)
}

func (g *generator) request() string {
	var b strings.Builder
	method := g.mostly(g.pick("GET", "POST"), "HEAD", "get", "PUT", "GETX", "P")
	path := g.mostly(g.pick("/", "/a", "/cgi-bin/sendsms", "/a.b/c-d_e~"), "//", "/a//b", "/./", "/a/..", "/%41", "*", "http://h/a", "/a;b")
	query := g.mostly(g.pick("", "", "?", "?a=b&c=%20d+e", "?text=%00%FF;", "?a?b"), "?a#b", "?%", "? ", "?\xff")
	version := g.mostly(g.pick("HTTP/1.1", "HTTP/1.1", "HTTP/1.0"), "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ")
	fmt.Fprintf(&b, "%s %s%s %s\r\n", method, path, query, version)
	var all []string
	if version == "HTTP/1.1" || g.IntN(2) == 0 {
		all = append(all, g.pick("Host", "host", "HOST")+": "+g.mostly(g.pick("h", "127.0.0.1:80", "[::1]:80", "a.b."), "", "a b", "a,b", "a/b", "[", ":1"))
	}
	body := ""
	if g.IntN(2) == 0 {
		if method != "GET" {
			body = strings.Repeat("x", g.IntN(20))
		}
		all = append(all, "Content-Length: "+g.mostly(fmt.Sprint(len(body)), "+1", "0x1", "01", "1,1", "", "20000", "99999999999999999999", "1"))
	}
	for range g.IntN(4) {
		all = append(all, g.field())
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, line := range all {
		b.WriteString(line + "\r\n")
	}
	return b.String() + "\r\n" + body
}

func (g *generator) field() string {
	name := g.mostly(
		g.pick("User-Agent", "Accept", "authorization", "Content-Type", "X-Kannel-To", "traceparent", "Pragma", "Keep-Alive", "a", "9", "_"),
		"Transfer-Encoding", "TE", "Trailer", "Expect", "Upgrade", "Cookie", "Range", "Content-Length", "Host", "A b", "", "Proxy-X",
	)
	if g.IntN(4) == 0 {
		return g.pick("Connection", "connection") + ":" + g.mostly(g.pick(" close", " keep-alive", "Keep-Alive\t"), "", " x", " close, x", " keep-alive,")
	}
	colon := g.mostly(g.pick(":", ": ", ":\t"), " :", "", "::")
	return name + colon + g.mostly(g.pick("", "x", "no-cache", "a b\tc", "x ", "a:b, c"), "\xff", "x\x00", "chunked", "x\r\n y", "100-continue")
}

// mutate changes octets at a random place.
func (g *generator) mutate(b []byte) []byte {
	if len(b) < 2 {
		return b
	}
	at := g.IntN(len(b))
	end := min(len(b), at+1+g.IntN(12))
	switch g.IntN(8) {
	case 0:
		b[at] = byte(g.IntN(256))
	case 1:
		b[at] = g.pick("\r", "\n", " ", "\t", ":", "\x00", "/", "?", "#", ".", "%", ",", "0", "1", "c", "-")[0]
	case 2:
		b = slices.Delete(b, at, end)
	case 3:
		b = slices.Insert(b, at, bytes.Clone(b[at:end])...)
	case 4:
		b = slices.Insert(b, at, []byte(g.pick("\r\n", "\n", "\r", " ", "\t", "\x00", "..", "//", "/./", "\r\n ", "\r\n\r\n", ": ", "\xe4"))...)
	case 5: // a line more in a head
		if i := bytes.Index(b[at:], []byte("\r\n")); i >= 0 {
			line := g.field() + "\r\n"
			b = slices.Insert(b, at+i+2, []byte(line)...)
		}
	case 6: // a line twice
		if i := bytes.LastIndex(b[:at], []byte("\r\n")); i >= 0 {
			if n := bytes.Index(b[i+2:], []byte("\r\n")); n >= 0 {
				b = slices.Insert(b, i+2, bytes.Clone(b[i+2:i+4+n])...)
			}
		}
	case 7:
		b[at] ^= 0x20
	}
	return b
}
