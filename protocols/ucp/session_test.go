package ucp

import (
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/sms"
)

// TRNs run from 00 to 99 and again, without those that are taken or were given out and
// not answered.
func TestNextSequence(t *testing.T) {
	var s session
	taken := map[uint32]bool{3: true}
	s.o.Taken = func(n uint32) bool { return taken[n] }
	f := func(want uint32) {
		t.Helper()
		if got := s.NextSequence(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	f(0)
	f(1)
	f(2)
	f(4)
	for n := uint32(5); n < trns; n++ {
		f(n)
	}
	for _, n := range []uint8{50, 2} { // only these are answered
		s.ours.asks(uint32(n), Submit)
		if s.ours.answered(n, Deliver) || !s.ours.answered(n, Submit) || s.ours.answered(n, Submit) {
			t.Errorf("%d is answered by another operation, or not, or twice", n)
		}
	}
	f(2)
	f(50)
	taken[0] = true // it is under way
	f(1)            // given out first of those that nobody answered
	f(4)
	delete(taken, 0)
	f(0)
}

// With as many requests under way as there may be, there is always a TRN, and never one
// of theirs, whatever the order of the answers.
func TestWindowIsFull(t *testing.T) {
	var s session
	under := map[uint32]bool{}
	s.o.Taken = func(n uint32) bool { return under[n] }
	var order []uint32
	for i := range 5000 {
		n := s.NextSequence()
		if under[n] {
			t.Fatalf("%d is under way", n)
		}
		s.ours.asks(n, Submit)
		under[n] = true
		if order = append(order, n); len(order) == NewConnectorOptions().MaxWindow() {
			at := i * 37 % len(order)
			done := order[at]
			order = append(order[:at], order[at+1:]...)
			if !s.ours.answered(uint8(done), Submit) {
				t.Fatalf("%d was not given out", done)
			}
			delete(under, done)
		}
	}
}

// A TRN that was given out and is not under way yet does not come round.
func TestGivenOutIsNotGivenAgain(t *testing.T) {
	var s session
	seen := map[uint32]bool{}
	for range trns {
		n := s.NextSequence()
		if seen[n] {
			t.Fatalf("%d twice", n)
		}
		seen[n] = true
	}
}

// loggedIn returns a session of a role whose peer has logged in, or accepted our login.
func loggedIn(t testing.TB, role protocols.Role, o *ConnectorOptions) *session {
	t.Helper()
	s := New(Options{}).NewSession(protocols.SessionOptions{Role: role, SystemID: "pmg", Options: o}).(*session)
	var p PDU
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	s.Start(now, &p)
	if role == protocols.Client {
		p.answer(sms.OK)
		if a := s.Receive(now, &p); a.Kind != protocols.Bound {
			t.Fatalf("got %+v", a)
		}
		return s
	}
	if err := p.Decode(frameOf(0, loginLine)); err != nil {
		t.Fatal(err)
	}
	if a := s.Receive(now, &p); a.Kind != protocols.Login || string(a.Credentials.SystemID) != "acme" || string(a.Credentials.Password) != "s3cret" {
		t.Fatalf("got %+v", a)
	}
	if a := s.Login(now, &p, sms.OK); a.Kind != protocols.Send || s.Bound() != protocols.Transceiver {
		t.Fatalf("got %+v", a)
	}
	return s
}

// A message with the TRN of one that is not answered yet is passed over; when that is
// answered, the TRN may be used again.
func TestTRNInUse(t *testing.T) {
	s := loggedIn(t, protocols.Server, nil)
	receive := func(trn uint8, want protocols.ActionKind) *PDU {
		t.Helper()
		p := new(PDU)
		if err := p.Decode(frameOf(trn, "O/51/1/2/////////////////3//41/////////////")); err != nil {
			t.Fatal(err)
		}
		if a := s.Receive(1, p); a.Kind != want {
			t.Errorf("TRN %d: %s, want %s", trn, a.Kind, want)
		}
		return p
	}
	first := receive(7, protocols.Message)
	receive(7, protocols.None)
	other := receive(99, protocols.Message)
	s.Answer(first, sms.OK, 1)
	receive(99, protocols.None)
	s.Answer(receive(7, protocols.Message), sms.Throttled, 0)
	s.Answer(other, sms.OK, 2)
	receive(99, protocols.Message)
}

// A6: messages that all have one TRN, or results that answer nothing, are a flood, because the
// gateway logs each.
func TestTRNFlood(t *testing.T) {
	for _, line := range []string{"O/51/1/2/////////////////3//41/////////////", "R/53/A///"} {
		s := loggedIn(t, protocols.Server, nil)
		for n := 0; ; n++ {
			p := new(PDU)
			_ = p.Decode(frameOf(7, line))
			a := s.Receive(1, p)
			if a.Kind == protocols.Close {
				break
			}
			if n > 200 {
				t.Fatalf("%s: the session goes on", line)
			}
		}
	}
}

// The transcripts' frames, split at every octet, have the same results.
func TestSplitAtEveryOctet(t *testing.T) {
	d := New(Options{})
	in := append(frameOf(0, loginLine), "\r\n"...)
	in = append(in, frameOf(1, "O/51/1/2/////////////////3//41/////////////")...)
	in = append(in, "\x02noise"...)
	in = append(in, frameOf(2, "O/31/1/0539/")...)
	play := func(cuts ...int) string {
		s := prototest.NewSession(d, protocols.SessionOptions{})
		from := 0
		for _, cut := range append(cuts, len(in)) {
			s.Write(in[from:cut])
			from = cut
		}
		return string(s.Read())
	}
	want := play()
	if n := strings.Count(want, string(rune(etx))); n != 3 {
		t.Fatalf("%d frames: %q", n, want)
	}
	for cut := range in {
		if got := play(cut); got != want {
			t.Fatalf("cut at %d: got %q, want %q", cut, got, want)
		}
	}
}

// A password comes as GSM codes, or as ASCII.
func TestPassword(t *testing.T) {
	for _, password := range []string{"s3cret", "a@b_c$", "[x]{y}|~^\\", ""} {
		if got := decodePassword(nil, appendPassword(nil, password)); string(got) != password {
			t.Errorf("%q is %q", password, got)
		}
	}
	if got := decodePassword(nil, appendHex(nil, []byte("a_b[c]"))); string(got) != "a_b[c]" {
		t.Errorf("in ASCII: %q", got)
	}
	if got := string(appendPassword(nil, "a_[")); got != "61111B3C" {
		t.Error(got)
	}
}

// A login does not know what a connector may be called, but what UCP can write.
func TestCheckLogin(t *testing.T) {
	f := func(o ConnectorOptions, systemID, password string, want ...string) {
		t.Helper()
		problems := o.CheckLogin(systemID, password)
		if len(problems) != len(want) {
			t.Fatalf("%v, want %q", problems, want)
		}
		for i, p := range problems {
			if p.Option != want[i] || p.Warning {
				t.Errorf("%+v, want %s", p, want[i])
			}
		}
	}
	o := *NewConnectorOptions()
	f(o, "1234", "s3cret")
	f(o, "12345678901234567", "12345678901234567", "system_id", "password")
	f(o, "a/b", "a`b", "system_id", "password")
	f(o, "a", "ä", "password")
	o.Timezone, o.InternationalPrefix = "Nowhere/Land", "+"
	f(o, "a", "b", "timezone", "international_prefix")
	if o.MaxWindow() != 99 || o.BindType() != protocols.Transceiver {
		t.Error("window or bind type")
	}
}
