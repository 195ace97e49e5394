package e2e

import (
	"context"
	"time"

	"pmg/internal/testutil"
)

// drains runs a drain with a limit of a minute. It fails the test if the drain takes that
// long, which means that it waited for something that never ends.
func (g *gw) drains() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		g.engine.Drain(ctx)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(testutil.Patience / 2):
		cancel()
		<-done
		g.t.Error("the drain waited for something that never ends")
	}
}
