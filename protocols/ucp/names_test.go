package ucp

import (
	"testing"

	"pmg/sms"
)

// Names are UTF-8 within the gateway, and one that GSM 7-bit lacks refuses the message.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Müller", "Café", "Åkes Blommö", "ΔΩ", "ACME"} {
		digits, ok := appendName(nil, []byte(name))
		if got, read := decodeName(nil, digits); !ok || !read || string(got) != name {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
	if digits, ok := appendName(nil, []byte("M\xfcller")); !ok { // stored before names were UTF-8
		t.Error("a name in Latin-1 is not sent")
	} else if got, _ := decodeName(nil, digits); string(got) != "Müller" {
		t.Errorf("%q", got)
	}
	var m sms.Message
	m.Set(sms.Address{TON: tonAlphanumeric, Addr: []byte("Акме")}, sms.Address{Addr: []byte("46701740605")}, nil)
	refused := false
	d := &Driver{}
	for row := range d.Lacks(&m, nil).All() {
		refused = refused || d.Losses()[row].Refuse == sms.BadSource
	}
	if !refused {
		t.Error("a name is left out")
	}
}
