package login

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway/hooks"
	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/sms"
)

// A guard decides about logins by their accounts.
type guard struct{ asked []plugin.Message }

func (g *guard) Close() {}
func (g *guard) Ask(ctx context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	g.asked = append(g.asked, *m)
	switch m.Address {
	case "192.0.2.1":
		v = plugin.Verdict{Do: plugin.Refuse, Why: "not from there"}
	case "192.0.2.2":
		v.Do = plugin.Hold
	case "192.0.2.3":
		v.Tags = []string{"a"}
	case "192.0.2.4":
		err = errors.New("out of order")
	case "192.0.2.5":
		<-ctx.Done()
		err = ctx.Err()
	}
	return v, err
}

// asks makes a desk ask a plugin about logins.
func (d *loginDesk) asks(onFailure string) (*guard, *testutil.Log) {
	d.Helper()
	cfg, _, err := config.Parse([]byte(strings.ReplaceAll(`
accounts: [{system_id: plain, password: secret}]
connectors: [{name: clients, direction: in, address: ":0"}]
plugins: [{name: guard, on_failure: FAILURE, url: "http://127.0.0.1:1/"}]
hooks: [{at: accept, plugin: guard}, {at: login, plugin: guard, accounts: [plain]}]
`, "FAILURE", onFailure)), config.Options{})
	if err != nil {
		d.Fatal(err)
	}
	g, log := &guard{}, &testutil.Log{}
	d.d.node.Log = zerolog.New(log)
	d.d.hooks = hooks.New(func(*config.Plugin) plugin.Plugin { return g })
	d.d.hooks.Apply(cfg)
	return g, log
}

// Plugins are asked about logins whose credentials are right, once, and refuse them as a wrong password is refused. What
// is no verdict about a login is a failure.
func TestPlugins(t *testing.T) {
	for _, c := range []struct {
		onFailure, addr, id, password string
		code                          sms.Code
		asked                         int
		says                          string
	}{
		{"pass", "192.0.2.9", "plain", "secret", sms.OK, 1, "client logged in"},
		{"pass", "192.0.2.9", "plain", "wrong", sms.BindFailed, 0, "wrong password"},
		{"pass", "192.0.2.9", "elsewhere", "secret", sms.BindFailed, 0, "connector not allowed"},
		{"pass", "192.0.2.1", "hashed", "secret", sms.OK, 0, "client logged in"}, // the hook is not for its account
		{"pass", "192.0.2.1", "plain", "secret", sms.BindFailed, 1, "a plugin refuses it: guard: not from there"},
		{"pass", "192.0.2.2", "plain", "secret", sms.OK, 1, "its verdict is hold, which is not possible for a login"},
		{"refuse", "192.0.2.2", "plain", "secret", sms.BindFailed, 1, "a plugin refuses it: guard: plugin guard has not answered"},
		{"refuse", "192.0.2.3", "plain", "secret", sms.BindFailed, 1, "it changes a message, but a login has none"},
		{"refuse", "192.0.2.4", "plain", "secret", sms.BindFailed, 1, "out of order"},
		{"pass", "192.0.2.5", "plain", "secret", sms.OK, 1, "within its deadline"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newLoginDesk(t)
			g, log := d.asks(c.onFailure)
			result, _ := d.login(c.addr, c.id, c.password)
			if result.Code != c.code || len(g.asked) != c.asked || !strings.Contains(log.String(), c.says) {
				t.Errorf("%+v: %s, %d asked: %s", c, result.Code, len(g.asked), log.String())
			}
			if (result.Code == sms.OK) == (result.AnswerAfter != 0) {
				t.Errorf("%+v: answered after %d", c, result.AnswerAfter)
			}
			if result.Account != nil {
				result.Account.End(netip.MustParseAddr(c.addr))
			}
			for i := range g.asked {
				m := g.asked[i]
				m.Arrived = time.Time{}
				if want := (plugin.Message{Hook: "login", Account: "plain", Connector: "clients", Address: c.addr, Protocol: "smpp", Bind: "transceiver"}); m != want {
					t.Errorf("%+v, want %+v", m, want)
				}
			}
		})
	}
}

// A login that waits for its plugin holds up no other, and does not count as a session yet. If it is given up meanwhile,
// nothing is left.
func TestPluginHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newLoginDesk(t)
		_, log := d.asks("refuse")
		hung := d.knock("192.0.2.5", "plain", "secret")
		if step, _ := hung.Next(d.now); step != Works {
			t.Fatal(step)
		}
		go hung.Work()
		synctest.Wait()
		if result, took := d.login("192.0.2.9", "plain", "secret"); result.Code != sms.OK || took != 0 {
			t.Errorf("%s after %v: %s", result.Code, took, log.String())
		}
		hung.Abandon()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if step, _ := hung.Next(d.now); step != Decided || hung.Result.Account != nil {
			t.Error("it is logged in")
		}
	})
}
