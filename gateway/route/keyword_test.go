package route

import (
	"fmt"
	"testing"

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
		"routes:\n  - {from: north, keyword: [VOTE], to: south}\n  - {from: north, to: east}\n  - {to: north}\n")
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
	first := aPart(tb, "4670", 7, 1, 2, "VOTE")
	want("south", first)
	tb.NoteKeyword(first)
	want("south", second)
	tb.NoteKeyword(aPart(tb, "4671", 7, 1, 2, "hello"))
	want("east", aPart(tb, "4671", 7, 2, 2, "VOTE"))
	want("none", aPart(tb, "4670", 8, 2, 2, "rest")) // another reference
	want("none", aPart(tb, "4670", 7, 2, 3, "rest")) // another number of parts
	other := aPart(tb, "4670", 7, 2, 2, "rest")
	other.Origin = tb.Origins.Of("acme", "north") // another origin
	want("none", other)
	late := aPart(tb, "4670", 7, 2, 2, "rest")
	late.Arrived += int64(tb.Config().Limits.JoinTimeout) + 1
	want("none", late)
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
	if _, ok := k.of["9"]; ok {
		t.Error("the oldest is there")
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
