package pdulog

import (
	"strings"
	"testing"

	"pmg/protocols"
)

// The standing of a session depends on its logged PDUs, and not on the session's state, which
// may be behind or over.
func TestLogin(t *testing.T) {
	const received, sent = true, false
	f := func(want Standing, passes ...any) {
		t.Helper()
		var l Login
		var got Standing
		for i := 0; i < len(passes); i += 2 {
			got = l.Pass(passes[i].(bool), &fakePDU{step: passes[i+1].(protocols.LoginStep)})
		}
		if got != want {
			t.Errorf("%v: standing %d, want %d", passes, got, want)
		}
	}
	const none, request, accepted = protocols.NoLogin, protocols.LoginRequest, protocols.LoginAccepted
	f(Stranger, received, none)
	f(LoggingIn, received, request)
	f(LoggingIn, received, request, received, none) // a message behind a login
	f(LoggedIn, received, request, sent, accepted)
	f(LoggedIn, received, request, sent, accepted, received, none, sent, none) // also after the session's end
	f(LoggedIn, sent, request, received, accepted)
	// Only the gateway accepts a client.
	f(LoggingIn, received, request, received, accepted)
	f(Stranger, received, accepted)
	f(Stranger, sent, accepted)
	f(LoggingIn, received, request, sent, request, received, accepted)
	f(LoggedIn, received, request, sent, none, received, request, sent, accepted) // refused, and asked again
}

func TestStandingHidesTexts(t *testing.T) {
	f := func(s Standing, p *fakePDU, texts bool, want string) {
		t.Helper()
		if got := string(s.append([]byte("x "), p, texts)); got != "x "+want {
			t.Errorf("standing %d: %.100q, want %q", s, got, want)
		}
	}
	message := &fakePDU{shown: `submit_sm short_message="hello"`, hidden: "submit_sm short_message=*5", text: true}
	other := &fakePDU{shown: "unknown rest=0a", hidden: "unknown rest=*1"}
	long := &fakePDU{shown: strings.Repeat("x", maxEarlyLine+1), hidden: "*1025", text: true}
	for _, p := range []*fakePDU{message, other, long} {
		f(Stranger, p, true, p.hidden)
		f(LoggedIn, p, true, p.shown)
		for _, s := range []Standing{Stranger, LoggingIn, LoggedIn} {
			f(s, p, false, p.hidden)
		}
	}
	f(LoggingIn, message, true, message.shown)
	f(LoggingIn, other, true, other.hidden)
	f(LoggingIn, long, true, long.hidden)
}

// H5: a session that has only asked to log in counts as a stranger for the limit.
func TestStrangersOfFile(t *testing.T) {
	f := mustOpen(t, t.TempDir(), "clients", Options{Text: true})
	defer f.Close()
	p := &fakePDU{shown: strings.Repeat("x", 1000), text: true}
	for range 600 {
		f.Line(0, 1, true, p, LoggingIn, About{})
	}
	if lost := f.Lost(); lost < 110 || lost > 200 {
		t.Errorf("%d of 600 lines of 1000 octets were left out", lost)
	}
	lost := f.Lost()
	f.Line(0, 1, true, p, LoggedIn, About{})
	if f.Lost() != lost {
		t.Error("a line of a session that is logged in is left out")
	}
}
