package session_test

import (
	"testing"
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// An engineNow is an engine whose lanes act immediately.
type engineNow struct {
	gateway.Engine
	port *port
	gone bool
}

func (e *engineNow) Do(_ *connector.Lane, f func(now int64)) bool {
	if !e.gone {
		f(e.port.now)
	}
	return !e.gone
}

func (e *engineNow) Committed(_ store.Position, err error) {
	if e.port.commits != nil {
		e.port.commits <- err
	}
}

// withLanes gives the port lanes that have the messages which were queued.
func (p *port) withLanes() *engineNow {
	e := &engineNow{port: p}
	p.g.Keeper.Begin(e)
	for _, m := range p.queued {
		lane := p.g.Table.LaneOf(p.operator)
		lane.Queues.Push(p.now, p.g.Table.Share(lane, m.Origin), m)
	}
	return e
}

func (p *port) operate(l *connector.Link, o protocols.Operation) *request {
	return p.receive(l, protocols.Operate, func(r *request) { r.Op = o })
}

// check carries out the operations that wait.
func (p *port) check() {
	checks := p.checks
	p.checks = nil
	for _, f := range checks {
		f()
	}
}

// An operation is answered when it was carried out, and a session logs out behind it.
func TestOperate(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	id := p.submit(l).ID
	p.withLanes()
	query := func(id uint64) *request { return p.operate(l, protocols.Operation{ID: id}) }
	found, missing, unknown := query(id), query(id-1), query(id+1000)
	bye := p.receive(l, protocols.SendClose, nil)
	if found.gone+missing.gone+bye.gone != "" || l.Operating != 3 {
		t.Fatalf("%d operations are under way: %q, %q", l.Operating, found.gone, bye.gone)
	}
	p.check()
	p.want("a message that waits", found, "sent", sms.OK)
	p.want("a message that has left", missing, "sent", sms.Rejected)
	p.want("an id that was never given", unknown, "sent", sms.UnknownMessage)
	if bye.gone != "sent" || p.order[len(p.order)-1] != bye || l.Operating+l.Storing != 0 {
		t.Errorf("the logout is %q, %d operations are under way", bye.gone, l.Operating)
	}
}

// A session has a few operations under way, and an account, however many sessions it has, a
// quarter of those that the others leave.
func TestOperationsBound(t *testing.T) {
	const maxAllOperating = 256
	t.Parallel()
	p := newPort(t, "")
	p.withLanes()
	operate := func(account string) (taken int) {
		for range maxAllOperating / session.MaxOperating {
			l := p.link()
			if r := p.login(l, account, "secret"); r.Code != sms.OK {
				t.Fatalf("login: %+v", r)
			}
			for range session.MaxOperating + 1 {
				if r := p.operate(l, protocols.Operation{ID: 1}); r.gone == "" {
					taken++
				} else {
					p.want("too many", r, "sent", sms.Throttled)
				}
			}
		}
		return taken
	}
	if n := operate("client"); n != maxAllOperating/4 {
		t.Errorf("the first account has %d operations under way, want %d", n, maxAllOperating/4)
	}
	if n, want := operate("other"), maxAllOperating*3/4/4; n != want {
		t.Errorf("the second account has %d operations under way, want %d", n, want)
	}
	p.check()
	if n := operate("other"); n != maxAllOperating/4 {
		t.Errorf("alone, the second account has %d operations under way, want %d", n, maxAllOperating/4)
	}
	p.check()
}

// An account that has all its messages searched, again and again, does not keep others from that.
func TestSearchesBound(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.withLanes()
	cancel := func(account string) (r *request) {
		l := p.link()
		p.login(l, account, "secret")
		r = p.operate(l, protocols.Operation{Kind: protocols.Cancel})
		p.check()
		return r
	}
	p.want("nothing waits", cancel("client"), "sent", sms.Rejected)
	l := p.client()
	if !l.Account.Search() {
		t.Fatal("a search is under way")
	}
	p.want("another search of the account", cancel("client"), "sent", sms.Throttled)
	p.want("a search of another account", cancel("other"), "sent", sms.Rejected)
	l.Account.EndSearch()
	p.want("the account's search has ended", cancel("client"), "sent", sms.Rejected)
}

// A message that waits can be replaced by a scheduled one where the account may schedule another,
// or where it is scheduled already.
func TestReplaceScheduled(t *testing.T) {
	t.Parallel()
	p := newPort(t, "") // max_scheduled: 2, max_schedule: 1h
	p.g.Node.Clock.WallClock = func() time.Time { return time.Unix(0, p.now) }
	l := p.client()
	var ids []uint64
	for _, in := range []int64{0, 1, 1} {
		r := p.receive(l, protocols.Message, func(r *request) { r.DeliverAt = p.now + in*second })
		p.want("submitted", r, "sent", sms.OK)
		ids = append(ids, r.ID)
	}
	p.withLanes()
	p.g.Keeper.IDs.Store(ids[2])
	replace := func(id uint64, in int64) *request {
		r := p.operate(l, protocols.Operation{Kind: protocols.Replace, ID: id, Change: func(_ int64, m *sms.Message) sms.Code {
			m.DeliverAt = p.now + in*second
			return sms.OK
		}})
		p.check()
		return r
	}
	p.want("one that is scheduled", replace(ids[1], 60), "sent", sms.OK)
	p.want("too far ahead", replace(ids[1], 2*3600), "sent", sms.BadSchedule)
	p.want("one that is not scheduled", replace(ids[0], 60), "sent", sms.QueueFull)
}

// What waits is not replaced by what may be longer while memory, or room on the disk, is scarce.
func TestReplaceFull(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	id := p.submit(l).ID
	p.withLanes()
	replace := func() *request {
		r := p.operate(l, protocols.Operation{Kind: protocols.Replace, ID: id, Change: func(_ int64, m *sms.Message) sms.Code {
			m.Set(m.Source(), m.Dest(), make([]byte, 1000))
			return sms.OK
		}})
		p.check()
		return r
	}
	p.g.Node.Memory.SetLimit(p.g.Node.Memory.Used() + 1)
	p.want("little memory", replace(), "sent", sms.QueueFull)
	p.g.Node.Memory.SetLimit(1 << 30)
	p.g.Keeper.Storing.Add(int64(p.g.Node.Config().Limits.MaxJobs))
	p.want("the disk hangs", replace(), "sent", sms.QueueFull)
	p.g.Keeper.Storing.Add(-int64(p.g.Node.Config().Limits.MaxJobs))
	p.want("room", replace(), "sent", sms.OK)
}

// A session may end while an operation is under way.
func TestOverWhileOperating(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	id := p.submit(l).ID
	e := p.withLanes()
	r := p.operate(l, protocols.Operation{Kind: protocols.Cancel, ID: id})
	p.c.Over(p.now, l)
	p.check()
	p.want("over", r, "dropped", 0)
	if n := p.g.Pending(); n != 0 {
		t.Errorf("%d messages wait: it was not cancelled", n)
	}
	p.wantFree()

	l = p.client()
	e.gone = true // the engine is closed
	r = p.operate(l, protocols.Operation{Kind: protocols.Cancel, ID: id})
	p.check()
	p.want("the engine is closed", r, "sent", sms.SystemError)
}

// Operations count towards the account's rate.
func TestOperationsRate(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.withLanes()
	cfg := *p.g.Node.Config()
	cfg.Accounts = append(cfg.Accounts[:0:0], cfg.Accounts...)
	cfg.Accounts[0].Rate = 1
	p.reload(&cfg)
	l := p.client()
	codes := map[sms.Code]int{}
	for range 10 {
		r := p.operate(l, protocols.Operation{ID: 1})
		p.check()
		if r.gone == "sent" {
			codes[r.Code]++
		}
	}
	if codes[sms.Rejected] == 0 || codes[sms.Rejected] > 3 {
		t.Errorf("with a rate of 1 a second: %v", codes)
	}
	p.c.Over(p.now, l)
}

// An engineInParts notes how many messages a lane has lost at most while nothing else could leave.
type engineInParts struct {
	*engineNow
	most int
}

func (e *engineInParts) Do(l *connector.Lane, f func(now int64)) bool {
	before := l.Queues.Len()
	ok := e.engineNow.Do(l, f)
	e.most = max(e.most, before-l.Queues.Len())
	return ok
}

// A client that cancels very many messages does not keep a lane from sending others meanwhile.
func TestCancelInParts(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	for range 3 * 512 {
		p.submit(l)
	}
	e := &engineInParts{engineNow: p.withLanes()}
	p.g.Keeper.Begin(e)
	r := p.operate(l, protocols.Operation{Kind: protocols.Cancel, Dest: sms.Address{Addr: []byte("491701234567")}})
	p.check()
	p.want("many messages", r, "sent", sms.OK)
	if n := p.g.Table.LaneOf(p.operator).Queues.Len(); n != 0 || e.most != 512 {
		t.Errorf("%d messages are left, %d were taken together", n, e.most)
	}
}
