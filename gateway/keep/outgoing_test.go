package keep

import "testing"

// What the gateway has made waits for the next commit if its own has failed.
func TestOutgoingAfterFailedCommit(t *testing.T) {
	t.Parallel()
	o := &Outgoing{}
	o.waiting = []Own{{Batch: 0}, {Batch: 3}, {Batch: 5}}
	o.committed(3, true)
	if o.waiting[0].Batch != 0 || o.waiting[1].Batch != 4 || o.waiting[2].Batch != 5 || o.safe != 0 {
		t.Errorf("%+v, %d is safe", o.waiting, o.safe)
	}
	o.committed(4, false)
	if o.waiting[1].Batch != 4 || o.safe != 4 {
		t.Errorf("%+v, %d is safe", o.waiting, o.safe)
	}
}
