package stages

import (
	"github.com/tidwall/btree"

	"pmg/connector"
)

// delayed holds answers that are to be sent later, by their send_after. They
// wait before the pdu logger, so that the log tells when they were sent.
type delayed struct {
	tree  *btree.BTreeG[*Job]
	added uint64 // keeps answers for the same time in order
}

func newDelayed() *delayed {
	return &delayed{tree: btree.NewBTreeGOptions(func(a, b *Job) bool {
		if a.SendAfter != b.SendAfter {
			return a.SendAfter < b.SendAfter
		}
		return a.order < b.order
	}, btree.Options{NoLocks: true})}
}

func (d *delayed) add(j *Job) {
	d.added++
	j.order = d.added
	d.tree.Set(j)
}

// due takes out the first answer whose time has come; nil if there is none.
func (d *delayed) due(now int64) *Job {
	if j, ok := d.tree.Min(); ok && j.SendAfter <= now {
		d.tree.PopMin()
		return j
	}
	return nil
}

// next tells when the first answer is due; 0: none waits.
func (d *delayed) next() int64 {
	if j, ok := d.tree.Min(); ok {
		return j.SendAfter
	}
	return 0
}

// drop takes out what a session that is over still had to be sent.
func (d *delayed) drop(h *connector.Handle, discard func(*Job)) {
	var gone []*Job
	d.tree.Scan(func(j *Job) bool {
		if j.Handle == h {
			gone = append(gone, j)
		}
		return true
	})
	for _, j := range gone {
		d.tree.Delete(j)
		discard(j)
	}
}
