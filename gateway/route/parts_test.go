package route

import (
	"fmt"
	"testing"

	"pmg/connector"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/sms/userdata"
)

// A partDriver's native parts are references, and perhaps how many parts there are.
type partDriver struct{ protocols.Driver }

func (partDriver) Part(m *sms.Message) (userdata.Part, bool) {
	native := m.Native(protocols.SMPP)
	p := userdata.Part{Reference: uint16(native[0])}
	if len(native) > 1 {
		p.Total = native[1]
	}
	return p, native[0] != 0
}

func (partDriver) SetPart(*sms.Message, userdata.Part) {}

// The parts of a long message take the same target of a weighted route, and long messages are
// shared by weight as others are.
func TestPartsStayTogether(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[{connector: a, weight: 2}, {connector: b, weight: 1}, {connector: c, weight: 1}]")
	tb.routes.Load().addDriver(partDriver{toy.New()})
	for form, fill := range map[string]func(m *sms.Message, message, part int){
		"8 bits": func(m *sms.Message, message, part int) {
			m.Flags |= sms.HasHeader
			m.Set(m.Source(), m.Dest(), []byte{5, 0, 3, byte(message), 3, byte(part), 'x'})
		},
		"16 bits": func(m *sms.Message, message, part int) {
			m.Flags |= sms.HasHeader
			m.Set(m.Source(), m.Dest(), []byte{6, 8, 4, byte(message >> 8), byte(message), 3, byte(part), 'x'})
		},
		"of the protocol": func(m *sms.Message, message, _ int) { m.SetNative(protocols.SMPP, []byte{byte(1 + message)}) },
		"split by the gateway": func(m *sms.Message, message, part int) {
			m.ID, m.Part, m.Parts = uint64(3*message+part), uint8(part-1), 3
		},
	} {
		shares := map[*connector.Lane]int{}
		for message := range 200 {
			lanes := map[*connector.Lane]bool{}
			for part := 1; part <= 3; part++ {
				m := submitted(tb)
				fill(m, message, part)
				lane := tb.Route(m)
				lanes[lane] = true
				shares[lane]++
				tb.Route(submitted(tb)) // other messages come between them
			}
			if len(lanes) != 1 {
				t.Fatalf("%s: the parts of message %d take %d targets", form, message, len(lanes))
			}
		}
		if n := shares[tb.LaneOf(tb.Connector("a"))]; n < 200 || n > 400 || len(shares) != 3 {
			t.Errorf("%s: %d of 600 go to a, which has half of the weight", form, n)
		}
	}
}

// A message that is whole, or whose header cannot be read, takes any target.
func TestWholeMessages(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[{connector: a, weight: 1}, b]")
	tb.routes.Load().addDriver(partDriver{toy.New()})
	for _, text := range []string{"", "\x05\x00\x03\x07\x01\x01x", "\x05\x00\x03\x07\x03\x04x", "\x09\x00\x03", "\x03\x24\x01\x01x"} {
		m := submitted(tb)
		m.Flags |= sms.HasHeader
		m.Set(m.Source(), m.Dest(), []byte(text))
		if n := tb.togetherOf(m); n != 0 {
			t.Errorf("%q has the number %d", text, n)
		}
	}
	m := submitted(tb)
	if m.SetNative(protocols.SMPP, []byte{0}); tb.togetherOf(m) != 0 || tb.togetherOf(submitted(tb)) != 0 {
		t.Error("a message that is whole has a number")
	}
}

// A part says which one it is in its header, or in the protocol's own field, if it has no header.
func TestPartOf(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[a]")
	tb.routes.Load().addDriver(partDriver{toy.New()})
	for name, c := range map[string]struct {
		header, native, text string
		want                 byte // the reference; 0: it is whole
	}{
		"header":          {"\x05\x00\x03\x07\x02\x01", "", "text", 7},
		"native":          {"", "\x08\x02", "text", 8},
		"both":            {"\x05\x00\x03\x07\x02\x01", "\x08\x02", "text", 7},
		"other header":    {"\x03\x24\x01\x01", "\x08\x02", "text", 0},
		"whole":           {"", "", "text", 0},
		"one of one":      {"", "\x08\x01", "text", 0},
		"no native parts": {"", "\x00\x02", "text", 0},
	} {
		m := submitted(tb)
		m.Set(m.Source(), m.Dest(), []byte(c.header+c.text))
		if c.header != "" {
			m.Flags |= sms.HasHeader
		}
		if c.native != "" {
			m.SetNative(protocols.SMPP, []byte(c.native))
		}
		p, text, ok := tb.PartOf(m)
		if ok != (c.want != 0) || ok && (p.Reference != uint16(c.want) || string(text) != c.text) {
			t.Errorf("%s: %v, %+v, %q", name, ok, p, text)
		}
	}
}

// Messages are distinguished by account, addresses and reference.
func TestHashOf(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[a]")
	seen := map[uint64]string{}
	for _, account := range []string{"client", "other"} {
		for _, addresses := range [][2]string{{"1", "22"}, {"12", "2"}, {"1", "23"}, {"3", "22"}} {
			for reference := range uint64(300) {
				m := submitted(tb)
				m.Origin = &sms.Origin{Account: account}
				m.Set(sms.Address{Addr: []byte(addresses[0])}, sms.Address{Addr: []byte(addresses[1])}, nil)
				what := fmt.Sprint(account, addresses, reference)
				if n := hashOf(m, reference); n == 0 || seen[n] != "" {
					t.Errorf("%s and %s have the same number %d", what, seen[n], n)
				} else {
					seen[n] = what
				}
			}
		}
	}
}

// Looking for parts allocates nothing.
func TestTogetherAllocates(t *testing.T) {
	tb := trio(t, "[{connector: a, weight: 1}, b]")
	m := submitted(tb)
	m.Flags |= sms.HasHeader
	m.Set(m.Source(), m.Dest(), []byte("\x05\x00\x03\x07\x03\x01x"))
	if n := testing.AllocsPerRun(100, func() { tb.togetherOf(m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
