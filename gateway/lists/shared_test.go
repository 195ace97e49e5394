package lists

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/sms/number"
	"pmg/sms/numbers"
	"pmg/store"
)

// join makes the place a node of a cluster that has the work, with a store.
func (p *place) join(engine store.Store) *keep.Keeper {
	p.t.Helper()
	const yaml = "cluster: {node: a, servers: [\"nats://127.0.0.1:1\"], unsafe: true}" + usual
	n := node.New(p.configured(yaml), zerolog.New(p.log))
	k := keep.New(n)
	k.Open(engine, func(store.Position, error) {})
	p.Lists = New(n, k)
	if err := p.apply(yaml); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Keep(); err != nil {
		p.t.Fatal(err)
	}
	return k
}

// A change of one node is on the list of the node that has the work afterwards: what a mobile or a command has added or removed,
// also where the nodes' files differ. What a command has added at a node without work is stored when that node has it. Where both
// have a number, the one with the work at the time decides.
func TestShared(t *testing.T) {
	engine := store.NewMemory()
	defer engine.Close()
	open := func(p *place) *keep.Keeper { return p.join(engine) }
	a, b := newPlace(t, files()), newPlace(t, files())
	b.put("optouts", "46702\n")
	optouts := func(p *place) *list {
		return p.inUse.Load().find(&config.List{Name: "optouts", File: p.dir + "/optouts"})
	}
	elsewhere := func(p *place) *numbers.List { // as a command does
		l, err := numbers.Open(p.dir+"/optouts", false)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	change := func(l *numbers.List, on bool, number string) {
		t.Helper()
		do := l.Remove
		if on {
			do = l.Add
		}
		if n, err := do(numbers.Origin{}, number); n != 1 || err != nil {
			t.Fatalf("%s: %d, %v", number, n, err)
		}
	}
	wants := func(p *place, all map[string]bool) {
		t.Helper()
		for n, on := range all {
			if optouts(p).numbers.Has(number.Read(n)) != on {
				t.Errorf("%s is on the list: %t", n, !on)
			}
		}
	}
	change(elsewhere(a), true, "46710") // before the cluster
	change(elsewhere(b), true, "46720")
	change(elsewhere(b), true, "46711")
	k := open(a)
	change(optouts(a).numbers, true, "46711")
	change(optouts(a).numbers, false, "46711")
	change(optouts(a).numbers, false, "46701")
	change(elsewhere(a), true, "ACME")
	a.Refresh(time.Now().UnixNano())
	k.Batches.Close()

	k = open(b)
	now := map[string]bool{"46710": true, "46711": false, "46701": false, "46702": true, "46720": true, "ACME": true}
	wants(b, now)
	k.Batches.Close()
	b = &place{t: t, dir: b.dir, log: b.log} // another start
	k = open(b)
	wants(b, now)
	change(optouts(b).numbers, false, "46710")
	b.Refresh(time.Now().UnixNano())
	k.Batches.Close()

	change(elsewhere(a), true, "46730") // as if a had been killed before it was stored
	k = open(b)
	if n, err := b.Change("optouts", false, numbers.Origin{}, "46730"); n != 0 || err != nil {
		t.Errorf("46730 was on the list of b: %d, %v", n, err)
	}
	k.Batches.Close()

	k = open(a)
	defer k.Batches.Close()
	now["46710"], now["46702"], now["46730"] = false, false, false // 46702 is in the file of b alone
	wants(a, now)
}

// The node that takes over has the time, the source and the reason of each change, also of what a command has added while no node
// had the work, and of what another node's journal had before the cluster. Nodes of earlier versions write and read notes with the
// sign alone. A change that is made again leaves the first time.
func TestSharedOrigins(t *testing.T) {
	engine := store.NewMemory()
	defer engine.Close()
	a, b := newPlace(t, files()), newPlace(t, files())
	at := time.Date(2026, 11, 30, 9, 14, 3, 0, time.UTC)
	before, err := numbers.Open(a.dir+"/optouts", false)
	if err != nil {
		t.Fatal(err)
	}
	byHand := numbers.Origin{At: at, Source: numbers.Command, Who: "root", Reason: "a letter, \"=1+1\""}
	if n, err := before.Add(byHand, "46710"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	k := a.join(engine)
	for range 2 {
		if _, err := a.Change("optouts", true, numbers.Origin{Source: numbers.API, Who: "token x", Reason: "asked by phone"}, "46711"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Change("optouts", true, numbers.Origin{Source: numbers.API}, "46713"); err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"46710", "46711", "46713"} {
		if note, known, err := k.Index.Lookup(store.KindListed, append(keyOf("optouts"), number...)); string(note) != "+" || !known || err != nil {
			t.Errorf("an earlier version reads %q, %v of %s", note, err, number)
		}
	}
	k.Batches.Write(func(w *store.Batch) { // as an earlier version does
		w.Note(store.KindListed, append(keyOf("optouts"), "46712"...), []byte("+"), store.Forever)
		w.Note(store.KindListed, append(keyOf("optouts"), "46713"...), []byte("-"), store.Forever)
	})
	k.Batches.CommitSoon()
	k.Batches.Close()
	made := lookUp(t, a, "46711").History
	if len(made) != 1 {
		t.Fatal(made)
	}
	k = b.join(engine)
	for number, want := range map[string]numbers.Origin{"46710": byHand, "46711": made[0].Origin, "46712": {}} {
		if f := lookUp(t, b, number); !f.On || len(f.History) != 1 || f.History[0].Origin != want {
			t.Errorf("%s: %+v, want %+v", number, f, want)
		}
	}
	if f := lookUp(t, b, "46713"); f.On || len(f.History) != 1 || f.History[0].Origin != (numbers.Origin{}) {
		t.Errorf("46713: %+v", f)
	}
	if o := made[0].Origin; o.At.IsZero() || o.Source != numbers.API || o.Who != "token x" || o.Reason != "asked by phone" {
		t.Errorf("%+v", o)
	}
	if s := b.Status()[0]; s.LastAdded != made[0].At.Unix() {
		t.Errorf("%+v", s)
	}
	k.Batches.Close()
}

// A number that was removed and added while another node had the work has its last change at the node that has the work again, once.
func TestSharedAgain(t *testing.T) {
	engine := store.NewMemory()
	defer engine.Close()
	a, b := newPlace(t, files()), newPlace(t, files())
	at := time.Date(2026, 11, 30, 9, 14, 3, 0, time.UTC)
	change := func(p *place, on bool) {
		t.Helper()
		at = at.Add(time.Minute)
		p.node.Clock.WallClock = func() time.Time { return at }
		if n, err := p.Change("optouts", on, numbers.Origin{Source: numbers.API}, "46710"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	k := a.join(engine)
	change(a, true)
	k.Batches.Close()
	k = b.join(engine)
	change(b, false)
	change(b, true)
	k.Batches.Close()
	for range 2 {
		k = a.join(engine)
		k.Batches.Close()
	}
	f := lookUp(t, a, "46710")
	if !f.On || len(f.History) != 2 || !f.History[0].At.Equal(at) || !f.History[1].At.Equal(at.Add(-2*time.Minute)) {
		t.Errorf("%+v", f)
	}
	if all := lookUp(t, b, "46710").History; len(all) != 3 {
		t.Errorf("%+v", all)
	}
}

func lookUp(t *testing.T, p *place, number string) numbers.Found {
	t.Helper()
	r, err := p.Register("optouts")
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Look(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
