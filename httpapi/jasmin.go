package httpapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"pmg/config"
	"pmg/gateway/request"
	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
)

// jasminRoutes adds the paths of Jasmin, of both its interfaces, to those of a listener.
func (c *compat) jasminRoutes(l *listener, m *http.ServeMux) {
	for _, path := range []string{
		jasmin.Send, jasmin.Rate, jasmin.Balance, "POST " + jasmin.SecureSend, "POST " + jasmin.SecureBatch,
		"GET " + jasmin.SecureRate, "GET " + jasmin.SecureStatus,
	} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if h := c.begin(l, w, r); mayAct(r) {
				h.jasmin()
			} else {
				h.x.asked(jasmin.NotAllowed())
			}
		})
	}
	for path, answer := range map[string]func() *httpsms.Answer{"/ping": jasmin.Ping, "/{$}": jasmin.Root} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).asked(answer()) })
	}
}

// jasmin answers a request of an account to either of Jasmin's interfaces.
func (h *compatHandler) jasmin() {
	defer h.x.end()
	r := h.x.head()
	name, password, first := jasmin.Login(r)
	if first = first && h.x.r.ContentLength != 0; first && !h.x.logIn(name, password) {
		h.answered(jasmin.Denied(r.Path, name))
		return
	}
	if h.x.crowded {
		h.answered(later(jasmin.Busy(r.Path)))
		return
	}
	if err := h.request(r, jasmin.MaxRequest); err != nil {
		h.answered(unread(err, jasmin.TooLarge(r.Path), jasmin.Busy(r.Path), jasmin.Unread(r.Path)))
		return
	}
	q, refusal := jasmin.Read(r)
	if refusal != nil {
		h.answered(refusal)
		return
	}
	if name, password = q.Credentials(); !first && !h.x.logIn(name, password) {
		h.answered(q.Denied())
		return
	}
	if h.x.crowded {
		h.answered(later(jasmin.Busy(r.Path)))
		return
	}
	if !q.Submits() {
		h.x.asked(q.Answer(h.rated(q)))
		return
	}
	orders, refusal := q.Orders(h.compat.gateway.Node.Clock.WallNow(), httpsms.UUID(rand.Uint64()))
	for _, url := range q.URLs() {
		if refusal == nil && h.x.mayCall(url) != nil {
			h.notCalled(url)
			refusal = q.NotCalled(url)
		}
	}
	if refusal != nil {
		h.answered(refusal)
		return
	}
	var calls []*httpsms.Call
	h.submitAll(orders, func(results []httpsms.Result) *httpsms.Answer {
		calls = q.Calls(results)
		return q.Answer(results)
	})
	if len(calls) > 0 {
		h.compat.webhooks.once(h.x.account.Config(), calls)
	}
}

// rated previews the message of a request for its rate, nil if the request has none.
func (h *compatHandler) rated(q *jasmin.Request) []httpsms.Result {
	o, ok := q.Rated(h.compat.gateway.Node.Clock.WallNow())
	if !ok {
		return nil
	}
	r, _ := h.compat.gateway.Requests.Preview(h.x.r.Context(), h.x.source(), request.Item{Fill: o.Fill})
	return []httpsms.Result{{Code: r.Code}}
}

// Bounds on the batches of Jasmin's clients whose callback_url is being called.
const (
	mostBatches      = 64 // of all accounts
	batchesOfAccount = 4
	batchTime        = 10 * time.Minute // for all calls of a batch
)

// batches counts the batches whose callback_url is being called.
type batches struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by account
}

// begin counts a batch, which end uncounts. It returns why there is no place for it, "" if there is one.
func (b *batches) begin(account string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.of[account] >= batchesOfAccount:
		return fmt.Sprintf("callbacks of %d batches of the account go on", batchesOfAccount)
	case b.all >= mostBatches:
		return fmt.Sprintf("callbacks of %d batches go on", mostBatches)
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

// once makes calls of an account in their order, each once, as long as somebody answers them, and not for longer than batchTime. Few batches of
// an account are called at a time, as each call may take as long as its server likes.
func (c *callers) once(a *config.Account, calls []*httpsms.Call) {
	if why := c.batches.begin(a.SystemID); why != "" {
		c.notTold(a, calls[0], why)
		return
	}
	if !c.start(func() {
		defer c.batches.end(a.SystemID)
		ctx, done := context.WithTimeout(c.ctx, batchTime)
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
				c.notTold(a, request, fmt.Sprintf("the batch has taken %v", batchTime))
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

// notTold tells the operator that a client does not hear what became of a batch, now and then.
func (c *callers) notTold(a *config.Account, request *httpsms.Call, why string) {
	if g := c.gateway; g.Node.News.Is("batch: " + a.SystemID) {
		g.Node.Log.Warn().Str("account", a.SystemID).Str("url", withoutQuery(request.URL)).Str("reason", why).
			Msg("the callback_url or errback_url of a batch was not called for each of its messages; as in Jasmin, there is no other attempt")
	}
}
