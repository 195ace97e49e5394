package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pmg/connector"
	"pmg/gateway/node"
)

// mostRemembered is how many servers keep their attempts: those called last. An attempt takes up to
// 1 KiB, so that all of them take up to 20 MiB.
const mostRemembered = 200

// Webhooks are the servers of clients that are called, with the results of the calls. It is safe
// for concurrent use.
type Webhooks struct {
	node *node.Node

	mu         sync.Mutex
	service    Service           // nil before Begin is called
	waiting    []*connector.Lane // lanes that were made before Begin was called
	servers    map[*connector.Lane]*Server
	remembered []*Server // servers with attempts, the one called longest ago first
}

// New makes the webhooks of a gateway.
func New(n *node.Node) *Webhooks {
	return &Webhooks{node: n, servers: map[*connector.Lane]*Server{}}
}

// Server returns the state of the server to which a lane leads. There is one for each lane, and an
// account has a limited number of lanes.
func (d *Webhooks) Server(l *connector.Lane) *Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[l]
	if s == nil {
		s = &Server{webhooks: d, lane: l}
		d.servers[l] = s
	}
	return s
}

// remember records that a server is called. If too many servers have attempts, it drops those of
// the server that was called longest ago.
func (d *Webhooks) remember(s *Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.remembered)
	if n > 0 && d.remembered[n-1] == s {
		return
	}
	if i := slices.Index(d.remembered, s); i >= 0 {
		d.remembered = slices.Delete(d.remembered, i, i+1)
	} else if n == mostRemembered {
		d.remembered[0].forget()
		d.remembered = slices.Delete(d.remembered, 0, 1)
	}
	d.remembered = append(d.remembered, s)
}

// now returns the time by the wall clock.
func (d *Webhooks) now() time.Time { return time.Unix(0, d.node.Clock.WallNow()).UTC() }

// all returns the servers of an account, or of all accounts if account is "", sorted by name.
func (d *Webhooks) all(account, endpoint string) []*Server {
	var all []*Server
	d.mu.Lock()
	for l, s := range d.servers {
		if (account == "" || l.Account == account) && (endpoint == "" || l.Endpoint == endpoint) {
			all = append(all, s)
		}
	}
	d.mu.Unlock()
	slices.SortFunc(all, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(a.lane.Account, b.lane.Account), cmp.Compare(a.lane.Endpoint, b.lane.Endpoint))
	})
	return all
}

// Rows returns the rows of the servers of an account, or of all accounts if account is "".
func (d *Webhooks) Rows(account string) []Row {
	rows, now := []Row{}, d.node.Clock.Now()
	for _, s := range d.all(account, "") {
		rows = append(rows, s.known(now))
	}
	return rows
}

// Enable enables the disabled servers of an account, or of all accounts if account is "". It
// returns their names. The log names the operator.
func (d *Webhooks) Enable(account, operator string) []string {
	return d.call((*Server).enable, account, operator, "a client's server that was disabled is called again")
}

// Retry immediately calls the servers of an account for which events wait, even if they are
// resting, and returns their names. It does not call disabled servers. The log names the operator.
func (d *Webhooks) Retry(account, operator string) []string {
	return d.call((*Server).retry, account, operator, "an operator calls a client's server now")
}

func (d *Webhooks) call(again func(*Server) bool, account, operator, says string) []string {
	called := []string{}
	for _, s := range d.all(account, "") {
		if again(s) {
			called = append(called, s.lane.Endpoint)
			d.node.Log.Info().Str("account", s.lane.Account).Str("endpoint", s.lane.Endpoint).Str("operator", operator).Msg(says)
		}
	}
	return called
}

// A Service calls webhooks.
type Service interface {
	// Serve delivers the messages of a lane to its webhook. Serve may be called twice for one lane.
	Serve(l *connector.Lane)
	// Test sends a test event to the webhook of an account, or to its webhook_fallback if fallback is
	// true.
	Test(ctx context.Context, account string, fallback bool) (Attempt, error)
}

// Begin sets the service, once, and serves the lanes made so far.
func (d *Webhooks) Begin(s Service) {
	d.mu.Lock()
	waiting := d.waiting
	d.service, d.waiting = s, nil
	d.mu.Unlock()
	for _, l := range waiting {
		s.Serve(l)
	}
}

// Serve serves a lane. Before Begin, it only records the lane.
func (d *Webhooks) Serve(l *connector.Lane) {
	d.mu.Lock()
	s := d.service
	if s == nil {
		d.waiting = append(d.waiting, l)
	}
	d.mu.Unlock()
	if s != nil {
		s.Serve(l)
	}
}

// Test sends a test event to the webhook of an account, or to its webhook_fallback if fallback is
// true. It returns the result.
func (d *Webhooks) Test(ctx context.Context, account string, fallback bool) (a Attempt, err error) {
	d.mu.Lock()
	s := d.service
	d.mu.Unlock()
	if s == nil {
		return a, errors.New("cannot test webhook: nothing calls webhooks here")
	}
	if a, err = s.Test(ctx, account, fallback); err != nil {
		return a, fmt.Errorf("cannot test webhook: %w", err)
	}
	a.At, a.Account, a.Fallback = d.now(), account, fallback
	a.Error, a.Reply = printable(a.Error, mostWords), printable(a.Reply, mostReply)
	return a, nil
}

// Problems returns a line for each server that is disabled.
func (d *Webhooks) Problems() (lines []string) {
	for _, r := range d.Rows("") {
		if r.Disabled != nil {
			lines = append(lines,
				fmt.Sprintf("the webhook of account %s at %s is not called any more, because it has answered 410 Gone: "+
					"%d events wait; pmg webhooks enable %s has it called again",
					r.Account, r.Endpoint, r.Waiting, r.Account))
		}
	}
	return lines
}

// A Filter selects attempts.
type Filter struct {
	Account  string // "": all accounts
	Endpoint string // "": all endpoints
	ID       string // id of a message or an event; "": all
	Limit    int    // maximum number of attempts
	Replies  bool   // include the replies
}

// Attempts returns the attempts that match a filter, the latest first.
func (d *Webhooks) Attempts(f Filter) []Attempt {
	some := []Attempt{}
	for _, s := range d.all(f.Account, f.Endpoint) {
		n := 0
		s.each(func(a Attempt) bool {
			if f.ID != "" && a.ID != f.ID && a.Event != f.ID {
				return true
			}
			if !f.Replies {
				a.Reply = ""
			}
			some = append(some, a)
			n++
			return n < f.Limit
		})
	}
	slices.SortStableFunc(some, func(a, b Attempt) int { return b.At.Compare(a.At) })
	return some[:min(len(some), max(f.Limit, 0))]
}
