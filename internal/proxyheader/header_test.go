package proxyheader

import (
	"net/netip"
	"strings"
	"testing"
)

const (
	sig = "\r\n\r\n\x00\r\nQUIT\n"
	v4  = "\xc6\x33\x64\x07\x7f\x00\x00\x01\x9c\x40\x0a\xd7" // 198.51.100.7:40000 to 127.0.0.1:2775
)

var (
	v6      = "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x07" + strings.Repeat("\x00", 15) + "\x01\x9c\x40\x0a\xd7"
	address = netip.MustParseAddrPort("198.51.100.7:40000")
)

// v2 returns a header of version 2.
func v2(command, family byte, rest string) string {
	return sig + string([]byte{command, family, byte(len(rest) >> 8), byte(len(rest))}) + rest
}

// A header names the client, or that the connection is the proxy's own. What is behind it does not belong to
// it, and it is not whole before its last octet.
func TestHeader(t *testing.T) {
	t.Parallel()
	six := netip.MustParseAddrPort("[2001:db8::7]:40000")
	for name, c := range map[string]struct {
		header string
		want   netip.AddrPort
	}{
		"TCP4":           {"PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\r\n", address},
		"TCP6":           {"PROXY TCP6 2001:db8::7 ::1 40000 2775\r\n", six},
		"TCP6 of IPv4":   {"PROXY TCP6 ::ffff:198.51.100.7 ::1 40000 2775\r\n", address},
		"UNKNOWN":        {"PROXY UNKNOWN\r\n", netip.AddrPort{}},
		"UNKNOWN, more":  {"PROXY UNKNOWN ffff::1 ffff::1 65535 65535\r\n", netip.AddrPort{}},
		"2, IPv4":        {v2(0x21, 0x11, v4), address},
		"2, IPv6":        {v2(0x21, 0x21, v6), six},
		"2, IPv4 mapped": {v2(0x21, 0x21, strings.Repeat("\x00", 10)+"\xff\xff"+v4[:4]+v6[16:32]+v4[8:]), address},
		"2, TLVs":        {v2(0x21, 0x11, v4+"\x02\x00\x03abc\x04\x00\x00"), address},
		"2, long":        {v2(0x21, 0x11, v4+"\x28\x0f\xe1"+strings.Repeat("x", 0xfe1)), address},
		"2, LOCAL":       {v2(0x20, 0x00, ""), netip.AddrPort{}},
		"2, LOCAL, more": {v2(0x20, 0x11, v4), netip.AddrPort{}},
	} {
		for _, behind := range []string{"", "\x00\x00\x00\x10", "\n"} {
			n, whole, err := Extent([]byte(c.header + behind))
			if n != len(c.header) || !whole || err != nil {
				t.Fatalf("%s: %d of %d octets, whole %v, %v", name, n, len(c.header), whole, err)
			}
		}
		for n := range len(c.header) {
			if got, whole, err := Extent([]byte(c.header[:n])); got != n || whole || err != nil {
				t.Errorf("%s, the first %d octets: %d, whole %v, %v", name, n, got, whole, err)
			}
		}
		if got, err := Client([]byte(c.header)); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if !Begins([]byte(c.header)) {
			t.Errorf("%s does not begin as a header", name)
		}
	}
}

// What is no header, or lies, is refused: as soon as that is seen, or when it is whole.
func TestHeaderRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ header, want string }{
		"a PDU":              {"\x00\x00\x00\x10\x00\x00\x00\x15", "it is missing"},
		"a frame":            {"\x0200/00035/O/31", "it is missing"},
		"a ClientHello":      {"\x16\x03\x01\x02\x00", "it is missing"},
		"another word":       {"PROXYTCP4 198.51.100.7", "it is missing"},
		"another signature":  {"\r\n\r\n\x00\r\nEXIT\n", "it is missing"},
		"no end":             {"PROXY UNKNOWN " + strings.Repeat("x", 200), "more than 107"},
		"2, too long":        {v2(0x21, 0x11, v4+strings.Repeat("x", MaxHeader)), "at most 4096 are allowed"},
		"no CR":              {"PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\n", `\r\n`},
		"port 99999":         {"PROXY TCP4 198.51.100.7 127.0.0.1 99999 2775\r\n", "port"},
		"a negative port":    {"PROXY TCP4 198.51.100.7 127.0.0.1 -1 2775\r\n", "port"},
		"no port":            {"PROXY TCP4 198.51.100.7 127.0.0.1 40000\r\n", "protocol"},
		"a name":             {"PROXY TCP4 localhost 127.0.0.1 40000 2775\r\n", "address"},
		"a zone":             {"PROXY TCP6 fe80::1%eth0 ::1 40000 2775\r\n", "address"},
		"family IPv4":        {"PROXY TCP4 2001:db8::7 ::1 40000 2775\r\n", "address"},
		"family IPv6":        {"PROXY TCP6 198.51.100.7 127.0.0.1 40000 2775\r\n", "address"},
		"UDP":                {"PROXY UDP4 198.51.100.7 127.0.0.1 40000 2775\r\n", "protocol"},
		"2, no family":       {v2(0x21, 0x00, ""), "family"},
		"2, version 3":       {v2(0x31, 0x11, v4), "version"},
		"2, command 2":       {v2(0x22, 0x11, v4), "command"},
		"2, too short":       {v2(0x21, 0x11, v4[:11]), "length"},
		"2, IPv6 in 12":      {v2(0x21, 0x21, v4), "length"},
		"2, family 4":        {v2(0x21, 0x41, v4), "family"},
		"2, UDP":             {v2(0x21, 0x12, v4), "no TCP address"},
		"2, a unix socket":   {v2(0x21, 0x31, strings.Repeat("x", 216)), "no TCP address"},
		"2, a TLV cut":       {v2(0x21, 0x11, v4+"\x02\x00"), "TLV"},
		"2, a TLV too long":  {v2(0x21, 0x11, v4+"\x02\xff\xffabc"), "TLV"},
		"2, TLVs of letters": {v2(0x21, 0x11, v4+"nonsense"), "TLV"},
	} {
		_, whole, err := Extent([]byte(c.header))
		if whole && err == nil {
			_, err = Client([]byte(c.header))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: whole %v, %v", name, whole, err)
		}
	}
}

// However the octets come, the same ones belong to the header, and the header is read with none left over.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{
		"PROXY TCP4 198.51.100.7 127.0.0.1 40000 2775\r\n\x00\x00\x00\x10", "PROXY UNKNOWN\r\n", "PROXY \n", "PROXY",
		v2(0x21, 0x11, v4+"\x02\x00\x03abc") + "\x16\x03\x01", v2(0x20, 0x00, ""), v2(0x21, 0x21, v6), sig,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		in = in[:min(len(in), 2*MaxHeader)]
		all, whole, err := Extent(in)
		if err == nil && (all > MaxHeader || all > len(in) || whole && all == 0 || !whole && all < len(in)) {
			t.Fatalf("%d of %d octets, whole %v", all, len(in), whole)
		}
		for n := range min(len(in), MaxHeader) {
			got, ends, ferr := Extent(in[:n])
			switch {
			case err != nil: // it may be seen later
			case ferr != nil:
				t.Fatalf("refused after %d octets: %v", n, ferr)
			case ends != (whole && n >= all) || got != min(n, all):
				t.Fatalf("%d of the first %d octets, whole %v", got, n, ends)
			}
		}
		if !whole || err != nil {
			return
		}
		if a, err := Client(in[:all]); err == nil && a.IsValid() && a.Addr().Is4In6() {
			t.Fatal(a)
		}
	})
}
