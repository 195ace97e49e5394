package hooks

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pmg/config"
	"pmg/plugin"
	"pmg/sms"
)

// A fake is a plugin that waits.
type fake struct {
	closed atomic.Bool
	ask    func(ctx context.Context) (plugin.Verdict, error)
}

func (f *fake) Close() { f.closed.Store(true) }
func (f *fake) Ask(ctx context.Context, _ *plugin.Message) (plugin.Verdict, error) {
	if f.ask == nil {
		return plugin.Verdict{}, nil
	}
	return f.ask(ctx)
}

// A house is hooks, and the plugins that they have made.
type house struct {
	*Hooks
	made []*fake
}

func newHouse() *house {
	h := &house{}
	h.Hooks = New(func(*config.Plugin) plugin.Plugin {
		h.made = append(h.made, &fake{})
		return h.made[len(h.made)-1]
	})
	return h
}

// apply puts plugins and hooks in force, as a file has them.
func (h *house) apply(t *testing.T, plugins, hooks string) {
	t.Helper()
	cfg, _, err := config.Parse([]byte(fmt.Sprintf(`
accounts: [{system_id: a, password: x}, {system_id: b, password: x}]
connectors: [{name: in, direction: in, address: ":0"}, {name: out, direction: out, address: "a:1", system_id: x}]
routes: [{to: out}]
plugins: [%s]
hooks: [%s]
`, plugins, hooks)), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Apply(cfg)
}

const one, other = `{name: one, on_failure: pass, url: "http://127.0.0.1:1/"}`, `{name: other, on_failure: pass, url: "http://127.0.0.1:2/"}`

// A plugin goes on over a reload that leaves its options, and is closed behind one that changes or removes them.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.apply(t, one+","+other, "{at: accept, plugin: one}")
		first := h.All()[0].Pool
		h.apply(t, other+","+one, "{at: accept, plugin: other}, {at: accept, plugin: one}")
		if h.All()[1].Pool != first || len(h.made) != 2 || h.made[0].closed.Load() {
			t.Error("an unchanged plugin was made again, or closed")
		}
		h.apply(t, `{name: one, on_failure: hold, url: "http://127.0.0.1:1/"}`, "{at: accept, plugin: one}")
		if h.All()[0].Pool == first || len(h.made) != 3 {
			t.Error("a plugin that has changed goes on")
		}
		time.Sleep(first.Deadline)
		if h.made[0].closed.Load() {
			t.Error("it is closed while messages may wait for it")
		}
		time.Sleep(2 * time.Second)
		if !h.made[0].closed.Load() || !h.made[1].closed.Load() || h.made[2].closed.Load() {
			t.Error("those that went are not closed, or the one that stays is")
		}
		h.apply(t, "", "")
		h.Close()
		h.Close()
		if !h.made[2].closed.Load() || len(h.All()) != 0 {
			t.Error("one is not closed at the end")
		}
	})
}

// A hook asks about the messages of its accounts and connectors, at its place.
func TestAsks(t *testing.T) {
	t.Parallel()
	h := newHouse()
	defer h.Close()
	h.apply(t, one, "{at: accept, plugin: one, accounts: [a], connectors: [in]}, {at: mo, plugin: one}, {at: accept, plugin: one}")
	for want, m := range map[string]*sms.Message{
		"true false true":   {Origin: &sms.Origin{Account: "a", Connector: "in"}},
		"false false true":  {Origin: &sms.Origin{Account: "b", Connector: "in"}},
		"false true false":  {Origin: &sms.Origin{Connector: "out"}, Kind: sms.MO},
		"false false true ": {Origin: &sms.Origin{Account: "a", Connector: "out"}},
	} {
		var got []string
		for _, k := range h.All() {
			got = append(got, fmt.Sprint(k.Asks(At(m), m.Origin)))
		}
		if strings.Join(got, " ") != strings.TrimSpace(want) || len(h.Waiting(m)) != strings.Count(want, "true") {
			t.Errorf("%+v: %v, want %s; %v", m.Origin, got, want, h.Waiting(m))
		}
	}
}

// The status has each plugin's figures.
func TestStatus(t *testing.T) {
	t.Parallel()
	h := newHouse()
	defer h.Close()
	h.apply(t, one+","+other, "{at: accept, plugin: other}")
	h.All()[0].Pool.Ask(&plugin.Message{})
	if s := h.Status(); len(s) != 2 || s[0].Name != "one" || s[1].Name != "other" || s[0].Asked != 0 || s[1].Asked != 1 {
		t.Errorf("%+v", s)
	}
}

// A question has each field as the message has it.
func TestQuestion(t *testing.T) {
	t.Parallel()
	var asker Questioner
	wall := func(at int64) int64 { return at + int64(time.Hour) }
	m := &sms.Message{
		Origin: &sms.Origin{Account: "a", Connector: "in"}, Arrived: 1_800_000_000e9, DeliverAt: 1_800_000_060e9, Priority: 3,
	}
	m.Set(sms.Address{TON: 5, Addr: []byte("PMG")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46701")}, []byte("a\x02"))
	sms.AddTag(m, "vip")
	m.Network, _ = sms.ReadNetwork("24001")
	want := plugin.Message{
		Hook: "accept", Account: "a", Connector: "in", From: "PMG", FromTON: 5, To: "46701", ToTON: 1, Text: "a$",
		Alphabet: "gsm7", IsPart: true, Priority: 3, Tags: "vip", Network: "24001", DeliverAt: time.Unix(1_800_003_660, 0).UTC(), Arrived: time.Unix(1_800_003_600, 0).UTC(),
	}
	q := asker.Ask(plugin.Accept, m, true, wall)
	if q.Message != want {
		t.Errorf("%+v, want %+v", q.Message, want)
	}
	asker.Free(q)
	m.Alphabet, m.DeliverAt = sms.Binary, 0
	m.SetTags(nil)
	m.Network, want.Network = 0, ""
	want.Text, want.Binary, want.Alphabet, want.IsPart, want.Tags, want.DeliverAt = "", true, "binary", false, "", time.Time{}
	if q = asker.Ask(plugin.Accept, m, false, wall); q.Message != want {
		t.Errorf("%+v, want %+v", q.Message, want)
	}
	for a := range sms.LastAlphabet + 1 {
		if alphabets[a] == "" {
			t.Errorf("alphabet %d has no name", a)
		}
	}
}

// A verdict changes what it names, and nothing of a message that does not allow all of it.
func TestChange(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name string
		v    plugin.Verdict
		with func(*sms.Message)
		want string // of the message, or the error
	}{
		{"nothing", plugin.Verdict{}, nil, "5:PMG 0:0701 text [old] known false"},
		{"a text", plugin.Verdict{Text: text("new")}, nil, "5:PMG 0:0701 new [old] known false"},
		{"no text", plugin.Verdict{Text: text("")}, nil, "5:PMG 0:0701  [old] known false"},
		{"addresses", plugin.Verdict{From: text("1234"), To: text("+46701")}, nil, "3:1234 1:46701 text [old] known false"},
		{"the same addresses", plugin.Verdict{From: text("PMG"), To: text("0701")}, nil, "5:PMG 0:0701 text [old] known false"},
		{"addresses of one with a receipt", plugin.Verdict{To: text("+46701")}, func(m *sms.Message) { m.Notify = sms.NotifySuccess }, "5:PMG 1:46701 text [old] known true"},
		{"tags", plugin.Verdict{Tags: []string{"a", "old", "b"}}, nil, "5:PMG 0:0701 text [old a b] known false"},
		{"a recipient of letters", plugin.Verdict{To: text("me"), Text: text("x")}, nil, `it changes the recipient to "me", which is no number`},
		{"a recipient of nothing", plugin.Verdict{To: text("+")}, nil, `it changes the recipient to "+", which is no number`},
		{"a text of a part", plugin.Verdict{Text: text("x"), Tags: []string{"a"}}, func(m *sms.Message) { m.Flags |= sms.HasHeader }, "it changes the text of a message with a user data header, such as a part of a long one"},
		{"a recipient that is too long", plugin.Verdict{To: text("+" + strings.Repeat("4", 21))}, nil, `it changes the recipient to "+444444444444444444444", which is no number`},
		{"addresses that are just short enough", plugin.Verdict{From: text("+" + strings.Repeat("4", 20)), To: text(strings.Repeat("4", 20))}, nil, "1:44444444444444444444 1:44444444444444444444 text"},
		{"a sender that is too long", plugin.Verdict{From: text(strings.Repeat("A", 21))}, nil, `it changes the sender to "AAAAAAAAAAAAAAAAAAAAA", which has more than 20`},
		{"long addresses that stay", plugin.Verdict{From: text(strings.Repeat("A", 30)), To: text("me")}, func(m *sms.Message) {
			m.SetAddresses(sms.Address{TON: 5, Addr: []byte(strings.Repeat("A", 30))}, sms.Address{TON: 5, Addr: []byte("me")})
		}, "5:" + strings.Repeat("A", 30) + " 5:me text"},
		{"a binary text", plugin.Verdict{Text: text("x")}, func(m *sms.Message) { m.Alphabet = sms.Binary }, "it changes the text of a binary message"},
		{"too many tags", plugin.Verdict{Tags: []string{"a", strings.Repeat("z", 64)}, Text: text("x")}, func(m *sms.Message) {
			for i := range 7 {
				sms.AddTag(m, strings.Repeat(string(rune('a'+i)), 64))
			}
		}, "it gives the tag"},
	} {
		m := &sms.Message{}
		m.Set(sms.Address{TON: 5, Addr: []byte("PMG")}, sms.Address{Addr: []byte("0701")}, []byte("text"))
		sms.AddTag(m, "old")
		if c.with != nil {
			c.with(m)
		}
		before := describe(m)
		got := ""
		if err := Change(m, &c.v); err != nil {
			if got = err.Error(); describe(m) != before {
				t.Errorf("%s: %s becomes %s in spite of %v", c.name, before, describe(m), err)
			}
		} else {
			got = describe(m)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func describe(m *sms.Message) string {
	_, known := m.Submitted()
	return fmt.Sprintf("%d:%s %d:%s %s [%s] known %t", m.SourceTON, m.Source().Addr, m.DestTON, m.Dest().Addr, m.Text(), m.Tags(), known)
}

// A new text is in the alphabet that it needs, whatever that of the old one.
func TestAlphabets(t *testing.T) {
	t.Parallel()
	for _, was := range []sms.Alphabet{sms.Default, sms.UCS2, sms.DefaultLatin1} {
		for text, want := range map[string]sms.Alphabet{"abc": sms.Default, "żabc": sms.UCS2} {
			m := &sms.Message{Alphabet: was}
			m.Set(sms.Address{}, sms.Address{}, []byte("text"))
			if err := Change(m, &plugin.Verdict{Text: &text}); err != nil || m.Alphabet != want || (m.Flags&sms.Converted != 0) != (was != want) {
				t.Errorf("%d, %s: alphabet %d, %v", was, text, m.Alphabet, err)
			}
		}
	}
}
