package accept

import (
	"slices"
	"sync/atomic"
	"testing"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/lists"
	"pmg/gateway/networks"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
	"pmg/sms"
	"pmg/store"
)

// An executor notes what it is asked for. What is to run on another goroutine runs when the test says so.
type executor struct {
	waits   bool // submits may wait for room
	gone    bool // nobody waits for an answer any more
	waiting []*intake.Submission
	works   []func()
	then    func() // what happens between work and what follows from it
	inOrder int
	ids     []string
	held    int
	stores  []Pending[string]
	queued  []keep.Accepted
	answers map[string]Outcome
}

func (x *executor) Go(_ string, work func(), then func(now int64, gone bool)) {
	x.works = append(x.works, func() {
		work()
		if x.then != nil {
			x.then()
		}
		then(1, x.gone)
	})
}

func (x *executor) GoInOrder(by string, work func(), then func(now int64, gone bool)) {
	x.inOrder++
	x.Go(by, work, then)
}

func (x *executor) Wait(_ int64, _ string, s *intake.Submission) bool {
	if x.waits {
		x.waiting = append(x.waiting, s)
	}
	return x.waits
}

func (x *executor) InTurn(id []byte)                        { x.ids = append(x.ids, string(id)) }
func (x *executor) TickAt(int64)                            {}
func (x *executor) Hold(string)                             { x.held++ }
func (x *executor) Release(int64, string)                   { x.held-- }
func (x *executor) Store(_ int64, p Pending[string])        { x.stores = append(x.stores, p) }
func (x *executor) Queue(_ int64, a keep.Accepted)          { x.queued = append(x.queued, a) }
func (x *executor) Answer(_ int64, by string, o Outcome)    { x.answers[by] = o }
func (x *executor) answered(by string) (o Outcome, is bool) { o, is = x.answers[by]; return o, is }

// work does what the oldest is to do on another goroutine.
func (x *executor) work() {
	f := x.works[0]
	x.works = x.works[1:]
	f()
}

// A matcher knows of receipts what the test says.
type matcher struct {
	recent, known bool
	latest        string // an id that is among the latest
	fault         error
	share         *connector.Share
	verdicts      []receipts.Verdict
	parts         uint8
	more          []*sms.Message // receipts of the messages that it was joined of
	smsc          *receipts.SMSC
	loaded        int
	read          []string // of what was found, in turn
}

// found sets what a receipt belongs to: a message of an account that has the name of its id.
func (m *matcher) found(r *sms.Message, f *receipts.Match, is bool) bool {
	report, _ := r.Report()
	if v := (store.Mapping{ID: 5000, Parts: m.parts, Account: report.ID}); is && f.Set(v.Append(nil)) != nil {
		panic("the record of a mapping cannot be read")
	}
	return is
}

const passOn = receipts.Verdict(0)

func (m *matcher) Of(*config.Connector) *receipts.SMSC { return m.smsc }
func (m *matcher) Received(*receipts.SMSC, []byte)     {}
func (m *matcher) LoadParts(*receipts.Match) error     { m.loaded++; return m.fault }
func (m *matcher) Find(_ *receipts.SMSC, r *sms.Message, report *sms.Report, f *receipts.Match) bool {
	return m.found(r, f, m.recent || string(report.ID) == m.latest)
}

func (m *matcher) LookUp(_ *receipts.SMSC, r *sms.Message, f *receipts.Match) (bool, error) {
	return m.found(r, f, m.known), m.fault
}

func (m *matcher) Direct(_ int64, _ *sms.Message, f *receipts.Match) (*connector.Share, receipts.Verdict) {
	m.read = append(m.read, string(f.Mapping.Account))
	f.More = m.more
	v := m.verdicts[0]
	m.verdicts = m.verdicts[1:]
	if v != passOn {
		return nil, v
	}
	return m.share, v
}

// A rig is an acceptor between an executor and a matcher, on a disk or in memory.
type rig struct {
	*Acceptor[string]
	t        *testing.T
	x        *executor
	m        *matcher
	clients  *connector.Connector
	operator *connector.Connector
	share    *connector.Share // of the client's messages, in the operator's lane
	origin   *sms.Origin      // of what the operator brings
	node     *node.Node
}

func newRig(t *testing.T, durable bool) *rig {
	t.Helper()
	g := roomtest.New(t, roomtest.Operator("max_queue: 10"))
	if durable {
		d := roomtest.NewDisk()
		d.Store = store.NewMemory()
		g.Keeper.Open(d, func(store.Position, error) {})
	}
	c := convert.New(g.Node, g.Table)
	s := settle.New(g.Node, g.Keeper, g.Table, c, hooks.New(nil))
	i := intake.New(g.Node, g.Keeper, g.Table, c, s.Receipts, &s.Events, hooks.New(nil), lists.New(g.Node, g.Keeper), networks.New(g.Node), credit.New(g.Node, g.Keeper))
	x := &executor{answers: map[string]Outcome{}}
	a := New(g.Keeper, i, s.Receipts, 1, nil, x)
	m := &matcher{smsc: &receipts.SMSC{Name: "operator"}}
	a.matcher, a.counts = m, &receipts.Counters[atomic.Int64]{}
	v := &rig{Acceptor: a, t: t, x: x, m: m, node: g.Node}
	v.clients, v.operator = g.Table.Connector("clients"), g.Table.Connector("operator")
	v.share = g.Table.Share(g.Table.LaneOf(v.operator), g.Node.Origins.Of("client", "clients"))
	v.share.SetPercent(100)
	v.origin = g.Node.Origins.Of("", "operator")
	m.share = g.Table.Share(g.Table.AccountLane(g.Node.Config(), "client"), v.origin)
	t.Cleanup(func() {
		s.Receipts.EndOrphans()
		g.Keeper.Batches.Close()
	})
	return v
}

// submission returns a message that a client submits.
func (r *rig) submission(code sms.Code) *intake.Submission {
	from := &connector.Source{Connector: r.clients, Origin: r.share.Origin}
	return &intake.Submission{Way: intake.Delivered, From: from, Room: r.Room(), Change: func(_ int64, m *sms.Message) sms.Code {
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
		return code
	}}
}

// receipt brings a receipt of message 7.
func (r *rig) receipt(by string) { r.receiptOf("7", by) }

// receiptOf brings a receipt of a message.
func (r *rig) receiptOf(id, by string) {
	r.Receipt(1, by, &connector.Source{Connector: r.operator, Origin: r.origin}, r.report(id))
}

// report returns a receipt of a message.
func (r *rig) report(id string) *sms.Message {
	m := r.node.Messages.Get()
	m.Origin = r.origin
	report := &sms.Report{ID: []byte(id), State: sms.StateDelivered}
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, report)
	return m
}

// end ends the oldest commit.
func (r *rig) end() {
	p := r.x.stores[0]
	r.x.stores = r.x.stores[1:]
	r.keep.Put(p.Accepted, p.More)
	r.Ended(1, p, sms.OK)
}

func (r *rig) want(by string, code sms.Code, step string) Outcome {
	r.t.Helper()
	o, is := r.x.answered(by)
	if !is || o.Code != code || o.Step != step || (code == sms.OK) != (o.ID != 0) {
		r.t.Errorf("%s: answered %t, %+v; want %s of %q", by, is, o, code, step)
	}
	return o
}

// counted returns how many of the operator's receipts count as taken.
func (r *rig) counted() int64 { return r.operator.Stats.Receipts.Counts()[sms.StateDelivered.String()] }

// A message is refused by the step that says so, or answered, counted and queued; in memory immediately, on a disk when it is
// stored.
func TestSubmit(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.Submit(1, "bad", r.submission(sms.BadDestination))
	r.want("bad", sms.BadDestination, "read")
	r.Submit(1, "good", r.submission(sms.OK))
	o := r.want("good", sms.OK, "")
	if o.Parts != 1 || len(r.x.queued) != 1 || r.x.queued[0].Message.ID != o.ID || r.clients.Stats.Accepted.Load() != 1 {
		t.Errorf("%+v, %d are queued", o, len(r.x.queued))
	}
	mustStore := r.submission(sms.OK)
	mustStore.MustStore = true
	r.Submit(1, "noted", mustStore)
	if len(r.x.stores) != 1 {
		t.Error("what is noted with a message is not stored")
	}
	r.Ended(1, r.x.stores[0], sms.OK)
	r.want("noted", sms.OK, "")

	r = newRig(t, true)
	for _, code := range []sms.Code{sms.OK, sms.SystemError, sms.Undecided} {
		r.Submit(1, "stored", r.submission(sms.OK))
		if _, is := r.x.answered("stored"); is || len(r.x.stores) != 1 || r.keep.Storing.Load() != 1 || r.share.Queued() == 0 {
			t.Fatalf("%d are stored, %d count", len(r.x.stores), r.keep.Storing.Load())
		}
		p := r.x.stores[0]
		r.x.stores = nil
		r.Ended(1, p, code)
		r.want("stored", code, "")
		clear(r.x.answers)
	}
	if n := r.share.Queued(); n != 1 || len(r.x.queued) != 1 || r.keep.Storing.Load() != 0 || r.clients.Stats.Refused.Load() != 2 {
		t.Errorf("%d places are taken, %d queued, %d refused", n, len(r.x.queued), r.clients.Stats.Refused.Load())
	}
}

// Without room a message waits if its sender may, and is refused otherwise. Nothing comes in before those that wait.
func TestRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	roomtest.Occupy(r.share, 10)
	waits := func(by string, may bool) {
		s := r.submission(sms.OK)
		s.Waits = may
		r.Submit(1, by, s)
	}
	waits("must not", false)
	r.want("must not", sms.QueueFull, "room")
	waits("cannot", true)
	r.want("cannot", sms.QueueFull, "room")
	r.x.waits = true
	waits("waits", true)
	if _, is := r.x.answered("waits"); is || len(r.x.waiting) != 1 {
		t.Error("it does not wait")
	}
	roomtest.Occupy(r.share, -10)
	r.share.WaitForRoom(1)
	waits("behind", false)
	r.want("behind", sms.QueueFull, "room")
	r.share.WaitForRoom(-1)
	waits("later", false)
	r.want("later", sms.OK, "")
}

// A step waits for work on another goroutine, in the order of its sender, and goes on unless the sender is gone.
func TestWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	code := sms.OK
	does := func(_ *intake.Checker, _ int64, s *intake.Submission) intake.Verdict {
		s.Work = func() sms.Code { return code }
		return intake.Later
	}
	slow := intake.Step{Name: "slow", Ways: intake.Delivered, Do: does}
	steps := intake.Steps()
	at := slices.IndexFunc(steps, func(s intake.Step) bool { return s.Name == "route" })
	r.checker.Use(slices.Insert(steps, at, slow))
	r.Submit(1, "good", r.submission(sms.OK))
	r.x.work()
	r.want("good", sms.OK, "")
	code = sms.Rejected
	r.Submit(1, "refused", r.submission(sms.OK))
	r.x.work()
	r.want("refused", sms.Rejected, "slow")
	r.x.gone = true
	r.Submit(1, "gone", r.submission(sms.OK))
	r.x.work()
	if _, is := r.x.answered("gone"); is || r.x.inOrder != 3 {
		t.Errorf("answered %t, %d went on in order", is, r.x.inOrder)
	}
}

// A reply is stored with what it answers, and leaves when that is answered. It counts as no message that has come, whatever
// became of it.
func TestReply(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{true, false} {
		for _, failed := range []bool{false, true} {
			if failed && !durable {
				continue
			}
			r := newRig(t, durable)
			mo, reply := r.node.Messages.Get(), r.node.Messages.Get()
			mo.Kind, mo.Origin, reply.Origin = sms.MO, r.origin, r.origin
			r.node.Memory.SetLimit(1 << 20)
			share := r.share.Lane.Queues.Share(r.origin, 100)
			p := Pending[string]{
				Accepted: keep.Accepted{Message: mo, Share: r.m.share}, By: "mo",
				From: &connector.Source{Connector: r.operator, Origin: r.origin},
			}
			r.accept(1, p, keep.Accepted{Message: reply, Share: share}, false, nil)
			if durable {
				if stores := r.x.stores; len(stores) != 1 || len(stores[0].More) != 1 || stores[0].More[0].Message != reply ||
					share.Queued() != 1 || len(r.x.queued) != 0 {
					t.Fatalf("%d are stored", len(r.x.stores))
				}
				r.Ended(1, r.x.stores[0], map[bool]sms.Code{true: sms.SystemError}[failed])
			}
			r.Flush()
			stats := r.operator.Stats
			if failed {
				r.want("mo", sms.SystemError, "")
				if share.Queued() != 0 || stats.Refused.Load() != 1 || r.origin.Tally.Refused.Load() != 1 || len(r.x.queued) != 0 {
					t.Errorf("%d wait, %d are refused, %d queued", share.Queued(), stats.Refused.Load(), len(r.x.queued))
				}
				continue
			}
			o := r.want("mo", sms.OK, "")
			if o.Parts != 1 || o.ID != mo.ID || reply.ID <= mo.ID || reply.Offset != 0 || stats.Accepted.Load() != 1 ||
				r.origin.Tally.Accepted.Load() != 1 || len(r.x.queued) != 2 || r.x.queued[1].Message != reply {
				t.Errorf("%+v, %d queued, %d accepted", o, len(r.x.queued), stats.Accepted.Load())
			}
		}
	}
}
