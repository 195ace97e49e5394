package classic

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/logfile"
	"pmg/internal/testutil"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
)

// A site is the part of the configuration that differs between tests.
type site struct{ limits, account string }

// start runs a gateway with a connector for clients and one to an SMSC that does not exist.
func start(t *testing.T, s site) *Engine {
	t.Helper()
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
pdulog: {dir: %q}
limits: {%s}
accounts: [{system_id: acme, password: s3cret, %s}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false, window: 10}
routes: [{to: operator}]
`, t.TempDir(), s.limits, s.account), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Start(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if n := e.Counters().Jobs; n != 0 {
			t.Errorf("%d requests are left", n)
		}
		if n := g.Sessions.Count(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	return e
}

// bind connects and logs in. It returns both ends of the connection.
func bind(t *testing.T, e *Engine) (net.Conn, *conn) {
	t.Helper()
	c := e.gateway.Table.Connector("clients")
	peer, err := net.Dial("tcp", e.Addresses(c)[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	_ = peer.SetDeadline(time.Now().Add(testutil.Patience))
	write(t, peer, wire(t, "bind_transmitter seq=1 system_id=acme password=s3cret"))
	want(t, peer, "bind_transmitter_resp seq=1")
	var ours *conn
	e.group(c).conns(func(c *conn) { ours = c })
	return peer, ours
}

func wire(t *testing.T, lines ...string) (b []byte) {
	t.Helper()
	for _, line := range lines {
		var p smpp.PDU
		if err := p.ParseLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
		b = p.AppendWire(b)
	}
	return b
}

func write(t *testing.T, peer net.Conn, b []byte) {
	t.Helper()
	if _, err := peer.Write(b); err != nil {
		t.Fatal(err)
	}
}

// want reads one PDU. Its printed form must begin with begins.
func want(t *testing.T, peer net.Conn, begins string) {
	t.Helper()
	b := make([]byte, 16)
	_, err := io.ReadFull(peer, b)
	if err == nil {
		n, _ := smpp.New(smpp.Options{}).Frame(b)
		b = append(b, make([]byte, n-16)...)
		_, err = io.ReadFull(peer, b[16:])
	}
	if err != nil {
		t.Fatalf("want %s, got %v", begins, err)
	}
	var p smpp.PDU
	_ = p.Decode(b)
	if got := string(p.AppendLog(nil, true)); !strings.HasPrefix(got, begins) {
		t.Fatalf("want %s, got %s", begins, got)
	}
}

// Each PDU is answered, in order, however the PDUs are cut into pieces and even if one is
// longer than the buffer.
func TestPieces(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	peer, _ := bind(t, e)
	long := fmt.Sprintf("submit_sm seq=4 destination_addr=1 message_payload=%q", strings.Repeat("x", 5*readSize))
	b := wire(t, "enquire_link seq=2", "submit_sm seq=3 destination_addr=1", long, "enquire_link seq=5")
	for _, size := range []int{1, 7, 16, 4000, readSize, len(b)} {
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			write(t, peer, rest[:n])
			rest = rest[n:]
		}
		for _, line := range []string{"enquire_link_resp seq=2", "submit_sm_resp seq=3", "submit_sm_resp seq=4", "enquire_link_resp seq=5"} {
			want(t, peer, line)
		}
	}
}

// A reader that pauses because too many octets are unsent continues when they are written.
func TestUnsent(t *testing.T) {
	t.Parallel()
	e := start(t, site{limits: "unsent: 64KiB"})
	peer, _ := bind(t, e)
	const n = 100_000
	go func() {
		one := wire(t, "submit_sm seq=7") // without a destination, so the answer has 16 octets as well
		many := []byte(strings.Repeat(string(one), 1000))
		for range n / 1000 {
			if _, err := peer.Write(many); err != nil {
				return
			}
		}
	}()
	if _, err := io.CopyN(io.Discard, peer, n*16); err != nil {
		t.Fatal(err)
	}
}

// The answers to a client that is too fast are delayed, each until its time, and other PDUs
// overtake them. Answers that are not due by the end of the session are dropped.
func TestDelayed(t *testing.T) {
	t.Parallel()
	e := start(t, site{account: "rate: 20, burst: 1"})
	peer, _ := bind(t, e)
	write(t, peer, wire(t,
		"submit_sm seq=2 destination_addr=1", "submit_sm seq=3 destination_addr=1",
		"submit_sm seq=4 destination_addr=1", "enquire_link seq=5"))
	for _, line := range []string{"submit_sm_resp seq=2", "enquire_link_resp seq=5", "submit_sm_resp seq=3", "submit_sm_resp seq=4"} {
		want(t, peer, line)
	}
	for sequence := range 15 {
		write(t, peer, wire(t, fmt.Sprintf("submit_sm seq=%d destination_addr=1", 6+sequence)))
	}
	want(t, peer, "submit_sm_resp seq=6")
	if n := e.Counters().Jobs; n == 0 {
		t.Error("no answer waits")
	}
}

// unwritten returns a slot with a message, as the lane gives it to a session.
func unwritten(t *testing.T, e *Engine, c *conn) *connector.Slot {
	t.Helper()
	share := e.gateway.Table.LaneOf(e.gateway.Table.Connector("operator")).Share(&sms.Origin{Account: "acme", Tally: &sms.Tally{}}, 100)
	m := e.gateway.Node.Messages.Get()
	m.Origin = share.Origin
	m.Set(sms.Address{}, sms.Address{Addr: []byte("1")}, []byte("text"))
	e.gateway.Intake.NewIntake(1).Accept(e.now(), m, share)
	return &connector.Slot{Instance: c.Instance, Outlet: &c.Outlet, Link: &c.Link, Message: m, Share: share}
}

// smscSession returns a session to the SMSC. The other end is the test's.
func smscSession(t *testing.T, e *Engine) (*conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	_ = peer.SetDeadline(time.Now().Add(testutil.Patience))
	g := e.group(e.gateway.Table.Connector("operator"))
	c := g.newConn(&connector.Instance{Connector: g.Connector, Number: 1}, ours)
	c.begin()
	return c, peer
}

// A boundSession is always logged in.
type boundSession struct{ protocols.Session }

func (boundSession) Bound() protocols.BindType { return protocols.Transceiver }

// Lines are written after the flush time, or when many wait. Their times do not go back.
func TestPDULog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f, err := pdulog.NewDir(dir, pdulog.Options{Flush: 100 * time.Millisecond, Text: true, Options: logfile.Options{MaxSize: 1 << 30}, Log: zerolog.Nop()}).Open("c")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l := newPDULog(f, func() int64 { return time.Now().UnixNano() })
		lines := func() []string {
			b, err := os.ReadFile(filepath.Join(dir, "c.log"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(strings.TrimSpace(string(b)), "\n")
		}
		var p smpp.PDU
		link := func(instance int) *connector.Link { // one that is logged in
			s := &connector.Link{Source: connector.Source{Instance: &connector.Instance{Number: instance}}, Session: boundSession{}}
			for i, line := range []string{"bind_receiver seq=1", "bind_receiver_resp seq=1 status=0"} {
				_ = p.ParseLog([]byte(line))
				s.Login.Pass(i == 0, &p)
			}
			return s
		}
		one, two := link(1), link(2)
		_ = p.ParseLog([]byte("enquire_link seq=1"))
		now := time.Now().UnixNano()
		l.line(now, one, true, &p, nil, 0)
		l.line(now-1000, two, false, &p, nil, 0)
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		got := lines()
		if len(got) != 2 || strings.Fields(got[0])[0] != strings.Fields(got[1])[0] {
			t.Errorf("got %q", got)
		}
		for range 20_000 { // so many that the writer does not wait for the flush time
			l.line(now, one, true, &p, nil, 0)
		}
		synctest.Wait()
		if n := len(lines()); n < 5000 || l.locks() != 20_003 {
			t.Errorf("%d lines, %d locks", n, l.locks())
		}
		l.close()
	})
}

// A slot that the lane gives to an ending session returns to the lane. This can happen until
// the lane knows of the end.
func TestGivenAtTheEnd(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	c, peer := smscSession(t, e)
	slot := unwritten(t, e, c)
	lane := e.lane(c.Lane)
	lane.mu.Lock()
	over := make(chan struct{})
	go func() {
		c.serve()
		close(over)
	}()
	peer.Close()
	for !isLocked(&c.session) { // finish is about to return the session's slots
		runtime.Gosched()
	}
	for range 1000 {
		runtime.Gosched()
	}
	c.Give(e.now(), slot)
	lane.mu.Unlock()
	<-over
	lane.mu.Lock()
	defer lane.mu.Unlock()
	if n := lane.Len(); n != 1 || slot.Message != nil {
		t.Errorf("%d messages wait, the slot still has one: %t", n, slot.Message != nil)
	}
}

func isLocked(l *lock) bool {
	if !l.mu.TryLock() {
		return true
	}
	l.mu.Unlock()
	return false
}

// A request after our logout is neither logged nor written. Its message returns to the lane
// (F12).
func TestBehindLogout(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	c, peer := smscSession(t, e)
	slot := unwritten(t, e, c)
	c.session.Lock()
	c.LoggedOut = true
	r := c.newRequest()
	_ = r.pdu.(*smpp.PDU).ParseLog([]byte("unbind seq=7"))
	c.LoggingOut(e.now(), &c.Link)
	c.Send(e.now(), &c.Link, r, false, "")
	c.session.Unlock()
	before := c.Connector.Stats.PDUsOut[(&smpp.PDU{ID: smpp.SubmitSM}).Command()].Load()
	c.Give(e.now(), slot)
	over := make(chan struct{})
	go func() {
		c.serve()
		close(over)
	}()
	want(t, peer, "bind_")
	want(t, peer, "unbind seq=7")
	lane := e.lane(c.Lane)
	testutil.Eventually(t, "the message is back", func() bool {
		lane.mu.Lock()
		defer lane.mu.Unlock()
		return lane.Len() == 1
	})
	if n := c.Connector.Stats.PDUsOut[(&smpp.PDU{ID: smpp.SubmitSM}).Command()].Load(); n != before {
		t.Errorf("%d requests are counted as sent", n-before)
	}
	c.hangup("done")
	<-over
}

// What was posted before the end of a session is written, also if the peer gets no logout.
func TestWrittenBeforeTheEnd(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	c, peer := smscSession(t, e)
	c.session.Lock()
	for _, line := range []string{"enquire_link seq=7", "enquire_link seq=8"} {
		r := c.newRequest()
		_ = r.pdu.(*smpp.PDU).ParseLog([]byte(line))
		c.Send(e.now(), &c.Link, r, false, "")
	}
	c.Hangup(&c.Link, "done")
	c.session.Unlock()
	c.serve()
	for _, begins := range []string{"bind_", "enquire_link seq=7", "enquire_link seq=8"} {
		want(t, peer, begins)
	}
	if n, err := peer.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%d octets, %v", n, err)
	}
}

// While what was posted before the end of a session is to be written, nothing more of the peer is
// handled, not even counted and logged.
func TestNothingBehindTheEnd(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	c, _ := smscSession(t, e)
	var p smpp.PDU
	_ = p.ParseLog([]byte("enquire_link seq=1"))
	const many = 1000 // PDUs before the login, which are too many
	for range many {
		c.in = p.AppendWire(c.in)
	}
	c.receiveAll(e.now()) // the writer does not run yet
	handled := int64(0)
	for i := range c.Connector.Stats.PDUsIn {
		handled += c.Connector.Stats.PDUsIn[i].Load()
	}
	if handled > many/10 {
		t.Errorf("%d PDUs were handled", handled)
	}
	c.serve()
}

// A login whose password is still to be checked when the engine stops releases its request,
// and the password is not checked.
func TestCheckAfterClose(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	c, _ := smscSession(t, e)
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	c.session.Lock()
	r := c.newRequest()
	c.owe(r)
	c.Check(&c.Link, r, func() { t.Error("the password was checked") }, nil)
	c.session.Unlock()
	if n := e.Counters().Jobs; n != 0 {
		t.Errorf("%d requests are kept", n)
	}
	c.hangup("done")
	c.serve()
}

// A hookedSession calls a function when it begins.
type hookedSession struct {
	protocols.Session
	started func()
}

func (s *hookedSession) Start(now int64, p protocols.PDU) protocols.Action {
	s.started()
	return s.Session.Start(now, p)
}

// The timers of a session are checked only when it has begun (R7). Before that, it would be
// ended because its login seems to be missing since 1970.
func TestBeginsBeforeItsTimers(t *testing.T) {
	t.Parallel()
	e := start(t, site{})
	g := e.group(e.gateway.Table.Connector("clients"))
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	i := g.Acquire()
	c := g.newConn(i, tcpLike{ours})
	begun := false
	c.Session = &hookedSession{Session: c.Session, started: func() {
		begun = true
		if i.Link() != nil {
			t.Error("the session's timers are checked before it has begun")
		}
	}}
	c.begin()
	if !begun || i.Link() == nil {
		t.Error("the session has not begun")
	}
	i.SetLink(nil)
	g.Return(i)
}

// tcpLike is a connection that has a TCP address.
type tcpLike struct{ net.Conn }

func (tcpLike) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }
