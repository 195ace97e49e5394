package receipts

// LookAfter looks after what is known of receipts, about once a second.
func (d *Matcher) LookAfter(now int64) {
	d.tidyReceipts(now)
	d.Orphans.count()
	d.lookAtWaiting()
	d.waits.check(now)
}

// EndOrphans waits until no orphan is looked at any more.
func (d *Matcher) EndOrphans() {
	d.Orphans.end()
	d.Orphans.count()
}

// EndWaits waits until no more receipts of long messages that wait for parts are sent.
func (d *Matcher) EndWaits() { d.waits.Wait() }
