package intake

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pmg/config"
	"pmg/gateway/hooks"
	"pmg/plugin"
	"pmg/sms"
)

const byNetwork = `[{network: "24005", to: beside}, {network: ["240"], to: operator}, {network: unknown, to: beside}]`

// table makes a table of networks.
func table(t *testing.T, rows string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "networks.csv")
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return "networks: {file: " + file + "}\n"
}

// A ported is a plugin that knows the networks of numbers, and changes recipients as texts ask for.
type ported struct{ saw *string }

func (ported) Close() {}

func (p ported) Ask(_ context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	*p.saw = m.Network
	do, rest, _ := strings.Cut(m.Text, " ")
	switch do {
	case "network":
		v.Network = rest
	case "to":
		v.To = &rest
	case "from":
		v.From = &rest
	}
	return v, nil
}

// The network of a message is that of its recipient, or of the sender of one from a mobile, and routes ask for it. A plugin sees it,
// and what it says counts more; a recipient that it changes is looked up again.
func TestNetwork(t *testing.T) {
	t.Parallel()
	general := table(t, "46700,24001\n46701,24005\n1,31000\n") + asksService
	p := newPlace(t, general, "", "", byNetwork)
	p.Use(p.steps[1:]) // behind the rate
	saw := ""
	h := hooks.New(func(*config.Plugin) plugin.Plugin { return ported{&saw} })
	h.Apply(p.node.Config())
	p.hooks = h
	for _, c := range []struct {
		to, text, saw, want string // network and connector
	}{
		{"46700000001", "a", "24001", "24001 operator"},
		{"+46701000001", "a", "24005", "24005 beside"},
		{"4570000001", "a", "", " beside"},
		{"12345", "a", "", " beside"}, // a short code is no number of country 1
		{"46700000001", "network 24005", "24001", "24005 beside"},
		{"46700000001", "network 240", "24001", "240 operator"},
		{"46700000001", "to 46701000001", "24001", "24005 beside"},
		{"46700000001", "to 4570000001", "24001", " beside"},
		{"46700000001", "from 46701000001", "24001", "24001 operator"},
	} {
		saw = "none"
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) {
			m.Set(sms.Address{Addr: []byte("46701999999")}, sms.Address{Addr: []byte(c.to)}, []byte(c.text))
		})
		code, got := p.TakeWaiting(now, s), ""
		if s.Lane != nil {
			got = s.Message.Network.String() + " " + s.Lane.Home().Name
		}
		if code != sms.OK || got != c.want || saw != c.saw {
			t.Errorf("%+v: %s, %q, the plugin saw %q", c, code, got, saw)
		}
	}
	for _, ton := range []uint8{0, 1, 2, 5} {
		s := p.submission(Delivered, sms.MO, func(m *sms.Message) {
			m.Set(sms.Address{TON: ton, Addr: []byte("46700000001")}, sms.Address{Addr: []byte("46701000001")}, nil)
		})
		_ = p.TakeWaiting(now, s)
		if got := s.Message.Network.String(); (got == "24001") != (ton < 2) || got == "24005" {
			t.Errorf("TON %d: %q", ton, got)
		}
	}
}

// A lookUp is a plugin that waits and knows numbers.
type lookUp struct {
	mu    sync.Mutex
	asked []string
}

func (*lookUp) Close() {}

func (l *lookUp) Ask(_ context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, m.Hook+" "+m.To+" "+m.Network+m.Account+m.From+m.Text)
	switch m.To[len(m.To)-1] {
	case '1':
		v.Network = "24005"
	case '2':
		v.RoutingNumber = "+46701"
	case '3':
		v = plugin.Verdict{Do: plugin.Refuse, Status: "bad_destination", Why: "nobody has it"}
	case '4':
		v.Do = plugin.Hold
	case '5':
		err = errors.New("out of order")
	case '6':
		v.Network, v.Keep = "24005", 10
	}
	return v, err
}

// At the hook network a plugin is asked about a recipient, once for a while; what it says counts more than the table.
func TestLookUp(t *testing.T) {
	t.Parallel()
	general := table(t, "46700,24001\n46701,24005\n") + `plugins: [{name: numbers, url: "http://127.0.0.1:1/", on_failure: pass}]
hooks: [{at: network, plugin: numbers, numbers: ["46700", "4570"], cache: 1m}]`
	p := newPlace(t, general, "", "", byNetwork)
	p.Use(p.steps[1:]) // behind the rate
	l := &lookUp{}
	h := hooks.New(func(*config.Plugin) plugin.Plugin { return l })
	h.Apply(p.node.Config())
	p.hooks = h
	take := func(at int64, way Ways, kind sms.Kind, to string, preview bool) (got, asked string) {
		s := p.submission(way, kind, func(m *sms.Message) {
			m.Set(sms.Address{TON: 1, Addr: []byte("46700000009")}, sms.Address{TON: 1, Addr: []byte(to)}, []byte("text"))
		})
		s.Preview = preview
		l.asked = nil
		code := p.TakeWaiting(at, s)
		switch {
		case code != sms.OK:
			got = code.String() + " by " + s.Refuser(p.Checker) + " " + s.Why()
		case s.Lane == nil:
			got = "parked " + string(s.Message.Tags())
		default:
			got = s.Message.Network.String() + " " + s.Lane.Home().Name
		}
		s.Drop()
		return got, strings.Join(l.asked, ", ")
	}
	for i, c := range []struct {
		at          int64
		to          string
		want, asked string
	}{
		{0, "46700000000", "24001 operator", "network 46700000000 24001"},
		{1, "46700000000", "24001 operator", ""},
		{1, "46700000001", "24005 beside", "network 46700000001 24001"},
		{59, "46700000001", "24005 beside", ""},
		{61, "46700000001", "24005 beside", "network 46700000001 24001"},
		{62, "46700000002", "24005 beside", "network 46700000002 24001"},
		{62, "46700000003", "bad_destination by network nobody has it", "network 46700000003 24001"},
		{63, "46700000003", "bad_destination by network nobody has it", ""},
		{63, "46700000004", "parked held:numbers", "network 46700000004 24001"},
		{64, "46700000004", "parked held:numbers", ""},
		{64, "46700000005", "24001 operator", "network 46700000005 24001"},
		{64, "46700000005", "24001 operator", "network 46700000005 24001"}, // a failure is not kept
		{70, "46700000006", "24005 beside", "network 46700000006 24001"},
		{79, "46700000006", "24005 beside", ""},
		{80, "46700000006", "24005 beside", "network 46700000006 24001"},
		{80, "46701000001", "24005 beside", ""}, // not one of its numbers
		{80, "4570000001", "24005 beside", "network 4570000001 "},
		{80, "45700", " beside", ""}, // a short code
	} {
		if got, asked := take(now+c.at*second, Submitted, sms.Submit, c.to, false); got != c.want || asked != c.asked {
			t.Errorf("%d, %s: %q, asked %q; want %q, %q", i, c.to, got, asked, c.want, c.asked)
		}
	}
	if got, asked := take(now+81*second, Submitted, sms.Submit, "46700000011", true); got != "24001 operator" || asked != "" {
		t.Errorf("a preview asks: %q, %q", got, asked)
	}
	if _, asked := take(now+81*second, Delivered, sms.MO, "46700000021", false); asked != "" {
		t.Errorf("a message from a mobile asks: %q", asked)
	}
	before := h.Status()[0].Answers
	h.Apply(p.node.Config()) // a reload that changes nothing keeps the answers
	if after := h.Status()[0].Answers; before.Kept == 0 || after != before {
		t.Errorf("%+v, then %+v", before, after)
	}
	next := *p.node.Config()
	next.Hooks = []config.Hook{next.Hooks[0]}
	next.Hooks[0].Cache++
	if h.Apply(&next); h.Status()[0].Answers.Kept != 0 {
		t.Error("answers are kept with other options")
	}
}
