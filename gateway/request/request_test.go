package request

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/intake"
	"pmg/gateway/lists"
	"pmg/gateway/networks"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
	"pmg/store/journal"
)

// A rig is Requests whose commits end as the test says, and what lanes were given.
type rig struct {
	*Requests
	disk  *roomtest.Disk
	from  *connector.Source
	given chan int // messages that a lane was given together
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ground := roomtest.New(t, roomtest.Operator("long_messages: split8"))
	n, k, table := ground.Node, ground.Keeper, ground.Table
	c := convert.New(n, table)
	s := settle.New(n, k, table, c, hooks.New(nil))
	g := &rig{disk: roomtest.NewDisk(), given: make(chan int, 100)}
	g.Requests = New(n, k, table, intake.New(n, k, table, c, s.Receipts, &s.Events, hooks.New(nil), lists.New(n, k), networks.New(n), credit.New(n, k)), s.Receipts)
	g.disk.Store = store.NewMemory()
	k.Open(g.disk, g.Committed)
	k.Begin(roomtest.Engine(func(l *connector.Lane, f func(int64)) bool {
		before := l.Queues.Len()
		f(n.Clock.Now())
		g.given <- l.Queues.Len() - before
		return true
	}))
	accounts := account.NewTable(n.Config(), account.NewRegistry())
	l := account.Login{SystemID: []byte("client"), Password: []byte("secret"), Connector: "clients", Bind: protocols.Transmitter}
	client, result := accounts.Admit(l, accounts.Verify(l))
	if client == nil {
		t.Fatal(result)
	}
	g.from = &connector.Source{Connector: table.Connector("clients"), Account: client, Origin: n.Origins.Of("client", "clients")}
	return g
}

func text(to, octets string) Fill {
	return func(m *sms.Message) sms.Code {
		if to == "" {
			return sms.BadDestination
		}
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte(to)}, []byte(octets))
		return sms.OK
	}
}

// The messages of a request are in one commit, and their lane gets them together when that has ended; those that are
// refused keep no other back.
func TestSubmit(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	long := string(slices.Repeat([]byte("a"), 200))
	ended := make(chan []Result)
	go func() {
		ended <- g.Submit(t.Context(), g.from, []Item{
			{Fill: text("1", "one")}, {Fill: text("", "")}, {Fill: text("1", long)}, {Fill: text("1", long), Parts: 1},
		})
	}()
	if n := <-g.disk.Begun; n != 3 {
		t.Errorf("%d changes in the commit", n)
	}
	select {
	case r := <-ended:
		t.Fatalf("answered before the commit: %+v", r)
	case <-g.given:
		t.Fatal("the lane was given a message before the commit")
	default:
	}
	g.disk.Permits <- nil
	r := <-ended
	if n := <-g.given; n != 3 {
		t.Errorf("the lane was given %d", n)
	}
	if r[0].Code != sms.OK || r[0].Parts != 1 || r[2].Parts != 2 || r[2].ID <= r[0].ID {
		t.Errorf("%+v", r)
	}
	if r[1].Code != sms.BadDestination || r[1].Step != "read" || r[3].Code != sms.BadLength || r[3].Step != "fit" || r[3].ID != 0 {
		t.Errorf("%+v", r)
	}
	if n := g.from.Origin.Tally.Accepted.Load(); n != 3 {
		t.Errorf("%d are counted", n)
	}
	if r, to := g.Preview(t.Context(), g.from, Item{Fill: text("1", "one")}); r.Code != sms.OK || to != "operator" {
		t.Errorf("%+v to %s", r, to)
	}
	if n := g.Requests.table.Taken(1)[0].All; n != 3 { // those that are read, and no preview
		t.Errorf("the route counts %d", n)
	}
}

// The messages of a large request are stored in several commits, so that those of others come between. From when its client is
// gone on no more are submitted, unless they have a key: then a commit has all.
func TestSubmitMany(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	items := slices.Repeat([]Item{{Fill: text("1", "one")}}, 3*atOnce)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan []Result)
	go func() { ended <- g.Submit(ctx, g.from, items) }()
	if n := <-g.disk.Begun; n != atOnce {
		t.Errorf("%d changes in a commit", n)
	}
	g.disk.Permits <- nil
	<-g.disk.Begun
	cancel()
	g.disk.Permits <- nil
	r := <-ended
	if last := r[3*atOnce-1]; r[2*atOnce-1].Code != sms.OK || last.Code == sms.OK || !errors.Is(last.Err, context.Canceled) {
		t.Errorf("%+v, %+v", r[0], last)
	}
	once := make(chan []Result)
	go func() {
		r := make([]Result, len(items))
		_, _ = g.SubmitOnce(ctx, g.from, "k", sha256.Sum256(nil), Work{
			N:      len(items),
			Item:   func(i int) (Item, bool) { return items[i], i > 0 },
			Became: func(i int, result Result) { r[i] = result },
		})
		once <- r
	}()
	if n := <-g.disk.Begun; n != 3*atOnce { // one message cannot be read, and the key
		t.Errorf("%d changes in the commit of a key", n)
	}
	g.disk.Permits <- nil
	if r := <-once; r[3*atOnce-1].Code != sms.OK {
		t.Errorf("%+v", r[3*atOnce-1])
	}
}

// What could not be stored is refused, and takes no place.
func TestSubmitNotStored(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	ended := make(chan []Result)
	item := Item{Fill: text("1", "one")}
	go func() { ended <- g.Submit(t.Context(), g.from, []Item{item}) }()
	<-g.disk.Begun
	g.disk.Permits <- journal.ErrFull
	if r := <-ended; r[0].Code != sms.SystemError || r[0].ID != 0 {
		t.Errorf("%+v", r)
	}
	go func() { ended <- g.Submit(t.Context(), g.from, []Item{item}) }()
	<-g.disk.Begun
	g.disk.Permits <- errors.New("the disk does not answer")
	if r := <-ended; r[0].Code != sms.Undecided || r[0].ID != 0 {
		t.Errorf("%+v", r)
	}
	lane := g.Requests.table.LaneOf(g.Requests.table.Connector("operator"))
	if lane.Queued.Load() != 0 || len(g.given) != 0 || g.Requests.keep.Storing.Load() != 0 {
		t.Errorf("%d places are taken, %d wait to be stored", lane.Queued.Load(), g.Requests.keep.Storing.Load())
	}
}

// While a request is being carried out, its key is nobody else's; others of the same batch go on.
func TestKeyUnderWay(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	first := make(chan []Result)
	item := Item{Fill: text("1", "one"), Key: "k", Payload: sha256.Sum256([]byte("one"))}
	go func() { first <- g.Submit(t.Context(), g.from, []Item{item, item}) }()
	<-g.disk.Begun
	if r := g.Submit(t.Context(), g.from, []Item{item}); !errors.Is(r[0].Err, ErrUnderWay) {
		t.Errorf("%+v", r)
	}
	if _, err := g.SubmitOnce(t.Context(), g.from, "k", item.Payload, Work{}); !errors.Is(err, ErrUnderWay) {
		t.Error(err)
	}
	g.disk.Permits <- nil
	if r := <-first; r[0].Code != sms.OK || r[0].Err != nil || !errors.Is(r[1].Err, ErrUnderWay) {
		t.Errorf("%+v", r)
	}
}

// What was stored with a key is what is read of it, and nothing else is.
func TestStoredResults(t *testing.T) {
	t.Parallel()
	payload := sha256.Sum256([]byte("x"))
	want := []Result{{ID: 1<<63 + 5, Parts: 300, Parked: true}, {Code: sms.BadLength}}
	quoted := slices.Clone(want)
	quoted[0].Quote = sms.Quote{Price: 45_000, Currency: "EUR"}
	for _, want := range [][]Result{want, quoted} {
		value := appendResults(payload, want)
		got, err := readResults(value, payload)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := readResults(value, sha256.Sum256([]byte("y"))); !errors.Is(err, ErrOther) {
			t.Error(err)
		}
		size := sizeOf(value[0])
		for n := range len(value) {
			if got, err := readResults(value[:n], payload); n > 0 && (n-keyHead)%size != 0 && err == nil {
				t.Errorf("%d octets are %+v", n, got)
			}
		}
		value[0] = keyQuoted + 1
		if _, err := readResults(value, payload); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("a value of another version: %v", err)
		}
	}
	if got, err := readResults(nil, payload); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// A fault at a message leaves its key free for another request.
func TestKeyAfterPanic(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	item := Item{Key: "k", Fill: func(*sms.Message) sms.Code { panic("fault") }}
	func() {
		defer func() { _ = recover() }()
		g.Submit(t.Context(), g.from, []Item{item})
	}()
	item.Fill = text("", "")
	if r := g.Submit(t.Context(), g.from, []Item{item}); r[0].Err != nil || r[0].Code != sms.BadDestination {
		t.Errorf("%+v", r)
	}
}
