package receipts

// LookAfter looks after what is known of receipts, about once a second.
func (d *Desk) LookAfter(now int64) {
	d.tidyReceipts(now)
	d.Orphans.count()
	d.lookAtHeld()
	d.waits.check(now)
}

// EndOrphans waits until no orphan is looked at any more.
func (d *Desk) EndOrphans() {
	d.Orphans.end()
	d.Orphans.count()
}

// EndWaits waits until no client is told any more what is known of long messages.
func (d *Desk) EndWaits() { d.waits.Wait() }

// orphanSize is about how many octets the keys of an orphan take in memory.
const orphanSize = 1300

// count counts what the keys of orphans take as memory that is in use.
func (o *Orphans) count() {
	size := o.n.Load() * orphanSize
	o.desk.Memory.Add(size - o.desk.counted.Swap(size))
}
