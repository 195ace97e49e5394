package receipts

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/events"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/plugin"
	"pmg/sms"
	"pmg/store"
)

// Asking asks plugins about receipts, before those are given to the lanes of their clients: those of SMSCs, and those that
// the gateway makes. Each is in the store meanwhile, put aside, so that a kill loses none. Those about the same message are
// asked about one after another, so that their order stays.
//
//	receipt ──► stored ──► asked ──► stored for its lane
//	                         └─────► refused: it has ended
//
// It is safe for concurrent use.
type Asking struct {
	matcher    *Matcher
	hooks      *hooks.Hooks
	questioner hooks.Questioner
	done       sync.WaitGroup
	ended      atomic.Bool

	mu     sync.Mutex
	behind map[uint64][]asked // receipts that wait for an earlier one, by the client's id of their message
}

// An asked is a receipt about which plugins are asked, with its place.
type asked struct {
	message *sms.Message
	share   *connector.Share
}

// Asks reports whether plugins must be asked about a receipt for a client.
func (a *Asking) Asks(m *sms.Message, s *connector.Share) bool {
	return a.hooks.Any(plugin.Receipt, &sms.Origin{Account: s.Lane.Account, Connector: m.Origin.Connector})
}

// put stores a receipt, and asks about it when it is stored. b is the open batch.
func (a *Asking) put(b *store.Batch, m *sms.Message, s *connector.Share) {
	k, lane := a.matcher.keep, keep.LaneName(s.Lane)
	b.PutOwn(m, lane)
	b.Keep(m, store.State{Lane: lane, Aside: store.Asked})
	k.CountAside(nil, store.Asked, 1)
	k.Outgoing.Give(keep.Own{After: b.Position(), Share: s, Message: m, Work: func() { a.Begin(m, s) }})
}

// Begin asks about a receipt that is stored, which it releases in the end.
func (a *Asking) Begin(m *sms.Message, s *connector.Share) {
	r, _ := m.Report()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended.Load() { // the next start finds the receipt in the store
		m.Release()
		return
	}
	a.matcher.node.Memory.Add(m.Size())
	if waiting, busy := a.behind[r.Known]; busy {
		a.behind[r.Known] = append(waiting, asked{m, s})
		return
	}
	if a.behind == nil {
		a.behind = map[uint64][]asked{}
	}
	a.behind[r.Known] = nil
	a.done.Go(func() { a.work(r.Known, asked{m, s}) })
}

// work asks about a receipt, and about those that wait for it.
func (a *Asking) work(known uint64, one asked) {
	a.matcher.node.Pass("asking")
	for {
		a.matcher.node.Memory.Add(-one.message.Size())
		if !a.ended.Load() {
			a.ask(one)
		} else {
			one.message.Release()
		}
		a.mu.Lock()
		waiting := a.behind[known]
		if len(waiting) == 0 {
			delete(a.behind, known)
			a.mu.Unlock()
			return
		}
		one, a.behind[known] = waiting[0], waiting[1:]
		a.mu.Unlock()
	}
}

// ask asks the plugins about a receipt, one after another until one refuses it, and does what they decide.
func (a *Asking) ask(one asked) {
	m, lane := one.message, one.share.Lane
	all, from := a.hooks.All(), &sms.Origin{Account: lane.Account, Connector: m.Origin.Connector}
	for i := range all {
		if !all[i].Asks(plugin.Receipt, from) {
			continue
		}
		d := all[i].Pool.Ask(a.question(m, lane.Account))
		for d.Crowded && !a.ended.Load() {
			time.Sleep(crowdedPause)
			d = all[i].Pool.Ask(a.question(m, lane.Account))
		}
		if d.Failure != nil && a.ended.Load() { // the plugin was closed
			m.Release()
			return
		}
		if a.decide(m, all[i].Pool, &d); d.Do == plugin.Refuse {
			a.refused(one)
			return
		}
	}
	a.matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Delete(m.ID, int(m.Size()))
		a.matcher.give(b, m, one.share)
	})
	a.matcher.keep.Batches.CommitSoon()
	a.matcher.keep.CountAside(nil, store.Asked, -1)
}

// crowdedPause is how long a receipt waits that found no place among those that a plugin is asked about.
const crowdedPause = 100 * time.Millisecond

// question returns what plugins see of a receipt.
func (a *Asking) question(m *sms.Message, account string) *plugin.Message {
	q := &a.questioner.Ask(plugin.Receipt, m, false, a.matcher.node.Clock.Wall).Message
	r, _ := m.Report()
	q.Account, q.Text, q.Binary = account, "", false
	q.ID, q.State, q.Error = sms.FormatID(r.Known), r.State.String(), string(r.AppendError(nil))
	return q
}

// decide changes a receipt as a plugin has decided. What cannot be changed is a failure.
func (a *Asking) decide(m *sms.Message, p *plugin.Pool, d *plugin.Decision) {
	err := d.Failure
	if err == nil {
		if err = hooks.Change(m, &d.Verdict); err != nil {
			err = fmt.Errorf("plugin %s: %w", p.Name, err)
			d.Verdict = p.Instead()
		}
	}
	if err != nil {
		a.matcher.node.NoVerdict(p.Name, err)
	}
	now := a.matcher.node.Clock.Now()
	switch until := d.Until.UnixNano() - a.matcher.node.Clock.Ahead(); {
	case d.Do == plugin.Refuse && a.matcher.node.Repeats.First("receipt refused: "+p.Name):
		a.matcher.node.Log.Warn().Str("plugin", p.Name).Str("id", sms.FormatID(m.ID)).Str("why", d.Why).
			Msg("a plugin refuses a receipt; its client does not get it")
	case d.Do == plugin.Delay && until > max(now, m.DeliverAt):
		m.Expires += until - max(now, m.DeliverAt) // the receipt remains valid for the same time
		m.DeliverAt = until
	}
}

// refused ends a receipt that the client does not get.
func (a *Asking) refused(one asked) {
	m := one.message
	a.matcher.end(m, keep.Ending{
		State: events.Rejected, Lane: keep.LaneName(one.share.Lane), Aside: true,
		Answer: sms.Answer{Code: sms.Rejected, At: a.matcher.node.Clock.Now()},
	})
	a.matcher.keep.CountAside(nil, store.Asked, -1)
	m.Release()
}

// Stop ends the verdicts: receipts that have none are asked about after the next start. It is called before the plugins are
// closed, and End behind that.
func (a *Asking) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended.Store(true)
}

// End waits until no plugin is asked any more.
func (a *Asking) End() {
	a.Stop()
	a.done.Wait()
}

// Ask stores a receipt of an SMSC with those beside it, to ask plugins about them. They are the caller's no more.
func (a *Asking) Ask(m *sms.Message, more []*sms.Message, s *connector.Share) {
	a.matcher.keep.Batches.Write(func(b *store.Batch) {
		for _, one := range append(more, m) {
			one.ID = a.matcher.keep.IDs.Add(1)
			a.put(b, one, s)
		}
	})
}
