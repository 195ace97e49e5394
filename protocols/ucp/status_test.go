package ucp

import (
	"testing"

	"pmg/sms"
)

func TestTablesAreInOrder(t *testing.T) {
	for i := 1; i < len(statuses); i++ {
		if statuses[i-1].number >= statuses[i].number {
			t.Errorf("error code %d is out of order", statuses[i].number)
		}
	}
	for i := 1; i < len(reasons); i++ {
		if reasons[i-1].number >= reasons[i].number {
			t.Errorf("reason %d is out of order", reasons[i].number)
		}
	}
	for i, s := range services {
		if int(s.number) != i+1 || findService(s.number) != &services[i] {
			t.Errorf("service %02X is out of order", s.number)
		}
	}
	for i := range operations {
		o := &operations[i]
		if row(o.ot) != o || i > 0 && operations[i-1].ot >= o.ot {
			t.Errorf("%s is out of order", o.name)
		}
	}
	if findService(0) != nil || findService(0x7F) != nil || row(99) != &operations[0] || row(255) != &operations[0] {
		t.Error("what is not there is found")
	}
}

// Every code has an error code, which means the same to a peer: that code again, or
// one that says as well whether to try again.
func TestCodesAndErrorCodes(t *testing.T) {
	// UCP has no codes for these, and a client that tries again does no harm.
	final := map[sms.Code]bool{sms.BadState: true, sms.AlreadyBound: true, sms.Expired: true, sms.Faulty: true, sms.Deleted: true}
	for _, code := range sms.Codes() {
		if code == sms.OK {
			continue
		}
		got := codeOf(ecOf(code))
		if got.Retryable() != code.Retryable() && !final[code] {
			t.Errorf("%s is answered with %d, which is %s", code, ecOf(code), got)
		}
		if own := ownCode(code); own == code && got != code && !final[code] && code != sms.Timeout && code != sms.Lost {
			t.Errorf("%s is answered with %d, which is %s", code, ecOf(code), got)
		}
	}
	answered := map[sms.Code]bool{}
	for _, s := range statuses {
		if codeOf(s.number) != s.code || StatusName(uint32(s.number)) != s.name || s.code == sms.OK {
			t.Errorf("%s is not found by its number, or counts as success", s.name)
		}
		if s.sent && answered[s.code] {
			t.Errorf("%s is answered with two error codes", s.code)
		}
		answered[s.code] = answered[s.code] || s.sent
	}
	if codeOf(99) != sms.Rejected || codeOf(200) != sms.Rejected || StatusName(99) != "" {
		t.Error("an error code that is not assigned has a meaning")
	}
	listed := 0
	for number, name := range New(Options{}).Statuses() {
		if StatusName(number) != name {
			t.Errorf("%d is %q", number, name)
		}
		listed++
	}
	if listed != len(statuses) {
		t.Errorf("%d are listed", listed)
	}
}

// What the reasons mean.
func TestStates(t *testing.T) {
	f := func(dst byte, rsn int, want state) {
		t.Helper()
		if got := stateOf(dst, rsn); got != want || want != expired && want != rejected && dstOf([]byte(got)) != dst {
			t.Errorf("%c %d is %s, want %s", dst, rsn, got, want)
		}
	}
	f('0', 0, delivered)
	f('0', 107, delivered)
	f('1', 108, buffered)
	f('2', 107, undeliverable)
	f('2', 10, expired)
	f('2', 206, rejected)
	f('2', 250, undeliverable)
}
