package networks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/node"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// opened returns networks with a table in force, and its file.
func opened(t *testing.T, table string) (n *Networks, cfg *config.Config, log *testutil.Log) {
	t.Helper()
	cfg, log = config.Default(), &testutil.Log{}
	cfg.Networks.File = filepath.Join(t.TempDir(), "networks.csv")
	write(t, cfg.Networks.File, table)
	n = New(node.New(cfg, zerolog.New(log)))
	f, err := n.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.Apply(f)
	return n, cfg, log
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// of returns the network that is found for a message.
func of(n *Networks, kind sms.Kind, source, dest sms.Address) string {
	m := new(sms.Pool).Get()
	m.Kind, m.Network = kind, 1
	m.SetAddresses(source, dest)
	n.Find(m)
	return string(m.Network.Append(nil))
}

func TestFind(t *testing.T) {
	t.Parallel()
	n, _, _ := opened(t, "prefix,network,name\n46,24001,One\n4670,24005,Two\n")
	number := func(ton uint8, digits string) sms.Address { return sms.Address{TON: ton, NPI: 1, Addr: []byte(digits)} }
	none := string(sms.Network(0).Append(nil))
	for _, c := range []struct {
		kind         sms.Kind
		source, dest sms.Address
		want         string
	}{
		{sms.Submit, number(1, "4673000001"), number(1, "46700000001"), "24005"},
		{sms.Submit, number(5, "Shop"), number(0, "46800000001"), "24001"},
		{sms.MO, number(1, "46700000001"), number(3, "72100"), "24005"},
		{sms.Submit, number(1, "4670"), number(1, "49170000001"), none},
		{sms.Submit, number(1, "4670"), number(3, "467001"), none},
		{sms.Submit, number(1, "4670"), number(2, "4670000001"), none},
	} {
		if got := of(n, c.kind, c.source, c.dest); got != c.want {
			t.Errorf("%v from %s to %s: %q, want %q", c.kind, c.source.Addr, c.dest.Addr, got, c.want)
		}
	}
	n.Apply(nil)
	if _, ok := n.Status(); ok || n.Name(24001) != "" {
		t.Error("there is a table")
	}
}

// A file that has changed is read again. While it has a problem, what was read before stays in force.
func TestRefresh(t *testing.T) {
	t.Parallel()
	n, cfg, log := opened(t, "prefix,network\n46,24001\n")
	to := sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}
	now := time.Now().UnixNano()
	refresh := func() {
		for range 2 {
			now += int64(time.Minute)
			n.Refresh(now)
		}
	}
	write(t, cfg.Networks.File, "prefix,network\n46,24002\nno number,24002\n")
	refresh()
	if got := of(n, sms.Submit, to, to); len(n.Problems()) != 1 || got != "24001" || !strings.Contains(log.String(), "stays in force") {
		t.Errorf("%s, %s", got, log)
	}
	write(t, cfg.Networks.File, "prefix,network\n46,24002\n4670,24002\n")
	refresh()
	if got := of(n, sms.Submit, to, to); len(n.Problems()) != 0 || got != "24002" || !strings.Contains(log.String(), "was read again") {
		t.Errorf("%s, %s", got, log)
	}
	if same, err := n.Open(cfg); err != nil || same != n.inUse.Load() {
		t.Errorf("%v, %v", same, err)
	}
	cfg.Networks.File += ".none"
	if _, err := n.Open(cfg); err == nil || !strings.Contains(err.Error(), "cannot open networks") {
		t.Errorf("%v", err)
	}
}
