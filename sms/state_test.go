package sms

import "testing"

// Every state has a name of its own, and those that are not final are known.
func TestStates(t *testing.T) {
	names := map[string]bool{}
	for _, s := range States() {
		if name := s.String(); name == "" || names[name] {
			t.Errorf("state %d is called %q", s, name)
		} else {
			names[name] = true
		}
		if moving := s == StateScheduled || s == StateEnroute || s == StateAccepted; s.Final() == moving {
			t.Errorf("%s: final is %t", s, s.Final())
		}
	}
	if len(names) != 10 || NoState.Final() || State(99).Final() || State(99).String() != "unknown" {
		t.Errorf("%d names", len(names))
	}
}
