package smpp

import (
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// Names are UTF-8 within the gateway, and in the charset of the connector at the peer.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ names, octets, name string }{
		{"latin1", "M\xfcller", "Müller"}, {"utf-8", "M\xc3\xbcller", "Müller"}, {"gsm7", "M\x7eller", "Müller"}, {"latin1", "ACME", "ACME"},
		{"gsm7", "\x05\x11", "é_"},
	} {
		o := NewConnectorOptions()
		o.Names = c.names
		a := o.addressOf(tonAlphanumeric, 0, []byte(c.octets))
		if string(a.Addr) != c.name {
			t.Errorf("%s: %q is read as %q", c.names, c.octets, a.Addr)
		}
		if octets, ok := o.octetsOf(a); !ok || string(octets) != c.octets {
			t.Errorf("%s: %q is written as %q", c.names, c.name, octets)
		}
	}
	o := NewConnectorOptions()
	if a := o.addressOf(tonAlphanumeric, 0, []byte("M\xc3\xbcller")); string(a.Addr) != "Müller" {
		t.Errorf("%q", a.Addr)
	}
	if octets, _ := o.octetsOf(sms.Address{TON: tonAlphanumeric, Addr: []byte("M\xfcller")}); string(octets) != "M\xfcller" { // stored before
		t.Errorf("%q", octets)
	}
	var m sms.Message
	m.Set(sms.Address{TON: tonAlphanumeric, Addr: []byte("Акме")}, sms.Address{Addr: []byte("46701740605")}, nil)
	refuses := func(o *ConnectorOptions) (refused bool) {
		for row := range new(Driver).Lacks(&m, o).All() {
			refused = refused || losses[row].Refuse == sms.BadSource
		}
		return refused
	}
	if !refuses(o) {
		t.Error("a name that the peer cannot be sent is not refused")
	}
	if o.Names = namesUTF8; refuses(o) {
		t.Error("a name is refused that the peer can be sent")
	}
	if octets := o.written(sms.Address{Addr: []byte(strings.Repeat("1", 30))}, 21); octets != nil {
		t.Errorf("%q", octets)
	}
	var _ protocols.Options = o
}
