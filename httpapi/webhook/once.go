package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pmg/config"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
)

// Limits of the batches of Jasmin's clients whose callback_url is being called.
const (
	mostBatches      = 64 // batches of all accounts
	batchesOfAccount = 4
	batchTime        = 10 * time.Minute // time limit of all calls of a batch
)

// batches counts the batches whose callback_url is being called.
type batches struct {
	mu  sync.Mutex
	all int
	of  map[string]int // number of calls, by account
}

// begin counts a batch; end uncounts it. It returns the reason why there is no place for the batch, "" if there is one.
func (b *batches) begin(account string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.of[account] >= batchesOfAccount:
		return fmt.Sprintf("callbacks of %d batches of the account are being made", batchesOfAccount)
	case b.all >= mostBatches:
		return fmt.Sprintf("callbacks of %d batches are being made", mostBatches)
	}
	b.all++
	b.of[account]++
	return ""
}

func (b *batches) end(account string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all--
	if b.of[account]--; b.of[account] == 0 {
		delete(b.of, account)
	}
}

// CallOnce makes calls of an account in order, each once, until a server does not answer or batchTime ends. The number of
// batches of an account at the same time is low, because a server may take any time for each call.
func (c *Service) CallOnce(a *config.Account, calls []*httpsms.Call) {
	if why := c.batches.begin(a.SystemID); why != "" {
		c.notTold(a, calls[0], why)
		return
	}
	if !c.group.Go(func() {
		defer c.batches.end(a.SystemID)
		ctx, done := context.WithTimeout(c.group, batchTime)
		defer done()
		for _, request := range calls {
			to, err := httpcall.Allowed(a.CallbackURLs, a.CallbacksTo == config.PublicCallbacks, request.URL)
			if err != nil {
				c.notTold(a, request, "its URL "+err.Error())
				return
			}
			o := c.caller.Do(ctx, request, to)
			switch {
			case ctx.Err() != nil:
				c.notTold(a, request, fmt.Sprintf("the calls of the batch have taken %v", batchTime))
				return
			case o.Status == 0:
				c.notTold(a, request, o.Err)
				return
			}
		}
	}) {
		c.batches.end(a.SystemID)
	}
}

// notTold logs, at a limited rate, that a client does not get the results of a batch.
func (c *Service) notTold(a *config.Account, request *httpsms.Call, why string) {
	if rooms := &c.rooms; rooms.Node.Repeats.First("batch: " + a.SystemID) {
		rooms.Node.Log.Warn().Str("account", a.SystemID).Str("url", httpcall.WithoutQuery(request.URL)).Str("reason", why).
			Msg(
				"the callback_url or errback_url of a batch was not called for each of its messages; as in Jasmin, " +
					"there is no other attempt",
			)
	}
}
