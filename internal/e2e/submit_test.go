package e2e

import (
	"testing"

	"pmg/sms"
)

// An engine that has stopped refuses a message that was not submitted by a session, and does
// not drop it without a reply.
func TestSubmitAfterClose(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		g := start(t, a, site{operator: newSMSC(t)})
		g.stop()
		m := g.Messages.Get()
		m.Origin = &sms.Origin{Account: "acme", Connector: "clients", Tally: new(sms.Tally)}
		m.Set(sms.Address{}, sms.Address{Addr: []byte("46700000001")}, []byte("late"))
		told := make(chan sms.Code, 1)
		g.engine.Submit(m, g.Connector("clients"), func(_ uint64, code sms.Code) { told <- code })
		if code := <-told; code != sms.QueueFull {
			t.Errorf("told %s", code)
		}
	})
}
