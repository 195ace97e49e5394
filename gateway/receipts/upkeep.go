package receipts

// LookAfter looks after what is known of receipts, about once a second.
func (d *Desk) LookAfter(now int64) {
	d.tidyReceipts(now)
	d.Orphans.count()
	d.lookAtWaiting()
	d.waits.check(now)
}

// EndOrphans waits until no orphan is looked at any more.
func (d *Desk) EndOrphans() {
	d.Orphans.end()
	d.Orphans.count()
}

// EndWaits waits until no client is told any more what is known of long messages.
func (d *Desk) EndWaits() { d.waits.Wait() }
