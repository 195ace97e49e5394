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
		if reasons[i-1].Number >= reasons[i].Number {
			t.Errorf("reason %d is out of order", reasons[i].Number)
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
		if own := ownCode(code); own == code && got != code && !final[code] && code != sms.Timeout && code != sms.Lost && code != sms.Undecided {
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
	if d := New(Options{}); d.Meaning(ecAdC) != "permanent" || d.Meaning(99) != "" {
		t.Error("what error codes mean")
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
	f := func(dst byte, rsn int, want sms.State) {
		t.Helper()
		got := stateOf(dst, rsn)
		if got != want || want != sms.StateUnknown && dstOf(got) != dst {
			t.Errorf("%c %d is %s, want %s", dst, rsn, got, want)
		}
	}
	f('0', 0, sms.StateDelivered)
	f('0', 107, sms.StateDelivered)
	f('1', 108, sms.StateEnroute)
	f('2', 107, sms.StateUndeliverable)
	f('2', 10, sms.StateExpired)
	f('2', 206, sms.StateRejected)
	f('2', 250, sms.StateUndeliverable)
	f('3', 0, sms.StateUnknown)
}

// What notifications say of each state, and what is read of that again.
func TestReasonsOfStates(t *testing.T) {
	f := func(r sms.Report, dst byte, rsn int, back sms.State) {
		t.Helper()
		if got := dstOf(r.State); got != dst || reasonOf(&r) != rsn || stateOf(got, rsn) != back {
			t.Errorf("%+v: %c %d, which is %s; want %c %d, %s", r, got, reasonOf(&r), stateOf(got, reasonOf(&r)), dst, rsn, back)
		}
	}
	f(sms.Report{State: sms.StateScheduled}, '1', 0, sms.StateEnroute)
	f(sms.Report{State: sms.StateEnroute}, '1', 0, sms.StateEnroute)
	f(sms.Report{State: sms.StateEnroute, Err: []byte("107")}, '1', 107, sms.StateEnroute)
	f(sms.Report{State: sms.StateDelivered, Err: []byte("003")}, '0', 0, sms.StateDelivered)
	f(sms.Report{State: sms.StateExpired}, '2', 10, sms.StateExpired)
	f(sms.Report{State: sms.StateDeleted}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateUndeliverable, Err: []byte("000")}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateUndeliverable, Err: []byte("107")}, '2', 107, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateUndeliverable, Err: []byte("21b")}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateUndeliverable, Err: []byte("1107")}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateUndeliverable, Network: 8, NetworkError: 101}, '2', 101, sms.StateRejected)
	f(sms.Report{State: sms.StateUndeliverable, Network: 3, NetworkError: 101}, '2', 108, sms.StateUndeliverable) // GSM's own numbers
	f(sms.Report{State: sms.StateUndeliverable, Network: 8, NetworkError: 0}, '2', 0, sms.StateRejected)
	f(sms.Report{State: sms.StateAccepted}, '1', 0, sms.StateEnroute)
	f(sms.Report{State: sms.StateUnknown}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateRejected}, '2', 108, sms.StateUndeliverable)
	f(sms.Report{State: sms.StateSkipped}, '2', 108, sms.StateUndeliverable)
}
