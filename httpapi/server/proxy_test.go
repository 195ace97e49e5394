package server

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// PROXY headers of both versions; they name the client.
const (
	header1 = "PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\r\n"
	header2 = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc6\x33\x64\x07\x7f\x00\x00\x01\x9c\x40\x0a\xd7"
	local   = "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00" // the proxy's own connection
	client  = "198.51.100.7"
)

// The address in the header is that of the client, for networks of its account and in logs. The header may come octet by octet, and with
// the request behind it. Those who are no proxies are served as themselves, and their headers are no requests.
func TestProxy(t *testing.T) {
	t.Parallel()
	r := newRig(t, "proxies: 127.0.0.1", "{system_id: shop, password: secret, networks: 198.51.100.0/24}, {system_id: any, password: secret}, {system_id: near, password: secret, networks: 127.0.0.0/8}")
	const near, anywhere = "Authorization: Basic bmVhcjpzZWNyZXQ=\r\n", "Authorization: Basic YW55OnNlY3JldA==\r\n"
	for _, c := range []struct{ header, login, from string }{
		{header1, shop, "shop " + client}, {header2, shop, "shop " + client}, {"PROXY TCP6 2001:db8::1 ::1 40000 2775\r\n", anywhere, "any 2001:db8::1"},
		{"PROXY UNKNOWN\r\n", near, "near 127.0.0.1"}, {local, near, "near 127.0.0.1"}, {"PROXY TCP4 203.0.113.9 127.0.0.1 40000 2775\r\n", shop, ""},
	} {
		p := r.dial("127.0.0.1")
		p.write(c.header)
		for range 2 {
			p.ask("GET /ask", c.login, "")
			if c.from == "" {
				p.want(401, "")
			} else {
				p.want(202, c.from+" ")
			}
		}
	}
	slow := r.dial("127.0.0.1")
	for _, octet := range []byte(header2) {
		slow.write(string([]byte{octet}))
	}
	slow.ask("GET /ask", shop, "")
	slow.want(202, "shop "+client+" ")
	stranger := r.dial("127.0.0.9")
	stranger.ask("GET /ask", near, "")
	stranger.want(202, "near 127.0.0.9 ")
	for _, header := range []string{header1, header2} {
		stray := r.dial("127.0.0.9")
		stray.ask(header+"GET /ask", near, "")
		stray.want(400, "400 Bad Request")
	}
	if text := r.Log.String(); !strings.Contains(text, "login refused") || !strings.Contains(text, "203.0.113.9") || strings.Contains(text, "PROXY header") {
		t.Error(text)
	}
	if lines := r.lines(); !strings.Contains(lines, "remote="+client+":40000") || !strings.Contains(lines, `remote="[2001:db8::1]:40000"`) {
		t.Error(lines)
	}
}

// A connection of a proxy without a header, with half of one, or with one that is not whole in time, is closed, counted and in the log. Checks of the
// proxy are closed, too, and are not in the log.
func TestProxyWithoutHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bind    string
		octets  string
		stops   bool
		counted int64
		says    string
	}{
		{"10m", "", true, 0, ""},
		{"10m", header1[:20], true, 1, "it ends after 20 octets"},
		{"10m", header2[:20], true, 1, "it ends after 20 octets"},
		{"10m", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, 1, "its PROXY header cannot be read"},
		{"10m", "PROXY TCP4 198.51.100.7 127.0.0.1 99999 2775\r\n", false, 1, "its PROXY header cannot be read"},
		{"10m", "PROXY UNKNOWN " + strings.Repeat("x", 200), false, 1, "its PROXY header cannot be read"},
		{"10m", "PROXY UNKNOWN\r\n", true, 0, ""},
		{"10m", local, true, 0, ""},
		{"10m", "PROXY UNKNOWN\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", false, 0, ""}, // it is not in networks
		{"10m", "PROXY TCP4 203.0.113.1 127.0.0.1 40000 2775\r\n", false, 0, "is not in networks"},
		{"10m", header1, true, 0, ""},
		{"200ms", header2[:20], false, 1, "20 octets have come in 200ms"},
		{"200ms", "", false, 1, "0 octets have come in 200ms"},
		{"200ms", header1, false, 0, ""},
	} {
		t.Run(fmt.Sprintf("%.20q %s", c.octets, c.bind), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "proxies: 127.0.0.1, networks: 198.51.100.0/24, bind_timeout: "+c.bind, oneShop)
			p := r.dial("127.0.0.1")
			p.write(c.octets)
			if c.stops {
				_ = p.Conn.(*net.TCPConn).CloseWrite()
			}
			p.wantEnd()
			testutil.Eventually(t, "it has left", func() bool { return r.listener.open.Len() == 0 })
			text, n := r.Log.String(), r.listener.Connector.Stats.Headers.Load()
			if n != c.counted || !strings.Contains(text, c.says) || (text == "") != (c.says == "") {
				t.Errorf("%d are counted: %s", n, text)
			}
		})
	}
}

// Connections of proxies that send nothing have as many as there are instances; a client whose proxy has named it has its share of them. Others are
// answered that they may come again, and nothing is left of any when they end, nor when the listener closes.
func TestProxyFull(t *testing.T) {
	t.Parallel()
	r := newRig(t, "proxies: 127.0.0.1, bind_timeout: 10m, instances: 20", oneShop)
	var all []*peer
	for range 20 {
		all = append(all, r.dial("127.0.0.1"))
	}
	testutil.Eventually(t, "all are there", func() bool { return r.listener.open.Len() == 20 })
	full := r.dial("127.0.0.1")
	if w := full.want(503, ""); w.Header.Get("Retry-After") != "5" {
		t.Errorf("%v", w.Header)
	}
	for _, p := range all {
		p.Close()
	}
	testutil.Eventually(t, "they have left", func() bool { return r.listener.open.Len() == 0 })
	for i := range 19 {
		p := r.dial("127.0.0.1")
		p.write(header1 + "POST /ask HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n" + shop + "\r\n")
		if i == 18 {
			p.want(503, "")
		} else {
			p.want(100, "") // it has logged in, and its body is read
		}
	}
	r.dial("127.0.0.1")
}

// Behind a proxy nothing that follows a chunked body is a request: the proxy may have read a length instead.
func TestProxyChunked(t *testing.T) {
	t.Parallel()
	for proxies, closes := range map[string]bool{"proxies: 127.0.0.1": true, "": false} {
		r := newRig(t, proxies, oneShop)
		p := r.dial("127.0.0.1")
		if closes {
			p.write(header1)
		}
		p.write("POST /ask HTTP/1.1\r\nHost: x\r\n" + shop + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
		p.ask("POST /ask", shop, "{}")
		from := map[bool]string{true: client, false: "127.0.0.1"}[closes]
		if w := p.want(202, "shop "+from+" {}"); w.Close != closes {
			t.Errorf("%s: closes %t", proxies, w.Close)
		}
		if closes {
			p.wantEnd()
		} else {
			p.want(202, "shop "+from+" {}")
		}
	}
}

// The places of those who have not logged in are given back by all that go, and by those for which there is no instance.
func TestPlacesGivenBack(t *testing.T) {
	t.Parallel()
	for _, header := range []string{header1, ""} {
		proxies := ""
		if header != "" {
			proxies = "proxies: 127.0.0.1, "
		}
		r := newRig(t, proxies+"instances: 10, bind_timeout: 10m", oneShop, "limits: {prebind: 40, prebind_per_address: 40}")
		for range 50 {
			p := r.dial("127.0.0.1")
			p.write(header)
			_ = p.Conn.(*net.TCPConn).CloseWrite()
			p.wantEnd()
		}
		var all []*peer
		for range 10 {
			all = append(all, r.dial("127.0.0.1"))
		}
		testutil.Eventually(t, "they are there", func() bool { return r.listener.open.Len() >= 9 })
		for range 50 {
			if p := r.dial("127.0.0.1"); header != "" {
				p.want(503, "")
				p.wantEnd()
			}
		}
		for _, p := range all {
			p.Close()
		}
		p := r.dial("127.0.0.1")
		testutil.Eventually(t, "there is room", func() bool {
			p.Close()
			p = r.dial("127.0.0.1")
			p.write(header)
			p.ask("GET /unread", shop, "")
			b, _ := p.in.Peek(12)
			return string(b) == "HTTP/1.1 413"
		})
	}
}

// A proxy that has opened too many connections without a login is answered that it may come again, though no client may come from its address.
func TestProxyPrebind(t *testing.T) {
	t.Parallel()
	r := newRig(t, "proxies: 127.0.0.1, networks: 198.51.100.0/24, bind_timeout: 10m", oneShop, "limits: {prebind: 40, prebind_per_address: 40}")
	for range 20 { // requests have half of them
		r.dial("127.0.0.1")
	}
	testutil.Eventually(t, "they are there", func() bool { return r.listener.open.Len() == 20 })
	p := r.dial("127.0.0.1")
	p.want(503, "")
	p.wantEnd()
}
