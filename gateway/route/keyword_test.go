package route

import (
	"fmt"
	"testing"

	"pmg/sms"
	"pmg/store"
)

// aPart returns a part that a mobile or a client has made.
func aPart(tb *Table, source string, ref, number, total byte, text string) *sms.Message {
	m := tb.node.Messages.Get()
	m.Origin, m.Flags, m.Arrived = tb.node.Origins.Of("", "north"), sms.HasHeader, tb.node.Clock.Now()
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
	tb.keep.Open(store.NewMemory(), func(store.Position, error) {})
	return tb
}

// A first part is known for an hour, and its keyword is that of its message alone.
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
	if !tb.LacksFirst(second) {
		t.Error("it does not lack its first part")
	}
	if second.Kind = sms.Receipt; tb.LacksFirst(second) {
		t.Error("a receipt lacks a first part")
	}
	second.Kind = sms.MO
	first := aPart(tb, "4670", 7, 1, 2, "VOTE")
	want("south", first)
	if tb.LacksFirst(first) {
		t.Error("a first part lacks itself")
	}
	tb.RememberKeyword(first)
	want("south", second)
	want("south", aPart(tb, "4670", 'A', 1, 2, "VOTE")) // its header is no text
	tb.RememberKeyword(aPart(tb, "4671", 7, 1, 2, "hello"))
	want("east", aPart(tb, "4671", 7, 2, 2, "VOTE"))
	want("none", aPart(tb, "4670", 8, 2, 2, "rest")) // another reference
	want("none", aPart(tb, "4672", 7, 2, 2, "rest")) // another source
	for _, connector := range []string{"north", "east"} {
		other := aPart(tb, "4670", 7, 2, 2, "rest")
		if other.Origin = tb.node.Origins.Of("", connector); connector == "north" { // another recipient
			other.Set(other.Source(), sms.Address{Addr: []byte("7213")}, other.Text())
		}
		want("none", other)
	}
	receipt := aPart(tb, "4673", 7, 1, 2, "VOTE")
	receipt.Kind = sms.Receipt
	tb.RememberKeyword(receipt)
	want("none", aPart(tb, "4673", 7, 2, 2, "rest")) // a receipt is no first part
	want("none", aPart(tb, "4670", 7, 2, 3, "rest")) // another number of parts
	other := aPart(tb, "4670", 7, 2, 2, "rest")
	other.Origin = tb.node.Origins.Of("acme", "north") // another origin
	want("none", other)
	late := aPart(tb, "4670", 7, 2, 2, "rest")
	late.Arrived = first.Arrived + firstPartKnown
	want("south", late)
	late.Arrived++
	want("none", late)
	early := aPart(tb, "4670", 7, 2, 2, "rest")
	early.Arrived = first.Arrived - firstPartKnown
	want("south", early)
	early.Arrived--
	want("none", early)
	want("east", aPart(tb, "4670", 9, 1, 1, "no part")) // it says that it is the only one

	// The parts that the gateway makes have no references that repeat.
	for part := range uint8(3) {
		m := tb.node.Messages.Get()
		m.Origin, m.ID, m.Part, m.Parts, m.Arrived = tb.node.Origins.Of("", "north"), 5000+uint64(part), part, 3, int64(part)*1e15
		m.Kind, m.Alphabet = sms.MO, sms.DefaultLatin1
		m.Set(sms.Address{}, sms.Address{Addr: []byte("7212")}, []byte([]string{"VOTE", "two", "three"}[part]))
		if part == 0 {
			tb.RememberKeyword(m)
		}
		want("south", m)
		m.ID += 1000
		want([]string{"south", "none", "none"}[part], m)
	}
}

// What is remembered is bounded: the oldest first parts make room.
func TestKeywordsAreBounded(t *testing.T) {
	t.Parallel()
	k := &keywordGateway(t).keywords
	for i := range maxKeywords + 10 {
		k.put(fmt.Sprint(i), firstPart{"VOTE", 1}, true)
	}
	if len(k.of) != maxKeywords || len(k.order) != maxKeywords {
		t.Errorf("%d are known", len(k.of))
	}
	for i := range 20 {
		if _, ok := k.of[fmt.Sprint(i)]; ok != (i >= 10) {
			t.Errorf("the keyword of message %d is there: %v", i, ok)
		}
	}
}

// The store has the keyword of a first part that memory has forgotten, and never replaces a newer one by it.
func TestFindFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later int64 // how much later than the other part the first one comes
		newer string
		want  string
	}{
		"of an earlier run": {later: -1, want: "south"},
		"of long ago":       {later: -2 * firstPartKnown, want: "none"},
		"of another text":   {later: -1, newer: "hello", want: "east"},
	} {
		tb := keywordGateway(t)
		first := aPart(tb, "4670", 7, 1, 2, "VOTE")
		first.Arrived += c.later
		tb.RememberKeyword(first)
		if err := tb.keep.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		tb.keywords.of, tb.keywords.order = nil, nil
		second := aPart(tb, "4670", 7, 2, 2, "rest")
		if !tb.LacksFirst(second) {
			t.Errorf("%s: the first part is known", name)
		}
		if c.newer != "" {
			key, _ := tb.firstOf(second)
			tb.keywords.put(key, firstPart{"HELLO", tb.node.Clock.Wall(second.Arrived)}, true)
		}
		tb.FindFirst(second)
		got := "none"
		if l := tb.Route(second); l != nil {
			got = l.Home().Name
		}
		if got != c.want {
			t.Errorf("%s: it goes to %s, want %s", name, got, c.want)
		}
		if err := tb.keep.Close(); err != nil {
			t.Error(err)
		}
	}
}
