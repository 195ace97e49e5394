package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/httpapi"
	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	jasminsms "pmg/protocols/httpsms/jasmin"
	kannelsms "pmg/protocols/httpsms/kannel"
	"pmg/protocols/smpp"
	"pmg/protocols/testsms"
	"pmg/protocols/ucp"
	"pmg/stages"
	"pmg/store"
)

// startEngine starts the pipeline, and the HTTP interfaces over it.
func startEngine(g *gateway.Gateway) (gateway.Engine, error) {
	e, err := stages.Start(g)
	if err != nil {
		return nil, err
	}
	return httpapi.Over(e, g, httpapi.Options{})
}

// parallel runs a test beside others. It is called before the test starts anything.
func parallel(t *testing.T) {
	t.Parallel()
	watchGoroutines(t)
}

// watchGoroutines fails the test if goroutines that it started are left at its end. It
// finds them by a label, which goroutines inherit.
func watchGoroutines(t *testing.T) {
	label := fmt.Sprintf("%q:%q", "test", t.Name())
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("test", t.Name())))
	t.Cleanup(func() {
		pprof.SetGoroutineLabels(context.Background())
		var left string
		for end := time.Now().Add(testutil.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if left = goroutines(label); left == "" {
				return
			}
		}
		t.Errorf("goroutines are left:\n%s", left)
	})
}

func goroutines(label string) string {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	var found []string
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, label) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// A site is a configuration in pieces, so that a test shows only the options that it tests.
// It has clients, which log in as acme with s3cret, and one operator.
type site struct {
	operator *smsc  // the operator's SMSC; nil: there is none
	accounts string // further rows
	clients  string // further options of the connector "clients"
	out      string // further options of the connector "operator"
	more     string // further connectors, rows
	routes   string // rows; nil: everything to the operator
	limits   string // options
	top      string // further options of the whole gateway, lines

	driver    func(protocols.SessionDriver) protocols.SessionDriver // wraps the driver; nil: does not
	plainHTTP bool                                                  // the driver of HTTP has no payloads: net/http has all requests
	memory    bool                                                  // messages that are put aside are kept in memory
	silent    bool                                                  // no pdu logs: their lines wait in memory while a disk is slow
	disk      string                                                // directory on the disk in which messages are stored
	wall      time.Duration                                         // that the wall clock is ahead of the machine's
	store     vfs.FS                                                // where messages are stored; nil: as the flag -store says
	wrap      func(store.Store) store.Store                         // wraps the store; nil: does not
}

// again sends lost messages again soon, however often. By default they wait for 10 s.
const again = "retry: {lost: [10ms, repeat]}"

// yaml returns the configuration, with pdu logs in dir.
func (s site) yaml(dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pdulog: {dir: %q, flush: 5ms, enabled: %t}\nlimits: {%s}\n", dir, !s.silent, s.limits)
	b.WriteString(s.top)
	fmt.Fprintf(&b, "accounts:\n  - {system_id: acme, password: s3cret}\n%s", rows(s.accounts))
	fmt.Fprintf(&b, "connectors:\n  - {name: clients, direction: in, address: \"127.0.0.1:0\", %s}\n", s.clients)
	routes := s.routes
	if s.operator != nil {
		fmt.Fprintf(
			&b,
			"  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, %s}\n",
			s.operator.addr(), s.out,
		)
		if routes == "" {
			routes = "{to: operator}"
		}
	}
	b.WriteString(rows(s.more))
	if routes != "" {
		b.WriteString("routes:\n" + rows(routes))
	}
	return b.String()
}

// rows formats lines as the rows of a list.
func rows(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("  - " + line + "\n")
		}
	}
	return b.String()
}

func parse(t testing.TB, yaml string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: []string{"smpp", "ucp", "http", "test"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	return cfg
}

// A gw is a gateway under test.
type gw struct {
	*gateway.Gateway
	t      *testing.T
	engine gateway.Engine
	log    *logBuffer
	dir    string // of the pdu logs
	faulty bool   // there were panics, so jobs may be left
	broken bool   // its store has failed
	once   sync.Once
}

// start runs a gateway until the end of the test.
func start(t *testing.T, s site) *gw {
	t.Helper()
	g := &gw{t: t, log: &logBuffer{}, dir: t.TempDir()}
	newDriver := func(protocol string, c *config.Config) (protocols.Driver, error) {
		var d protocols.SessionDriver = smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)})
		switch protocol {
		case "ucp":
			d = ucp.New(ucp.Options{MaxPDU: int(c.Limits.MaxPDU)})
		case "http":
			if s.plainHTTP {
				return httpsms.New(), nil
			}
			return httpsms.New(append(jasminsms.Payloads(), kannelsms.Payload(), ucpOverHTTP())...), nil
		case "test":
			return testsms.New(), nil
		}
		if s.driver != nil {
			d = s.driver(d)
		}
		return d, nil
	}
	var err error
	if g.Gateway, err = gateway.New(parse(t, s.yaml(g.dir)), zerolog.New(g.log), newDriver); err != nil {
		t.Fatal(err)
	}
	if s.wall != 0 {
		g.Gateway.Node.Clock.WallClock = func() time.Time { return time.Now().Add(s.wall) }
		g.Gateway.Node.Clock.See(time.Now().UnixNano())
	}
	g.keep(s.store, s.wrap)
	g.keepOnDisk(s.disk)
	if s.memory {
		if err := g.Keep(wrapped(store.NewMemory(), s.wrap)); err != nil {
			t.Fatal(err)
		}
	}
	if g.engine, err = startEngine(g.Gateway); err != nil {
		t.Fatal(err)
	}
	g.Recover(t.Context(), g.engine)
	t.Cleanup(func() {
		g.stop()
		g.keepsSecrets()
		if t.Failed() {
			t.Logf("the end of the gateway's log:\n%s", g.log.tail(60))
		}
	})
	return g
}

// keepsSecrets checks that no log has the password of a client: as it is, and in the hexadecimal form of UCP. Nor has the
// gateway's own log the text of a message at which a part of it fails.
func (g *gw) keepsSecrets() {
	g.t.Helper()
	logs := map[string]string{"the log": g.log.String()}
	if strings.Contains(logs["the log"], "fault:") {
		g.t.Error("the log has the text of a message")
	}
	files, _ := filepath.Glob(filepath.Join(g.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		logs[file] = string(text)
	}
	for name, text := range logs {
		for _, password := range []string{"s3cret", "733363726574"} {
			if i := strings.Index(text, password); i >= 0 {
				g.t.Errorf("%s has a password: %s", name, text[max(0, i-100):i+len(password)])
			}
		}
	}
}

// keep stores the gateway's messages on a file system.
func (g *gw) keep(fs vfs.FS, wrap func(store.Store) store.Store) {
	g.t.Helper()
	if fs == nil {
		return
	}
	s, err := store.Open("store", store.Options{FS: fs, Log: g.Gateway.Node.Log, Fatal: g.Gateway.Keeper.StoreFailed})
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.Keep(wrapped(s, wrap)); err != nil {
		g.t.Fatal(err)
	}
}

func wrapped(s store.Store, wrap func(store.Store) store.Store) store.Store {
	if wrap == nil {
		return s
	}
	return wrap(s)
}

// keepOnDisk stores the gateway's messages in a directory, and watches the room there.
func (g *gw) keepOnDisk(dir string) {
	g.t.Helper()
	if dir == "" {
		return
	}
	s, err := store.Open(dir, store.Options{Log: g.Gateway.Node.Log, Fatal: g.Gateway.Keeper.StoreFailed})
	if err != nil {
		g.t.Fatal(err)
	}
	g.Gateway.Keeper.WatchSpace(func() (keep.Space, error) {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		return keep.Space{Free: int64(st.Bavail) * int64(st.Bsize), Total: int64(st.Blocks) * int64(st.Bsize)}, err
	})
	g.Gateway.Keeper.CheckSpace()
	if err := g.Keep(s); err != nil {
		g.t.Fatal(err)
	}
}

// stores runs a part of a test with each engine of the store.
func stores(t *testing.T, f func(t *testing.T, s site)) {
	for name, s := range map[string]site{"pebble": {store: vfs.NewMem()}, "memory": {memory: true}} {
		t.Run(name, func(t *testing.T) {
			s.operator, s.accounts = newSMSC(t), "{system_id: other, password: s3cret}"
			f(t, s)
		})
	}
}

// settled waits until all messages have ended and that is in the store.
func (g *gw) settled() {
	g.t.Helper()
	testutil.Eventually(g.t, "all have ended", func() bool { return g.Pending() == 0 && g.synced() })
}

// sync commits what has changed.
func (g *gw) sync() {
	g.t.Helper()
	if !g.synced() {
		g.t.Fatal("the store has failed")
	}
}

// synced commits what has changed, and reports whether that succeeded.
func (g *gw) synced() bool {
	g.t.Helper()
	if g.Gateway.Keeper.Batches == nil {
		g.t.Fatal("this site has no store")
	}
	return g.Gateway.Keeper.Batches.Sync() == nil
}

// stop ends the gateway and looks whether it leaves anything behind. What still
// waits in queues is given up; clients have gone by themselves, or are logged out.
func (g *gw) stop() {
	g.once.Do(func() {
		g.t.Helper()
		for _, c := range g.Gateway.Table.Connectors() {
			if !c.Config().Listens() {
				g.engine.Detach(c)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
		defer cancel()
		if g.Deliverable() > 0 {
			cancel()
		}
		g.engine.Drain(ctx)
		testutil.Eventually(g.t, "no client is left", func() bool { return g.clients() == 0 })
		if err := g.engine.Close(); err != nil {
			g.t.Errorf("cannot close the engine: %v", err)
		}
		g.closeGateway()
		if n := g.engine.Counters().Jobs; n != 0 && !g.faulty {
			g.t.Errorf("%d jobs are left", n)
		}
		if !g.faulty && !g.broken {
			g.balanced()
		}
	})
}

// closeGateway closes what the engine leaves open. A machine whose disk pauses for seconds loses
// lines of the pdu log, as it should; a test that reads them finds out.
func (g *gw) closeGateway() {
	g.t.Helper()
	switch err := g.Close(); {
	case err == nil || g.broken:
	case errors.Is(err, pdulog.ErrNoAnswer):
		g.t.Logf("the machine's disk has paused: %v", err)
	default:
		g.t.Errorf("cannot close the gateway: %v", err)
	}
}

// balanced fails the test if counters of places in queues or, if no message is left, of
// memory do not return to their initial values.
func (g *gw) balanced() {
	g.t.Helper()
	var left int64
	for _, l := range g.Gateway.Table.Lanes() {
		n := l.Queued.Load()
		if n < 0 {
			g.t.Errorf("%s counts %d messages", l.Home().Name, n)
		}
		left += max(n, 0) + l.Home().Stats.Queued.Load() + l.Home().Stats.InFlight.Load()
	}
	// the keys of orphans are in memory
	if n := g.Gateway.Node.Memory.Used(); left == 0 && g.Gateway.Keeper.Aside(store.Orphan) == 0 && n != 0 {
		g.t.Errorf("no message is left, but %d octets are counted", n)
	}
}

// drain stops accepting, and returns when what was accepted has been sent.
func (g *gw) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	go g.engine.Drain(ctx)
	testutil.Eventually(g.t, "everything is sent", func() bool { return g.Gateway.Node.Draining() && g.Pending() == 0 })
}

// clients counts the sessions of clients.
func (g *gw) clients() (n int) {
	for _, c := range g.Gateway.Table.Connectors() {
		if c.Config().Listens() {
			c.Links(func(*connector.Link) { n++ })
		}
	}
	return n
}

// reload puts a new configuration in force as the gateway does at SIGHUP.
func (g *gw) reload(s site) error {
	changed, err := g.Reload(parse(g.t, s.yaml(g.dir)), g.engine)
	if err != nil {
		return err
	}
	for _, c := range changed.Added {
		g.engine.Attach(c)
	}
	for _, c := range changed.Removed {
		g.engine.Detach(c)
	}
	for _, c := range changed.Rebound {
		g.engine.Rebind(c)
	}
	return nil
}

// mustReload is reload of a configuration that can be used.
func (g *gw) mustReload(s site) {
	g.t.Helper()
	if err := g.reload(s); err != nil {
		g.t.Fatal(err)
	}
}

// addr returns the address that a connector listens on.
func (g *gw) addr(name string) string {
	return g.engine.Addresses(g.Gateway.Table.Connector(name))[0].String()
}

// stats returns the counters of a connector.
func (g *gw) stats(name string) *connector.Stats { return g.Gateway.Table.Connector(name).Stats }

// online waits until n of a connector's sessions can be given messages.
func (g *gw) online(name string, n int) {
	g.t.Helper()
	c := g.Gateway.Table.Connector(name)
	testutil.Eventually(g.t, fmt.Sprintf("%s has %d sessions", name, n), func() bool { return c.Online() == n })
}

// equal fails the test if something is not as it should be.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A logBuffer keeps the lines that were logged.
type logBuffer struct{ testutil.Log }

// tail returns the last n lines, without the ends of long ones.
func (j *logBuffer) tail(n int) string {
	lines := strings.Split(j.String(), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, l := range lines {
		lines[i] = l[:min(len(l), 300)]
	}
	return strings.Join(lines, "\n")
}

// count returns how many lines contain all of the words.
func (j *logBuffer) count(words ...string) (n int) {
lines:
	for line := range strings.Lines(j.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue lines
			}
		}
		n++
	}
	return n
}
