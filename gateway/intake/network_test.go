package intake

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

func (ported) Waits() bool { return true }
func (ported) Close()      {}

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
	p.Steps = p.Steps[1:] // behind the rate
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
