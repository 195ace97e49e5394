package route

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/sms"
	"pmg/store"
)

// aPart returns a part that a mobile or a client has made.
func aPart(tb *Table, source string, ref, number, total byte, text string) *sms.Message {
	m := tb.Messages.Get()
	m.Origin, m.Flags, m.Arrived = tb.Origins.Of("", "north"), sms.HasHeader, tb.Clock.Now()
	m.Kind, m.Alphabet = sms.MO, sms.DefaultLatin1
	m.Set(sms.Address{Addr: []byte(source)}, sms.Address{Addr: []byte("7212")}, append([]byte{5, 0, 3, ref, total, number}, text...))
	return m
}

// keywordGateway returns a gateway with a route by a keyword, and a store.
func keywordGateway(t *testing.T) *Table {
	t.Helper()
	out := func(name string) string {
		return fmt.Sprintf("  - {name: %s, direction: out, address: \"127.0.0.1:1\", system_id: pmg, password: secret}\n", name)
	}
	tb := newTable(t, "pdulog: {enabled: false}\nconnectors:\n"+out("north")+out("south")+out("east")+
		"routes:\n  - {from: north, keyword: [VOTE], to: south}\n  - {from: east, keyword: [VOTE], to: south}\n  - {from: north, to: east}\n  - {to: north}\n")
	tb.Open(store.NewMemory(), func(uint64, error) {})
	return tb
}

// A first part is known for join_timeout, and its keyword is that of its message alone.
func TestKeywordOf(t *testing.T) {
	t.Parallel()
	tb := keywordGateway(t)
	lane := func(m *sms.Message) string {
		if l := tb.Route(m); l != nil {
			return l.Home().Name
		}
		return "none"
	}
	want := func(name string, m *sms.Message) {
		t.Helper()
		if got := lane(m); got != name {
			t.Errorf("%q goes to %s, want %s", m.Text(), got, name)
		}
	}
	second := aPart(tb, "4670", 7, 2, 2, "rest")
	want("none", second)
	if !tb.WaitsForFirst(second) {
		t.Error("it does not wait for its first part")
	}
	if second.Kind = sms.Receipt; tb.WaitsForFirst(second) {
		t.Error("a receipt waits for a first part")
	}
	second.Kind = sms.MO
	first := aPart(tb, "4670", 7, 1, 2, "VOTE")
	want("south", first)
	if tb.WaitsForFirst(first) {
		t.Error("a first part waits for itself")
	}
	tb.NoteKeyword(first)
	want("south", second)
	want("south", aPart(tb, "4670", 'A', 1, 2, "VOTE")) // its header is no text
	tb.NoteKeyword(aPart(tb, "4671", 7, 1, 2, "hello"))
	want("east", aPart(tb, "4671", 7, 2, 2, "VOTE"))
	want("none", aPart(tb, "4670", 8, 2, 2, "rest")) // another reference
	want("none", aPart(tb, "4672", 7, 2, 2, "rest")) // another source
	for _, connector := range []string{"north", "east"} {
		other := aPart(tb, "4670", 7, 2, 2, "rest")
		if other.Origin = tb.Origins.Of("", connector); connector == "north" { // another recipient
			other.Set(other.Source(), sms.Address{Addr: []byte("7213")}, other.Text())
		}
		want("none", other)
	}
	receipt := aPart(tb, "4673", 7, 1, 2, "VOTE")
	receipt.Kind = sms.Receipt
	tb.NoteKeyword(receipt)
	want("none", aPart(tb, "4673", 7, 2, 2, "rest")) // a receipt is no first part
	want("none", aPart(tb, "4670", 7, 2, 3, "rest")) // another number of parts
	other := aPart(tb, "4670", 7, 2, 2, "rest")
	other.Origin = tb.Origins.Of("acme", "north") // another origin
	want("none", other)
	late := aPart(tb, "4670", 7, 2, 2, "rest")
	late.Arrived = first.Arrived + int64(tb.Config().Limits.JoinTimeout)
	want("south", late)
	late.Arrived++
	want("none", late)
	early := aPart(tb, "4670", 7, 2, 2, "rest")
	early.Arrived = first.Arrived - int64(tb.Config().Limits.JoinTimeout)
	want("south", early)
	early.Arrived--
	want("none", early)
	want("east", aPart(tb, "4670", 9, 1, 1, "no part")) // it says that it is the only one

	// The parts that the gateway makes have no references that repeat.
	for part := range uint8(3) {
		m := tb.Messages.Get()
		m.Origin, m.ID, m.Part, m.Parts, m.Arrived = tb.Origins.Of("", "north"), 5000+uint64(part), part, 3, int64(part)*1e15
		m.Alphabet = sms.DefaultLatin1
		m.Set(sms.Address{}, sms.Address{Addr: []byte("7212")}, []byte([]string{"VOTE", "two", "three"}[part]))
		if part == 0 {
			tb.NoteKeyword(m)
		}
		want("south", m)
		m.ID += 1000
		want([]string{"south", "none", "none"}[part], m)
	}
}

// What is remembered is bounded: the oldest first parts make room, and no more than so many parts
// wait for theirs.
func TestKeywordsAreBounded(t *testing.T) {
	t.Parallel()
	tb := keywordGateway(t)
	k := &tb.keywords
	for i := range maxKeywords + 10 {
		k.put(fmt.Sprint(i), firstPart{"VOTE", 1})
	}
	if len(k.of) != maxKeywords || len(k.order) != maxKeywords {
		t.Errorf("%d are known", len(k.of))
	}
	for i := range 20 {
		if _, ok := k.of[fmt.Sprint(i)]; ok != (i >= 10) {
			t.Errorf("the keyword of message %d is there: %v", i, ok)
		}
	}
	for i := range maxFirstless {
		m := aPart(tb, fmt.Sprint(4670000000+i), 7, 2, 2, "rest")
		m.ID = uint64(i) + 1
		if !tb.WaitsForFirst(m) {
			t.Fatalf("part %d does not wait", i)
		}
		tb.KeepFirstless(m)
	}
	if tb.WaitsForFirst(aPart(tb, "4671", 7, 2, 2, "rest")) {
		t.Error("one too many waits")
	}
	tb.Clock.SetAhead(tb.Clock.Ahead() + int64(tb.Config().Limits.JoinTimeout) + 60e9)
	m := aPart(tb, "4671", 7, 2, 2, "rest")
	if !tb.WaitsForFirst(m) || len(k.waiting) != 0 || len(k.line) != 0 {
		t.Errorf("%d wait still", len(k.line))
	}
	tb.End()
	if err := tb.Close(); err != nil {
		t.Error(err)
	}
}

// A part that was put aside goes on when its first part comes, or has come shortly before, also in an earlier run. What is
// routed again knows its keyword.
func TestFirstlessGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first string // when the first part comes
		later int64  // how much later than the other one
		gone  bool   // what is in memory is forgotten between
		want  bool
	}{
		"behind":               {"behind", 1, false, true},
		"behind, too late":     {"behind", 1e15, false, false},
		"before":               {"before", -1, false, true},
		"before, too early":    {"before", -1e15, false, false},
		"before a restart":     {"before", -1, true, true},
		"long before":          {"before", -1e15, true, false},
		"behind a restart":     {"behind", 1, true, false}, // the other one is read again then
		"never":                {"", 0, false, false},
		"never, over restarts": {"", 0, true, false},
	} {
		tb := keywordGateway(t)
		again := make(chan string, 10)
		parts := map[uint64]*sms.Message{}
		tb.RouteAgain = func(ids []uint64) error {
			for _, id := range ids {
				lane := tb.Route(parts[id])
				if lane == nil {
					again <- fmt.Sprint(id, " to none")
					continue
				}
				again <- fmt.Sprint(id, " to ", lane.Home().Name)
			}
			return nil
		}
		note := func() {
			m := aPart(tb, "4670", 7, 1, 3, "VOTE")
			m.Arrived += c.later
			tb.NoteKeyword(m)
		}
		forget := func() {
			if !c.gone {
				return
			}
			tb.keywords.done.Wait()
			if err := tb.Committer.Sync(); err != nil {
				t.Fatal(err)
			}
			k := &tb.keywords
			k.mu.Lock()
			defer k.mu.Unlock()
			k.of, k.order, k.waiting, k.line = nil, nil, nil, nil
		}
		if c.first == "before" {
			note()
			forget()
		}
		var all []string
		for id := uint64(2); id <= 3; id++ {
			m := aPart(tb, "4670", 7, byte(id), 3, "rest")
			m.ID = id
			parts[id] = m
			tb.KeepFirstless(m)
			if c.first != "behind" {
				tb.keywords.done.Wait()
			}
		}
		if c.first == "behind" {
			forget()
			note()
		}
		tb.keywords.done.Wait()
		for len(again) > 0 {
			all = append(all, <-again)
		}
		want := []string{"2 to south", "3 to south"}
		if !c.want {
			want = nil
		}
		if !slices.Equal(all, want) {
			t.Errorf("%s: %v, want %v", name, all, want)
		}
		tb.End()
		tb.Store = nil // it is closed
		tb.KeepFirstless(aPart(tb, "4672", 7, 2, 2, "rest"))
		tb.keywords.done.Wait()
	}
}

// A part goes on when what the store has of earlier runs is in its lanes, and not when the gateway ends.
func TestFirstlessAfterRecovery(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		tb := keywordGateway(t)
		s, err := store.Open("data", store.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		tb.Open(s, func(uint64, error) {})
		var again []uint64
		tb.RouteAgain = func(ids []uint64) error { again = append(again, ids...); return nil }
		tb.NoteKeyword(aPart(tb, "4670", 7, 1, 2, "VOTE"))
		m := aPart(tb, "4670", 7, 2, 2, "rest")
		m.ID = 7
		tb.KeepFirstless(m)
		if tb.keywords.done.Wait(); len(again) > 0 {
			t.Error("it goes on before recovery is over")
		}
		tb.SetRecovered()
		if ended {
			tb.End()
		}
		tb.Begin()
		if tb.keywords.done.Wait(); (len(again) == 1) == ended {
			t.Errorf("the gateway ends: %v; parts that go on: %d", ended, again)
		}
		if err := tb.Close(); err != nil {
			t.Error(err)
		}
	}
}
