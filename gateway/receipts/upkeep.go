package receipts

// LookAfter looks after what is known of receipts, about once a second.
func (d *Desk) LookAfter(now int64) {
	d.tidyReceipts(now)
	d.countOrphans()
	d.lookAtHeld()
	d.checkWaits(now)
}

// EndOrphans waits until no orphan is looked at any more.
func (d *Desk) EndOrphans() {
	d.orphans.end()
	d.countOrphans()
}

// EndWaits waits until no client is told any more what is known of long messages.
func (d *Desk) EndWaits() { d.waits.Wait() }

// orphanSize is about how many octets the keys of an orphan take in memory.
const orphanSize = 1300

// countOrphans counts what the keys of orphans take as memory that is in use.
func (d *Desk) countOrphans() {
	size := d.orphans.n.Load() * orphanSize
	d.Memory.Add(size - d.counted.Swap(size))
}
