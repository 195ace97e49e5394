package gateway

// upkeep looks after what the store has besides messages.
func (g *Gateway) upkeep(now int64) {
	g.checkEvents()
	g.tidyReceipts(now)
	g.countOrphans()
	g.lookAtHeld()
	g.checkWaits(now)
}

// orphanSize is about how many octets the keys of an orphan take in memory.
const orphanSize = 1300

// countOrphans counts what the keys of orphans take as memory that is in use.
func (g *Gateway) countOrphans() {
	size := g.receipts.orphans.n.Load() * orphanSize
	g.Memory.Add(size - g.receipts.counted.Swap(size))
}
