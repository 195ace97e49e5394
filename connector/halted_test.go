package connector

import "testing"

// Nothing leaves a lane when the gateway is stopping and what waits is stored.
func TestHalted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.connect()
	d.submit("acme", 1, nil)
	d.halted = true
	d.want("while it is halted", 0, 0, 0)
	d.halted = false
	d.want("afterwards", 1, 0, 0)
}
