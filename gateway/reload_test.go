package gateway

import (
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
)

// An idle engine opens no sockets.
type idle struct{ Engine }

func (idle) Listen(*connector.Connector) error { return nil }
func (idle) Logout(func(*connector.Link) bool) {}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

const reloadable = `
log: {level: info, format: json}
pdulog: {enabled: false}
limits: {pdu_timeout: 10s}
accounts: [{system_id: acme, password: secret, rate: 5}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5, rate: 1}
routes: [{to: clients}]
`

// F28: a reload puts options in force that need no restart. It lists the others and does
// not change them, even if it adds a connector.
func TestReloadOptions(t *testing.T) {
	t.Parallel()
	g, err := New(parse(t, reloadable), zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	next := strings.NewReplacer(
		"level: info, format: json", "level: warn, format: console",
		"enabled: false", "enabled: true, dir: "+t.TempDir(),
		"pdu_timeout: 10s", "pdu_timeout: 20s",
		"rate: 5", "rate: 6",
		"window: 5, rate: 1}", "window: 6, rate: 2}\n  - {name: more, direction: in, address: \"127.0.0.1:0\", window: 7}",
	).Replace(reloadable)
	changed, err := g.Reload(parse(t, next), idle{})
	if err != nil {
		t.Fatal(err)
	}
	var live, restart []string
	for _, c := range changed.Options {
		if c.Live {
			live = append(live, c.Path)
		} else {
			restart = append(restart, c.Path)
		}
	}
	if want := []string{"log.level", "accounts[acme].rate", "connectors[clients].window", "connectors[clients].rate", "connectors[more]"}; !slices.Equal(live, want) {
		t.Errorf("in force: %q, want %q", live, want)
	}
	if want := []string{"log.format", "pdulog.dir", "pdulog.enabled", "limits.pdu_timeout"}; !slices.Equal(restart, want) {
		t.Errorf("need a restart: %q, want %q", restart, want)
	}
	cfg, clients, more := g.Node.Config(), g.Table.Connector("clients"), g.Table.Connector("more")
	if cfg.Log.Level != "warn" || cfg.Accounts[0].Rate != 6 || clients.Config().Rate != 2 || clients.Config().Window != 6 || more.Config().Window != 7 {
		t.Errorf("a live option is not in force:\n%s", config.Show(cfg))
	}
	if cfg.Log.Format != "json" || cfg.PDULog.Enabled || cfg.Limits.PDUTimeout != 10*1e9 || more.PDULog != nil {
		t.Errorf("an option that needs a restart changed:\n%s", config.Show(cfg))
	}

	if len(changed.Rebound) != 0 {
		t.Errorf("clients must be bound again: %v", changed.Rebound)
	}

	// The next reload compares with the options in force, so it lists them again.
	again, err := g.Reload(parse(t, next), idle{})
	if err != nil || len(again.Options) != len(restart) {
		t.Errorf("reloaded again: %v, %v", again.Options, err)
	}
}

// A configuration that is valid only after a restart changes nothing.
func TestReloadRefused(t *testing.T) {
	t.Parallel()
	g, err := New(parse(t, reloadable), zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	before := g.Node.Config()
	next := strings.NewReplacer("accounts:", "accounts: []\n#", "direction: in", "direction: out, system_id: x").Replace(reloadable)
	next = strings.Replace(next, `address: "127.0.0.1:0"`, `address: "127.0.0.1:1"`, 1)
	next = strings.Replace(next, "accounts: []", "accounts: [{system_id: mt, password: x, bind: transmitter}]", 1)
	if _, err = g.Reload(parse(t, next), idle{}); err == nil || !strings.Contains(err.Error(), "restart") {
		t.Errorf("got %v", err)
	}
	if g.Node.Config() != before || len(g.Table.Connectors()) != 1 || g.Table.Connector("clients").Config() != &before.Connectors[0] {
		t.Error("something changed")
	}
}

// U8: a session ends when the configuration that decided its login has changed.
func TestChangedAccounts(t *testing.T) {
	t.Parallel()
	const before = `
pdulog: {enabled: false}
accounts:
  - {system_id: same, password: secret}
  - {system_id: rate, password: secret, rate: 5}
  - {system_id: gone, password: secret}
  - {system_id: password, password: secret}
  - {system_id: networks, password: secret, networks: [192.0.2.0/24]}
  - {system_id: bind, password: secret}
  - {system_id: connectors, password: secret}
  - {system_id: begins, password: secret}
  - {system_id: changes, password: old, old_password: new}
  - {system_id: ends, password: new, old_password: old}
  - {system_id: certified, password: secret}
  - {system_id: another, certificates: [one, two]}
  - {system_id: more, certificates: [one]}
connectors: [{name: clients, direction: in, address: "127.0.0.1:0"}]
`
	after := strings.NewReplacer("{system_id: begins, password: secret}", "{system_id: begins, password: new, old_password: secret}",
		"password: old, old_password: new", "password: new, old_password: old", "password: new, old_password: old", "password: new",
		"{system_id: certified, password: secret}", "{system_id: certified, password: secret, certificates: [one]}", "[one, two]", "[two]",
		"{system_id: more, certificates: [one]}", "{system_id: more, certificates: [one, two]}",
		"rate: 5", "rate: 6", "{system_id: gone, password: secret}", "{system_id: new, password: secret}",
		"{system_id: password, password: secret}", "{system_id: password, password: other}", "192.0.2.0/24", "192.0.2.0/25",
		"{system_id: bind, password: secret}", "{system_id: bind, password: secret, bind: [receiver]}",
		"{system_id: connectors, password: secret}", "{system_id: connectors, password: secret, connectors: [clients]}").Replace(before)
	changed := changedAccounts(parse(t, before), parse(t, after))
	for _, name := range []string{"gone", "password", "networks", "bind", "ends", "certified", "another"} {
		if !changed[name] {
			t.Errorf("the sessions of %s do not end", name)
		}
	}
	if len(changed) != 7 {
		t.Errorf("the sessions of %v end", changed)
	}
}
