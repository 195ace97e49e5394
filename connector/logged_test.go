package connector

import (
	"testing"

	"pmg/connector/account"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// U7: an answer is logged with the id of the message that its request carried, even if it is
// late or comes twice. Other PDUs with the same sequence number are logged without an id.
func TestAbout(t *testing.T) {
	d := newDesk(t, "window: 10")
	l := d.connect()
	acme := &sms.Origin{Account: "acme", Tally: &sms.Tally{}}
	for n := uint32(1); n <= 20; n++ {
		m := &sms.Message{ID: 100 + uint64(n), Origin: acme}
		if got := l.About(false, &toy.PDU{Number: n}, m, 0); got != (pdulog.About{ID: m.ID, Account: "acme"}) {
			t.Errorf("request %d: %+v", n, got)
		}
	}
	f := func(why string, received bool, p toy.PDU, id uint64, want pdulog.About) {
		t.Helper()
		if got := l.About(received, &p, nil, id); got != want {
			t.Errorf("%s: got %+v, want %+v", why, got, want)
		}
	}
	for range 2 {
		f("an answer", true, toy.PDU{Number: 7, IsReply: true}, 0, pdulog.About{ID: 107, Account: "acme"})
	}
	f("a request of the peer", true, toy.PDU{Number: 7}, 0, pdulog.About{})
	f("an answer of ours", false, toy.PDU{Number: 7, IsReply: true}, 9, pdulog.About{ID: 9})
	f("an answer to nothing", true, toy.PDU{Number: 21, IsReply: true}, 0, pdulog.About{})
	f("an answer to another of the same cell", true, toy.PDU{Number: 7 + 64, IsReply: true}, 0, pdulog.About{})

	l.Account = &account.Account{SystemID: "client"}
	f("a client that has not logged in", true, toy.PDU{Number: 1}, 0, pdulog.About{})
	l.Session.(*toy.Session).As = protocols.Transceiver
	f("a client", true, toy.PDU{Number: 1}, 0, pdulog.About{Account: "client"})
	f("a client's answer", true, toy.PDU{Number: 7, IsReply: true}, 0, pdulog.About{ID: 107, Account: "client"})

	m := &sms.Message{ID: 1, Origin: acme}
	p := &toy.PDU{Number: 1}
	if n := testing.AllocsPerRun(100, func() { l.About(false, p, m, 0) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestInflightUsed(t *testing.T) {
	t.Parallel()
	var f Inflight
	if n := f.Used(); n != 0 {
		t.Errorf("%d in use before any", n)
	}
	for n := range uint32(3) {
		f.Free(n, 5)
		f.Put(&Slot{Sequence: n})
	}
	f.Take(1)
	if n := f.Used(); n != 2 {
		t.Errorf("%d in use, want 2", n)
	}
}
