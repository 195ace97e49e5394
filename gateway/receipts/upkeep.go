package receipts

// LookAfter does the regular work for receipts. It is called about once a second.
func (d *Matcher) LookAfter(now int64) {
	d.tidyReceipts(now)
	d.Orphans.count()
	d.lookAtWaiting()
	d.waits.check(now)
}

// EndOrphans waits until no orphan is being handled.
func (d *Matcher) EndOrphans() {
	d.Orphans.end()
	d.Orphans.count()
}

// EndWaits waits until no receipts of waiting long messages are being sent.
func (d *Matcher) EndWaits() { d.waits.Wait() }
