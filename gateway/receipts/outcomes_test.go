package receipts

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
)

// A receipt that says ACCEPTD of a long message is followed by the end of that, also after a restart, whatever the part
// said that led to it: an SMSC's DELIVRD, or that its outcome is not known.
func TestEndAfterAcceptedParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last func(p *rig) // leads to ACCEPTD
		want sms.State
	}{
		"delivered": {func(p *rig) {
			if v, told := p.part(t, 1, sms.StateDelivered); v != passOn || told != sms.StateAccepted {
				t.Errorf("the last part: verdict %d, %s", v, told)
			}
		}, sms.StateDelivered},
		"lost": {func(p *rig) {
			m := p.submitted(sms.NotifyFailure | sms.NotifySuccess)
			m.ID, m.Offset, m.Part, m.Parts = 5001, 1, 1, 2
			p.forget(m, keep.Ending{State: events.Unknown, Answer: sms.Answer{Code: sms.Lost, At: p.now}})
		}, sms.StateUnknown},
	} {
		fs := vfs.NewMem()
		p := keepAgain(t, fs)
		p.part(t, 0, sms.StateAccepted)
		c.last(p)
		p.madeReceipts(t)
		p = keepAgain(t, fs)
		if v, told := p.part(t, 0, sms.StateDelivered); v != passOn || told != c.want {
			t.Errorf("%s: the first part after a restart: verdict %d, %s", name, v, told)
		}
		p.madeReceipts(t)
	}
}
