package smpp

import (
	"testing"

	"pmg/sms"
)

func TestTablesAreInOrder(t *testing.T) {
	for i := 1; i < len(statuses); i++ {
		if statuses[i-1].number >= statuses[i].number {
			t.Errorf("status %#x is out of order", statuses[i].number)
		}
	}
	for i := 1; i < len(parameters); i++ {
		if parameters[i-1].tag >= parameters[i].tag {
			t.Errorf("parameter %#x is out of order", parameters[i].tag)
		}
	}
	for _, p := range parameters {
		if p.least > p.size || p.kind == integer && p.least != p.size || findParameter([]byte(p.name)) != findTag(p.tag) {
			t.Errorf("parameter %s is not right", p.name)
		}
	}
	for i, c := range commands {
		if c.id.row() != i {
			t.Errorf("%s is not found by its id", c.name)
		}
		if answer := c.id | Response; i > 0 && !c.id.IsResponse() && (answer.row() != 0) != c.id.isAnswered() {
			t.Errorf("%s is answered: %t", c.name, !c.id.isAnswered())
		}
	}
}

// Every code has a status that maps back to the same code. Codes for outcomes inside the
// gateway are never sent to a peer, so they have no status.
func TestCodesAndStatuses(t *testing.T) {
	for _, code := range sms.Codes() {
		switch code {
		case sms.Timeout, sms.Lost, sms.Expired, sms.Faulty, sms.Deleted, sms.Undecided:
			if got := statusOf(code); got != StatusSysErr {
				t.Errorf("%s is answered with %#x", code, got)
			}
			continue
		case sms.OptedOut: // which is a way to be blocked
			if got := statusOf(code); got != statusOf(sms.Blocked) {
				t.Errorf("%s is answered with %#x", code, got)
			}
			continue
		case sms.NoCredit: // for which SMPP has no status of its own
			if got := statusOf(code); got != statusOf(sms.Throttled) {
				t.Errorf("%s is answered with %#x", code, got)
			}
			continue
		case sms.NoPrice: // neither for that
			if got := statusOf(code); got != statusOf(sms.Rejected) {
				t.Errorf("%s is answered with %#x", code, got)
			}
			continue
		}
		if got := codeOf(statusOf(code)); got != code {
			t.Errorf("%s is answered with %#x, which is %s", code, statusOf(code), got)
		}
		if got := codeOf(statusOf(code)); got.Retryable() != code.Retryable() {
			t.Errorf("%s and its status differ in Retryable", code)
		}
	}
	answered := map[sms.Code]bool{}
	for _, s := range statuses {
		if codeOf(s.number) != s.code || StatusName(s.number) != s.name {
			t.Errorf("%s is not found by its number", s.name)
		}
		if s.code == sms.OK && s.number != StatusOK {
			t.Errorf("%s counts as success", s.name)
		}
		if s.sent && answered[s.code] {
			t.Errorf("%s is answered with two statuses", s.code)
		}
		answered[s.code] = answered[s.code] || s.sent
	}
	d := New(Options{})
	if d.Meaning(StatusThrottled) != "allowed message limits exceeded; throttled" || d.Meaning(StatusOK) != "" || d.Meaning(0x22) != "" {
		t.Error("what statuses mean")
	}
	if codeOf(0x22) != sms.Rejected || StatusName(0x22) != "" {
		t.Error("a status that is not assigned has a meaning")
	}
}
