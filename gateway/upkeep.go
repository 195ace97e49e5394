package gateway

// upkeep looks after what the store has besides messages.
func (g *Gateway) upkeep(now int64) {
	g.Settler.CheckEvents()
	g.Receipts.LookAfter(now)
}
