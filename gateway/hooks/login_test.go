package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/plugin"
	"pmg/plugin/answers"
	"pmg/plugin/enum"
	"pmg/plugin/program"
	"pmg/plugin/service"
	"pmg/sms"
	"pmg/sms/number"
)

// A client is refused by the first plugin that refuses it, of those that are asked about its account, in their order. One without
// a verdict is reported, and its on_failure decides.
func TestLogIn(t *testing.T) {
	t.Parallel()
	refuse := func(why string) func(context.Context) (plugin.Verdict, error) {
		return func(context.Context) (plugin.Verdict, error) {
			return plugin.Verdict{Do: plugin.Refuse, Why: why}, nil
		}
	}
	fails := func(context.Context) (plugin.Verdict, error) { return plugin.Verdict{}, errors.New("broken") }
	const refusing = `{name: other, on_failure: refuse, url: "http://127.0.0.1:2/"}`
	for _, c := range []struct {
		name, plugins, hooks string
		one, other           func(context.Context) (plugin.Verdict, error)
		want, failed         string
		asked                string // how often each
	}{
		{"no hook", one, "", refuse("no"), nil, "", "", "0 0"},
		{"another hook", one, "{at: accept, plugin: one}", refuse("no"), nil, "", "", "0 0"},
		{"it passes", one, "{at: login, plugin: one}", nil, nil, "", "", "1 0"},
		{"it refuses", one, "{at: login, plugin: one}", refuse("no"), nil, ": one: no", "", "1 0"},
		{"of another account", one, "{at: login, plugin: one, accounts: [b]}", refuse("no"), nil, "", "", "0 0"},
		{"the first refuses", one + "," + other, "{at: login, plugin: one}, {at: login, plugin: other}", refuse("no"), refuse("never"), ": one: no", "", "1 0"},
		{"the second refuses", one + "," + other, "{at: login, plugin: one}, {at: login, plugin: other}", nil, refuse("never"), ": other: never", "", "1 1"},
		{"it fails, and passes", one + "," + other, "{at: login, plugin: one}, {at: login, plugin: other}", fails, refuse("never"), ": other: never", "one", "1 1"},
		{"it fails, and refuses", one + "," + refusing, "{at: login, plugin: one}, {at: login, plugin: other}", nil, fails,
			": other: plugin other has not answered", "other", "1 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			defer h.Close()
			h.apply(t, c.plugins, c.hooks)
			h.made[0].ask = c.one
			asked := func(i int) (n int64) {
				if i < len(h.made) {
					n = h.Status()[i].Asked
				}
				return n
			}
			if len(h.made) > 1 {
				h.made[1].ask = c.other
			}
			m, failed := plugin.Message{Account: "a", Connector: "in"}, ""
			got := h.LogIn(&m, func(plugin string, err error) {
				if failed += plugin; !strings.Contains(err.Error(), "broken") {
					t.Error(err)
				}
			})
			if got.String() != c.want || failed != c.failed || fmt.Sprint(asked(0), asked(1)) != c.asked || m.Hook != plugin.Login {
				t.Errorf("%q, %q failed, asked %d and %d at %s", got, failed, asked(0), asked(1), m.Hook)
			}
		})
	}
}

// A client that finds no place is not refused as one that guesses: on_failure decides.
func TestLogInCrowded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		defer h.Close()
		h.apply(t, `{name: one, on_failure: pass, workers: 1, queue: 1, url: "http://127.0.0.1:1/"}`, "{at: login, plugin: one}")
		busy := make(chan bool)
		h.made[0].ask = func(context.Context) (plugin.Verdict, error) { <-busy; return plugin.Verdict{}, nil }
		for range 2 {
			h.Go(func() { h.All()[0].Pool.Ask(&plugin.Message{Account: "a"}) })
		}
		synctest.Wait()
		failed := 0
		if got := h.LogIn(&plugin.Message{Account: "a"}, func(string, error) { failed++ }); got != (Refusal{}) || failed != 1 {
			t.Errorf("%+v, %d failed", got, failed)
		}
		close(busy)
	})
}

// A plugin that knows networks is asked about numbers that begin as its hook says, of submits alone; what it has answered is kept
// over a reload as long as the hook and the plugin stay as they are.
func TestNetworkHook(t *testing.T) {
	t.Parallel()
	h := newHouse()
	defer h.Close()
	const at = `{at: network, plugin: one, numbers: [46, "4570"], cache: 1h, cache_size: 20}`
	h.apply(t, one, at)
	hook := h.Of(plugin.Network)[0]
	to := func(digits string) *sms.Message {
		m := &sms.Message{Origin: &sms.Origin{Account: "a", Connector: "in"}}
		m.Set(sms.Address{}, sms.Address{TON: 1, Addr: []byte(digits)}, nil)
		return m
	}
	for digits, want := range map[string]bool{"46700000001": true, "45700000001": true, "45100000001": false, "4": false} {
		m := to(digits)
		if hook.IsAbout(number.Of(m.Dest())) != want || (len(h.Waiting(m)) == 1) != want {
			t.Errorf("%s: %v, want %v; %v", digits, !want, want, h.Waiting(m))
		}
		if m.Kind = sms.MO; len(h.Waiting(m)) != 0 {
			t.Errorf("%s is asked about an MO message", digits)
		}
	}
	key, _ := answers.KeyOf([]byte("46700000001"))
	network, _ := sms.ReadNetwork("24001")
	hook.Answers.Ask(key, 1, func() answers.Answer { return answers.Answer{Network: network} })
	if s := h.Status(); s[0].Answers.Asked != 1 || s[0].Answers.Kept != 1 {
		t.Errorf("%+v", s[0].Answers)
	}
	for _, c := range []struct {
		name, plugins, hooks string
		stay                 bool
	}{
		{"as before", one, at, true},
		{"with a hook more", one, "{at: accept, plugin: one}, " + at, true},
		{"with a plugin more", one + "," + other, at + ", {at: network, plugin: other}", true},
		{"with other numbers", one, strings.Replace(at, "46", "47", 1), false},
		{"of another plugin", other, strings.Replace(at, "one", "other", 1), false},
	} {
		before := h.Of(plugin.Network)[0].Answers
		if h.apply(t, c.plugins, c.hooks); (h.Of(plugin.Network)[0].Answers == before) != c.stay {
			t.Errorf("%s: the answers stay: %v", c.name, !c.stay)
		}
	}
	if s := h.Status(); s[0].Answers.Asked != 0 {
		t.Errorf("another plugin has answered: %+v", s[0].Answers)
	}
	h.apply(t, one, "{at: network, plugin: one}")
	if hook := h.Of(plugin.Network)[0]; !hook.IsAbout(number.Of(to("4").Dest())) {
		t.Error("a hook without numbers is not about all")
	}
	if len(h.Of(plugin.Accept)) != 0 || len(New(nil).Of(plugin.Accept)) != 0 {
		t.Error("there are hooks where none is")
	}
}

// Any says whether somebody is asked, so that nothing is prepared for nobody.
func TestAny(t *testing.T) {
	t.Parallel()
	h := newHouse()
	defer h.Close()
	h.apply(t, one, "{at: send, plugin: one, accounts: [a]}")
	for want, o := range map[bool]*sms.Origin{true: {Account: "a"}, false: {Account: "b"}} {
		if h.Any(plugin.Send, o) != want || h.Any(plugin.Accept, o) {
			t.Errorf("%+v: %v", o, !want)
		}
	}
}

// A gateway that ends waits for those who ask plugins, and does not wait for the time for which a replaced one would stay.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.apply(t, one, "{at: accept, plugin: one}")
		h.apply(t, other, "{at: accept, plugin: other}")
		asking, closed := make(chan bool), false
		h.Go(func() { <-asking })
		began := time.Now()
		go func() { h.Close(); closed = true }()
		if synctest.Wait(); closed || !h.made[0].closed.Load() || !h.made[1].closed.Load() {
			t.Errorf("closed %v, the plugins %v and %v", closed, h.made[0].closed.Load(), h.made[1].closed.Load())
		}
		asking <- true
		if synctest.Wait(); !closed || time.Since(began) != 0 {
			t.Errorf("closed %v after %v", closed, time.Since(began))
		}
	})
}

// An operator is informed of a plugin that rests, why, since when, what happens to messages, and when it is tried again.
func TestProblem(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		onFailure string
		rests     time.Duration
		want      string
	}{
		{plugin.Pass, 90 * time.Second, "plugin p has failed 12 times (broken) for 1m0s; messages pass unchecked; next try in 1m30s"},
		{plugin.Refuse, 1600 * time.Millisecond, "plugin p has failed 12 times (broken) for 1m0s; messages are refused; next try in 2s"},
		{plugin.Hold, 1, "plugin p has failed 12 times (broken) for 1m0s; messages are held; next try in 1s"},
		{plugin.Pass, 0, "plugin p has failed 12 times (broken) for 1m0s; messages pass unchecked; the next try is under way"},
	} {
		s := Status{Name: "p", OnFailure: c.onFailure, Figures: plugin.Figures{
			RestsUntil: now.Add(c.rests), Failures: 12, Failure: "broken", FailsSince: now.Add(-60_400 * time.Millisecond),
		}}
		if got := s.Problem(now); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := (&Status{Name: "p", Figures: plugin.Figures{Failures: 3}}).Problem(now); got != "" {
		t.Errorf("one that does not rest: %q", got)
	}
}

// Each form of a plugin is made by its package.
func TestOpen(t *testing.T) {
	t.Parallel()
	open := Open(zerolog.Nop())
	for _, c := range []struct {
		plugin config.Plugin
		is     func(plugin.Plugin) bool
	}{
		{config.Plugin{URL: "http://127.0.0.1:1/"}, func(p plugin.Plugin) bool { _, ok := p.(*service.Service); return ok }},
		{config.Plugin{ENUM: []string{"127.0.0.1:1"}}, func(p plugin.Plugin) bool { _, ok := p.(*enum.ENUM); return ok }},
		{config.Plugin{Command: []string{"/bin/cat"}}, func(p plugin.Plugin) bool { _, ok := p.(*program.Program); return ok }},
	} {
		p := open(&c.plugin)
		if !c.is(p) {
			t.Errorf("%+v: %T", c.plugin, p)
		}
		p.Close()
	}
}

// A verdict changes the network and the recipient of a receipt, which may be a name; the address that it does not name stays.
func TestChangeOthers(t *testing.T) {
	t.Parallel()
	name := "Shop"
	for _, c := range []struct {
		name  string
		kind  sms.Kind
		known bool // the addresses that the client gave are kept already
		v     plugin.Verdict
		want  string
	}{
		{"network", sms.Submit, false, plugin.Verdict{Network: "24001"}, "5:PMG 0:0701 text [] known false 24001"},
		{"no network", sms.Submit, false, plugin.Verdict{From: &name}, "5:Shop 0:0701 text [] known true 24099"},
		{"a name as recipient of a receipt", sms.Receipt, false, plugin.Verdict{To: &name}, "5:PMG 5:Shop text [] known false 24099"},
		{"the sender of an MO message", sms.MO, false, plugin.Verdict{From: &name}, "5:Shop 0:0701 text [] known false 24099"},
	} {
		m := &sms.Message{Kind: c.kind, Notify: sms.NotifySuccess}
		m.Set(sms.Address{TON: 5, Addr: []byte("PMG")}, sms.Address{Addr: []byte("0701")}, []byte("text"))
		m.Network, _ = sms.ReadNetwork("24099")
		if err := Change(m, &c.v); err != nil {
			t.Error(c.name, err)
		}
		if got := describe(m) + " " + m.Network.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	m := &sms.Message{Notify: sms.NotifySuccess}
	m.Set(sms.Address{TON: 5, Addr: []byte("PMG")}, sms.Address{Addr: []byte("0701")}, []byte("text"))
	for _, to := range []string{"+46701", "+46702"} { // the second plugin
		if err := Change(m, &plugin.Verdict{To: &to}); err != nil {
			t.Error(err)
		}
	}
	if first, _ := m.Submitted(); string(first.Dest.Addr) != "0701" {
		t.Errorf("the client hears of %+v", first)
	}
}

// A question about a message has its id, and which part of a long one it is, counted from 1; one that is used again has nothing
// of the message before.
func TestQuestionParts(t *testing.T) {
	t.Parallel()
	var asker Questioner
	m := &sms.Message{ID: 0xabc, Origin: &sms.Origin{}}
	wall := func(at int64) int64 { return at }
	for _, c := range []struct {
		part, parts uint8
		want        string
	}{{0, 0, "0 0"}, {0, 1, "0 0"}, {0, 2, "1 2"}, {2, 3, "3 3"}} {
		m.Part, m.Parts = c.part, c.parts
		q := asker.Ask(plugin.Send, m, false, wall)
		if v := &q.Message; v.ID != "" || v.Part != 0 || v.Parts != 0 || v.State != "" || v.Error != "" {
			t.Errorf("it begins as %+v", v)
		}
		q.SetID(m)
		if got := fmt.Sprint(q.Message.Part, " ", q.Message.Parts); got != c.want || q.Message.ID != sms.FormatID(m.ID) {
			t.Errorf("part %d of %d: %s of %s", c.part, c.parts, got, q.Message.ID)
		}
		q.Message.State, q.Message.Error = "sent", "1"
		asker.Free(q)
	}
}
