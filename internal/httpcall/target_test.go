package httpcall

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"pmg/sms"
)

// names is a name server, which answers each question with the next of some answers: addresses of IPv4, or nothing.
func names(t *testing.T, answers ...string) *net.Resolver {
	var asked atomic.Int32
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		go func() {
			defer func() { _ = theirs.Close() }()
			var length [2]byte // net.Pipe is a stream, so lengths stand in front
			if _, err := io.ReadFull(theirs, length[:]); err != nil {
				return
			}
			question := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(theirs, question); err != nil {
				return
			}
			answer := resolve(question, func() string { return answers[min(int(asked.Add(1)), len(answers))-1] })
			_, _ = theirs.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
		}()
		return mine, nil
	}}
}

// resolve answers a question (RFC 1035 §4.1). Those for addresses of IPv6 have no answer.
func resolve(question []byte, next func() string) []byte {
	end := 12
	for question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 5
	a := append([]byte(nil), question[:end]...)
	a[2], a[3] = 0x81, 0x80
	clear(a[6:12])
	if binary.BigEndian.Uint16(question[end-4:]) != 1 {
		return a
	}
	addresses := next()
	if addresses == "" {
		a[3] |= 3 // there is no such name
		return a
	}
	for address := range strings.SplitSeq(addresses, " ") {
		a[7]++
		a = append(a, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		a = append(a, netip.MustParseAddr(address).AsSlice()...)
	}
	return a
}

// at serves on an address, and returns its port. It keeps no connection.
func at(t *testing.T, address string, calls *atomic.Int32) (port string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("this machine has no", address)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Connection", "close")
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// A name of a client reaches public addresses only, whatever it resolves to, and however often it changes that.
func TestNames(t *testing.T) {
	t.Parallel()
	var inner, outer atomic.Int32
	port := at(t, "127.0.0.1:0", &inner)
	at(t, "127.0.0.2:"+port, &outer)
	to := Target{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}} // stands for a public one
	f := func(answers string, to Target, err string) {
		t.Helper()
		c := newCaller(t, Options{resolver: names(t, strings.Split(answers, ",")...)})
		for i, want := range strings.Split(err, ",") {
			o := c.Do(t.Context(), post("http://hook.example.net:"+port+"/"), to)
			if o.Err != want || (o.Code == sms.OK) != (want == "") {
				t.Errorf("%s, call %d: %+v, want %q", answers, i, o, want)
			}
		}
	}
	const private = "its address 127.0.0.1 is not public"
	f("127.0.0.2", to, "")
	f("127.0.0.1", to, private)
	f("127.0.0.2,127.0.0.1,127.0.0.2", to, ","+private+",")
	f("127.0.0.1 127.0.0.2", to, "") // the one that is allowed
	f("10.0.0.1", Target{}, "its address 10.0.0.1 is not public")
	f("169.254.169.254", Target{}, "its address 169.254.169.254 is not public")
	f("", Target{}, "does not resolve")
	if inner.Load() != 0 || outer.Load() != 4 {
		t.Errorf("%d reached 127.0.0.1, %d 127.0.0.2", inner.Load(), outer.Load())
	}
	f("127.0.0.1", Target{Trusted: true}, "")
}

// However the address of this machine is written, a client's URL does not lead to it.
func TestSpellings(t *testing.T) {
	t.Parallel()
	var inner atomic.Int32
	port := at(t, "127.0.0.1:0", &inner)
	c := newCaller(t, Options{resolver: names(t, "127.0.0.1")})
	for host := range strings.FieldsSeq(`localhost LOCALHOST localhost. 127.0.0.1 127.0.0.1. 127.1 0x7f.1 0x7f000001 2130706433 017700000001 0 0.0.0.0 [::] [::1]
		[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1%25lo] 127.0.0.1%2f 127。0。0。1 ①②⑦.0.0.1`) {
		if o := c.Do(t.Context(), post("http://"+host+":"+port+"/"), Target{}); o.Err == "" {
			t.Errorf("%s: %+v", host, o)
		}
	}
	if n := inner.Load(); n != 0 {
		t.Errorf("%d calls have reached 127.0.0.1", n)
	}
}

// A connection to a trusted URL is not for a client that names the same URL.
func TestClasses(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := newCaller(t, Options{})
	f := func(to Target, want string) {
		t.Helper()
		if o := c.Do(t.Context(), post(s.URL), to); o.Err != want {
			t.Errorf("%+v: %+v, want %q", to, o, want)
		}
	}
	f(Target{Trusted: true}, "")
	f(Target{}, "its address 127.0.0.1 is not public")
	f(loopback(), "")
	f(Target{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "its address 127.0.0.1 is not public")
	for i := range 2 * maxClasses {
		f(Target{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.PrefixFrom(netip.AddrFrom4([4]byte{1, 2, 3, byte(i)}), 32)}}, "")
	}
	if n := len(c.senders); n > maxClasses {
		t.Errorf("%d classes are kept", n)
	}
	f(Target{}, "its address 127.0.0.1 is not public")
}

// Nothing listens there.
func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if o := newCaller(t, Options{}).Do(t.Context(), post("http://"+l.Addr().String()), loopback()); o.Err != "refused the connection" {
		t.Errorf("%+v", o)
	}
}

// Which addresses are public, in each of the forms that they can have.
func TestAddresses(t *testing.T) {
	t.Parallel()
	g := newGuardian(nil)
	f := func(want bool, addresses string) {
		t.Helper()
		for text := range strings.FieldsSeq(addresses) {
			if err := checkAddress(g, netip.MustParseAddr(text)); (err == nil) != want {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	f(true, "1.1.1.1 8.8.8.8 193.0.6.139 ::ffff:1.1.1.1 2606:4700:4700::1111 2a00:1450:4001:80b::200e")
	f(false, "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255")
	f(false, ":: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 fc00::1 fd12::1 fe80::1 fe80::1%lo fec0::1 ff02::1")
}
