package login

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/bcrypt"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/hooks"
	"pmg/gateway/node"
	"pmg/internal/tlsfiles"
	"pmg/internal/token"
	"pmg/internal/turns"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// A loginDesk is a connector on which clients log in, with its own clock.
type loginDesk struct {
	*testing.T
	d   *Logins
	c   *connector.Connector
	now int64
}

// newLoginDesk makes Logins with accounts plain and hashed, both with password
// "secret". Its clock is the loginDesk's.
func newLoginDesk(t *testing.T) *loginDesk {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
pdulog: {enabled: false}
accounts:
  - {system_id: plain, password: secret}
  - {system_id: hashed, password: %q}
  - {system_id: elsewhere, password: secret, connectors: other}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: other, direction: in, address: "127.0.0.1:0"}
`, hash), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(cfg, zerolog.Nop())
	d := &loginDesk{t, New(n, hooks.New(nil)), connector.New(0, &cfg.Connectors[0], toy.New(), &n.Memory), now}
	d.d.SetAccounts(account.NewTable(cfg, account.NewRegistry()))
	n.Clock.EngineClock = func() int64 { return d.now }
	return d
}

func (d *loginDesk) knock(addr, id, password string) *Attempt {
	return d.d.Begin(d.now, d.c, netip.AddrPortFrom(netip.MustParseAddr(addr), 1), tlsfiles.Identity{}, protocols.Credentials{
		SystemID: []byte(id), Password: []byte(password), Bind: protocols.Transceiver,
	})
}

// login logs in and waits for the decision. It returns the outcome and how long the
// decision took.
func (d *loginDesk) login(addr, id, password string) (Result, time.Duration) {
	d.Helper()
	l, began := d.knock(addr, id, password), d.now
	for range 100 {
		switch step, again := l.Next(d.now); step {
		case Decided:
			return l.Result, time.Duration(d.now - began)
		case Works:
			l.Work()
		default:
			d.now = again
		}
	}
	d.Fatalf("login of %s from %s is never decided", id, addr)
	return Result{}, 0
}

// F1: 40 guesses whose clients hang up delay the right password too. Hanging up does not
// make their checks earlier.
func TestLoginHangUp(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"plain", "hashed"} {
		d := newLoginDesk(t)
		looked := 0
		for i := range 40 {
			l := d.knock("192.0.2.1", id, fmt.Sprint("guess ", i))
			step, _ := l.Next(d.now)
			if step == Works {
				l.Work()
				step = Decided
			}
			if step == Decided {
				looked++
			}
			l.Abandon()
			d.now += int64(5 * time.Millisecond)
		}
		if looked != 1 {
			t.Errorf("%s: %d of 40 guesses were checked in 200 ms", id, looked)
		}
		result, took := d.login("192.0.2.1", id, "secret")
		if result.Code != sms.OK || took < time.Second/2 {
			t.Errorf("%s: the right password is told %s after %s", id, result.Code, took)
		}
	}
}

// asUser is login for a user of an account.
func (d *loginDesk) asUser(addr, account, user, password string) (Result, time.Duration) {
	d.Helper()
	l, began := d.knock(addr, account, password), d.now
	l.request, l.who.AsUser, l.who.User, l.name = true, true, user, personName(account, user)
	for {
		switch step, again := l.Next(d.now); step {
		case Decided:
			return l.Result, time.Duration(d.now - began)
		case Works:
			l.Work()
		default:
			d.now = again
		}
	}
}

// Guesses for one user from many addresses delay no other user of the account, and his own right password by a few seconds at most,
// however many they are; from an address that he has logged in from, not at all.
func TestUserIsGuessed(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	cfg := *d.d.node.Config()
	hash := cfg.Accounts[1].Password
	users := []config.AccountUser{{Name: "ann", Password: hash}, {Name: "bob", Password: hash}}
	cfg.Accounts = []config.Account{{SystemID: "plain", Password: "own", Logins: config.Logins{Users: users}}}
	d.d.SetAccounts(account.NewTable(&cfg, account.NewRegistry()))
	if r, _ := d.asUser("198.51.100.1", "plain", "ann", "secret"); r.Code != sms.OK {
		t.Fatal(r.Code)
	}
	for _, guesses := range []int{60, 200} {
		for i := range guesses {
			d.asUser(fmt.Sprintf("192.0.2.%d", i), "plain", "ann", "wrong")
		}
		for _, one := range []struct {
			addr, user string
			most       time.Duration
		}{{"203.0.113.1", "bob", 0}, {"198.51.100.1", "ann", 0}, {fmt.Sprintf("203.0.113.%d", guesses), "ann", 5 * time.Second}} {
			if r, took := d.asUser(one.addr, "plain", one.user, "secret"); r.Code != sms.OK || took > one.most {
				t.Errorf("%d guesses: %s of %s from %s after %v", guesses, r.Code, one.user, one.addr, took)
			}
		}
		if r, took := d.login("203.0.113.9", "plain", "own"); r.Code != sms.OK || took > 0 {
			t.Errorf("%d guesses: the account: %s after %v", guesses, r.Code, took)
		}
	}
}

// The passwords of users are guessed as slowly as those of accounts, and whoever fails as a user does not delay the account's own
// programs behind the same address.
func TestUsersFail(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	cfg := *d.d.node.Config()
	users := []config.AccountUser{{Name: "ann", Password: cfg.Accounts[1].Password}}
	cfg.Accounts = []config.Account{{SystemID: "plain", Password: "own", Logins: config.Logins{Users: users}}}
	d.d.SetAccounts(account.NewTable(&cfg, account.NewRegistry()))
	d.login("192.0.2.1", "plain", "own")
	ask := func(account, password string) (Result, time.Duration) {
		t.Helper()
		return d.asUser("192.0.2.1", account, "ann", password)
	}
	for i := range 5 {
		for _, account := range []string{"plain", "nobody"} {
			r, took := ask(account, "wrong")
			if r.Code != sms.BindFailed || r.AnswerAfter < d.now+refusalDelay-int64(took) || i > 0 && took < time.Second {
				t.Errorf("%s: %+v after %v", account, r, took)
			}
		}
	}
	if r, took := d.login("192.0.2.1", "plain", "own"); r.Code != sms.OK || took != 0 {
		t.Errorf("the account itself: %s after %v", r.Code, took)
	}
	if r, took := ask("plain", "secret"); r.Code != sms.OK || r.Account == nil || took < time.Second {
		t.Errorf("the right password: %+v after %v", r, took)
	}
}

// The passwords of a guessing client are checked at growing intervals, whether or not it
// waits for its answers. Other clients are not delayed.
func TestLoginGuessing(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	if result, _ := d.login("192.0.2.7", "plain", "secret"); result.Code != sms.OK {
		t.Fatalf("first login: %s", result.Code)
	}
	begin := d.now
	for i := range 40 {
		result, _ := d.login("192.0.2.1", "plain", fmt.Sprint("guess ", i))
		if result.Code != sms.BindFailed || result.Account != nil {
			t.Fatalf("guess: %+v", result)
		}
	}
	if took := time.Duration(d.now - begin); took < 30*time.Minute {
		t.Errorf("40 guesses took %s", took)
	}
	if result, took := d.login("192.0.2.7", "plain", "secret"); result.Code != sms.OK || took != 0 {
		t.Errorf("the client, where it logged in before: %s after %s", result.Code, took)
	}
	if result, took := d.login("192.0.2.8", "hashed", "secret"); result.Code != sms.OK || took != 0 {
		t.Errorf("another client: %s after %s", result.Code, took)
	}
}

// Only a few logins of each address may wait; further ones are refused immediately.
func TestLoginCrowd(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	d.login("192.0.2.1", "plain", "wrong")
	var waiting []*Attempt
	refused := 0
	for range 2000 {
		l := d.knock("192.0.2.1", "plain", "secret")
		switch step, _ := l.Next(d.now); {
		case step == Waits:
			waiting = append(waiting, l)
		case step == Decided && l.Result.Code == sms.BindFailed && l.Result.AnswerAfter == 0:
			refused++
		}
	}
	if len(waiting) != 10 || refused != 1990 {
		t.Errorf("%d wait, %d were refused", len(waiting), refused)
	}
	d.now += int64(time.Second)
	if step, _ := waiting[0].Next(d.now); step != Decided || waiting[0].Result.Code != sms.OK {
		t.Errorf("the first one is told %s", waiting[0].Result.Code)
	}
	for _, l := range waiting[1:] {
		l.Abandon()
	}
	d.login("192.0.2.1", "hashed", "wrong")
	if step, _ := d.knock("192.0.2.1", "elsewhere", "secret").Next(d.now); step != Waits {
		t.Error("no login may wait though the others have gone")
	}
}

// A refusal is sent after a second, whatever its reason and however long the decision took.
func TestLoginRefusalTime(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"plain", "wrong"}, {"hashed", "wrong"}, {"nobody", "wrong"}, {"elsewhere", "secret"}} {
		d := newLoginDesk(t)
		result, _ := d.login("192.0.2.1", c[0], c[1])
		if result.Code != sms.BindFailed || result.AnswerAfter != now+second {
			t.Errorf("%s: %s, after %s", c[0], result.Code, time.Duration(result.AnswerAfter-now))
		}
	}
}

// A login that has waited is decided by the accounts in force at that time.
func TestLoginReload(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"plain", "hashed"} {
		d := newLoginDesk(t)
		d.login("192.0.2.1", "plain", "wrong")
		waits := d.knock("192.0.2.1", id, "secret")
		_, again := waits.Next(d.now)
		hashes := d.knock("192.0.2.2", "hashed", "secret")
		if step, _ := hashes.Next(d.now); step != Works {
			t.Fatalf("step %d", step)
		}
		hashes.Work()
		cfg := *d.d.node.Config()
		cfg.Accounts = nil
		d.d.SetAccounts(account.NewTable(&cfg, account.NewRegistry()))
		for _, l := range []*Attempt{waits, hashes} {
			if step, _ := l.Next(again); step != Decided || l.Result.Code != sms.BindFailed {
				t.Errorf("%s: step %d, told %s", id, step, l.Result.Code)
			}
		}
	}
}

// What was let in is let in still while its password, or its key, is one of its account, and until the key expires.
func TestStill(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	remote := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), 1)
	still := func(id, password string) bool {
		return d.d.Still(d.c, remote, tlsfiles.Identity{}, protocols.Credentials{SystemID: []byte(id), Password: []byte(password), Bind: protocols.Transmitter})
	}
	if still("hashed", "secret") {
		t.Error("a hash was compared that nobody has asked for")
	}
	d.login("192.0.2.1", "hashed", "secret")
	if !still("hashed", "secret") || !still("plain", "secret") || still("hashed", "other") || still("nobody", "secret") || still("elsewhere", "secret") {
		t.Error("others are let in than before")
	}
	cfg := *d.d.node.Config()
	shop := config.Account{SystemID: "shop", Password: "x", Logins: config.Logins{Keys: []config.Key{{Name: "one", Hash: token.Hash("pmg_one"), Expires: "2026-11-24"}}}}
	cfg.Accounts = []config.Account{shop}
	d.d.SetAccounts(account.NewTable(&cfg, account.NewRegistry()))
	if still("plain", "secret") {
		t.Error("an account that is gone is let in")
	}
	for at, want := range map[string]bool{"2026-11-23T23:59:59Z": true, "2026-11-24T00:00:00Z": false} {
		wall, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		d.d.node.Clock.WallClock = func() time.Time { return wall }
		if k := d.d.StillKey(d.c, remote, tlsfiles.Identity{}, "pmg_one"); (k != nil) != want {
			t.Errorf("at %s: %v", at, k)
		}
	}
}

// Wrong codes of a user wait as failed logins do, whatever right passwords come between them, and are counted for each user alone.
func TestCodes(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	cfg := *d.d.node.Config()
	cfg.Accounts = []config.Account{{SystemID: "plain", Password: "own", Logins: config.Logins{Users: []config.AccountUser{{Name: "ann", Password: cfg.Accounts[1].Password}}}}}
	d.d.SetAccounts(account.NewTable(&cfg, account.NewRegistry()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits
	asked := 0
	ask := func(user string, right bool) bool {
		return d.d.AskCode(ctx, d.c, netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), 1), "plain", user, func() bool {
			asked++
			return right
		})
	}
	for range 5 {
		d.now += int64(time.Minute)
		if ask("ann", false) {
			t.Error("a wrong code is taken")
		}
		if r, _ := d.asUser("192.0.2.1", "plain", "ann", "secret"); r.Code != sms.OK {
			t.Error(r.Code)
		}
	}
	if d.now += int64(10 * time.Second); ask("ann", true) || asked != 5 {
		t.Errorf("a right password has forgiven wrong codes: %d were looked at", asked)
	}
	d.now += int64(time.Minute)
	for range 2 {
		if !ask("ann", true) {
			t.Error("a right code is refused")
		}
	}
}

// Guesses at a connector's secret make others from their address wait, and are answered late, as those at passwords are.
func TestSecret(t *testing.T) {
	t.Parallel()
	d := newLoginDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits
	ask := func(addr, shown string) bool {
		return d.d.AskSecret(ctx, d.c, netip.AddrPortFrom(netip.MustParseAddr(addr), 1), shown, "look")
	}
	if !ask("192.0.2.1", "look") {
		t.Error("the secret was refused")
	}
	for _, shown := range []string{"", "loo", "look ", "secret"} {
		d.now += int64(time.Hour)
		if ask("192.0.2.2", shown) {
			t.Errorf("%q was taken", shown)
		}
	}
	if ask("192.0.2.2", "look") {
		t.Error("it was looked at, though the address has guessed")
	}
	if _, took := d.login("192.0.2.2", "plain", "secret"); took == 0 {
		t.Error("a login from there has not waited")
	}
	if !ask("192.0.2.1", "look") {
		t.Error("another address waits")
	}
}

// F2: a hash whose client has gone is not computed, and does not count as a failure.
func TestHashAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newLoginDesk(t)
		d.d.hashing = turns.New[netip.Prefix](0, 1) // there is no place
		l := d.knock("192.0.2.1", "hashed", "wrong")
		if step, _ := l.Next(d.now); step != Works {
			t.Fatalf("step %d", step)
		}
		done := false
		go func() { l.Work(); done = true }()
		synctest.Wait()
		if done {
			t.Error("it did not wait for a place")
		}
		l.Abandon()
		synctest.Wait()
		if !done {
			t.Error("it still waits though its client has gone")
		}
		d.d.hashing.Give()
		if _, took := d.login("192.0.2.1", "hashed", "secret"); took != 0 {
			t.Errorf("the next login waits %s", took)
		}
	})
}

// ask checks a guess of an address at the password of the account hashed, and counts it when that is done.
func (d *loginDesk) ask(ctx context.Context, addr string, ended *atomic.Int32) {
	d.d.Ask(ctx, d.c, netip.AddrPortFrom(netip.MustParseAddr(addr), 1), tlsfiles.Identity{}, protocols.Credentials{
		SystemID: []byte("hashed"), Password: []byte("guess from " + addr), Bind: protocols.Transmitter,
	})
	ended.Add(1)
}

// Guesses by requests whose clients have hung up are not hashed, and hold nothing any more.
func TestRequestsHangUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newLoginDesk(t)
		d.d.hashing = turns.New[netip.Prefix](0, 2000)
		ctx, hangUp := context.WithCancel(t.Context())
		var ended atomic.Int32
		for i := range 1600 {
			go d.ask(ctx, fmt.Sprintf("2001:db8:1:%x::1", i), &ended)
		}
		synctest.Wait()
		if n := d.d.hashing.Waiting(); n != 1600 {
			t.Errorf("%d wait", n)
		}
		hangUp()
		synctest.Wait()
		if ended.Load() != 1600 || d.d.hashing.Waiting() != 0 {
			t.Errorf("%d have ended, %d wait", ended.Load(), d.d.hashing.Waiting())
		}
		d.d.hashing.Give()
		if result, took := d.login("192.0.2.1", "hashed", "secret"); result.Code != sms.OK || took != 0 {
			t.Errorf("the right password: %s, after %s", result.Code, took)
		}
	})
}

// Guesses that are too many are answered as wrong ones are, and do not count as such.
func TestHashCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newLoginDesk(t)
		d.d.node.Clock.EngineClock = func() int64 { return time.Now().UnixNano() }
		d.d.hashing = turns.New[netip.Prefix](0, 20)
		ctx, hangUp := context.WithCancel(t.Context())
		var ended atomic.Int32
		for i := range 50 {
			go d.ask(ctx, fmt.Sprintf("2001:db8:1:%x::1", i), &ended)
		}
		began := time.Now()
		time.Sleep(time.Second - time.Nanosecond)
		synctest.Wait()
		if ended.Load() != 0 {
			t.Errorf("%d have been answered after %s", ended.Load(), time.Since(began))
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if ended.Load() != 30 || d.d.guard.Failed(time.Now().UnixNano(), netip.MustParseAddr("2001:db8:1:29::1"), []byte("hashed")) {
			t.Errorf("%d have been refused", ended.Load())
		}
		hangUp()
		synctest.Wait()
		if ended.Load() != 50 {
			t.Errorf("%d have ended", ended.Load())
		}
	})
}

// F2: of many logins with the same password at the same time one computes the hash; of
// many guesses from one address one is checked, and the others wait.
func TestHashTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		password string
		again    Step
	}{{"secret", Decided}, {"guess %d", Waits}} {
		d := newLoginDesk(t)
		d.d.hashing = turns.New[netip.Prefix](1, maxUnhashed)
		logins := make([]*Attempt, 8)
		for i := range logins {
			password := c.password
			if c.again == Waits {
				password = fmt.Sprintf(c.password, i)
			}
			logins[i] = d.knock("192.0.2.1", "hashed", password)
			if step, _ := logins[i].Next(d.now); step != Works {
				t.Fatalf("step %d", step)
			}
		}
		var wg sync.WaitGroup
		for _, l := range logins {
			wg.Go(l.Work)
		}
		wg.Wait()
		steps := map[Step]int{}
		for _, l := range logins {
			step, _ := l.Next(d.now)
			steps[step]++
		}
		if want := 8; c.again == Decided && steps[Decided] != want || c.again == Waits && steps[Waits] != 7 {
			t.Errorf("password %q: steps %v", c.password, steps)
		}
	}
}
