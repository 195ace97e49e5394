package conns

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A crowd opens connections of a table.
type crowd struct {
	*testing.T
	table *Table
	ends  map[*Conn]net.Conn // the clients'
}

func newCrowd(t *testing.T, limit int) *crowd {
	return &crowd{t, NewTable(func() int { return limit }), map[*Conn]net.Conn{}}
}

var one, two = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// open opens a connection of a host. It returns nil if there is no room.
func (c *crowd) open(host netip.Addr) *Conn {
	server, client := net.Pipe()
	n := c.table.Enter(server, host)
	c.Cleanup(func() { server.Close(); client.Close() })
	if n != nil {
		c.ends[n] = client
	}
	return n
}

// closed reports whether a connection was closed.
func (c *crowd) closed(n *Conn) bool {
	_ = c.ends[n].SetReadDeadline(time.Now())
	_, err := c.ends[n].Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// An address leaves a tenth of the connections to others: where it has the rest, its own idle ones make room, and busy ones do not.
func TestHosts(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 20)
	var all []*Conn
	for range 18 {
		all = append(all, c.open(one))
	}
	all[0].Work()
	if next := c.open(one); next == nil || c.closed(all[0]) || !c.closed(all[1]) || c.table.Len() != 18 {
		t.Error("the longest idle one does not make room")
	}
	if a, b := c.open(two), c.open(two); a == nil || b == nil {
		t.Error("another address has no tenth")
	}
	for n := range c.table.open {
		n.Work()
	}
	if c.open(one) != nil || c.open(two) != nil {
		t.Error("busy connections made room")
	}
	for n := range c.ends {
		n.Close()
		n.Rest()
	}
	if c.table.Len()+len(c.table.hosts)+c.table.idle.Len() != 0 {
		t.Errorf("%d are left, of %v, %d idle", c.table.Len(), c.table.hosts, c.table.idle.Len())
	}
}

// So does an account, from however many addresses it comes; one with its full share, all busy, is asked to close the
// rest.
func TestAccounts(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 20)
	host := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }
	var all []*Conn
	for i := range 18 {
		n := c.open(host(i))
		n.Work()
		for range 2 { // a second request of the connection changes nothing
			if !n.LogIn("load") {
				t.Fatal("it has its share already")
			}
		}
		all = append(all, n)
	}
	late := c.open(host(100))
	late.Work()
	if late.LogIn("load") {
		t.Error("the account has more than its share")
	}
	late.Close()
	all[3].Rest()
	last := c.open(host(101))
	last.Work()
	if !last.LogIn("load") || !c.closed(all[3]) {
		t.Error("the idle one does not make room")
	}
	if c.open(one) == nil || c.open(two) == nil {
		t.Error("others have no tenth")
	}
}

// A full table makes room by an idle connection of whoever has most.
func TestFull(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 5)
	small := c.open(two)
	var large []*Conn
	for range 4 {
		large = append(large, c.open(one))
	}
	if c.open(netip.MustParseAddr("192.0.2.3")) == nil || c.closed(small) || !c.closed(large[0]) {
		t.Error("the host with most has not made room")
	}
	for i, n := range slices.Concat(large[1:], []*Conn{small}) {
		n.Work()
		if i < 3 {
			n.LogIn("load")
		}
		n.Rest()
	}
	for range 2 {
		if c.open(netip.Addr{}) == nil {
			t.Error("no room")
		}
	}
	if c.closed(small) || !c.closed(large[1]) {
		t.Error("the account with most has not made room")
	}
	proxied := c.open(netip.Addr{})
	if !proxied.From(one) || proxied.host != one {
		t.Error("it is not counted for its client")
	}
}

// A connection counts for nobody until its proxy has named its client, and for the client then, who has no more than its share.
func TestProxied(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 20)
	var all []*Conn
	for range 18 {
		n := c.open(netip.Addr{})
		if !n.From(one) {
			t.Fatal("it has its share already")
		}
		n.Work()
		all = append(all, n)
	}
	late := c.open(netip.Addr{})
	if late.From(one) || late.host == one {
		t.Error("the client has more than its share")
	}
	if c.table.hosts[netip.Addr{}] != 1 || c.table.hosts[one] != 18 {
		t.Errorf("%v", c.table.hosts)
	}
	if err := all[0].Close(); err != nil || all[0].From(two) {
		t.Errorf("%v, or a closed one is counted", err)
	}
	if late.Work(); !late.From(one) || len(c.table.hosts) != 1 || c.open(one) != nil {
		t.Errorf("%v", c.table.hosts)
	}
}

// An account that has its share keeps the connection on which it logs in, and another account on that counts anew.
func TestLoginAnew(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 10)
	host := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }
	var all []*Conn
	for i := range 10 {
		all = append(all, c.open(host(i)))
	}
	for i, n := range all[1:] {
		n.Work()
		if !n.LogIn("load") {
			t.Fatalf("%d are its share", i)
		}
	}
	if all[0].LogIn("load") || c.closed(all[0]) || c.table.accounts["load"] != 10 {
		t.Errorf("it makes room for itself: %v", c.table.accounts)
	}
	if !all[0].LogIn("other") || !all[1].LogIn("other") || c.table.accounts["load"] != 8 || c.table.accounts["other"] != 2 {
		t.Errorf("%v", c.table.accounts)
	}
	all[2].Close()
	if !all[2].LogIn("load") || c.table.accounts["load"] != 7 {
		t.Errorf("a closed one counts: %v", c.table.accounts)
	}
}

// Deadlines of a connection that is closed say so.
func TestClosedDeadlines(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowd(t, 10)
	n := c.table.Enter(socket, one)
	if err := n.SetDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	_ = n.Close()
	for name, set := range map[string]func(time.Time) error{"read": n.SetReadDeadline, "both": n.SetDeadline} {
		if set(time.Now()) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if n.Close() == nil {
		t.Error("it is closed twice without an error")
	}
}

// When the gateway stops, headers and bodies have to come soon, whatever deadlines are set then. A client that waits for an answer is not hurried.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 10)
		body, answer, early := c.open(one), c.open(one), c.open(one)
		for _, n := range []*Conn{body, answer} {
			_ = n.SetReadDeadline(time.Now().Add(time.Hour))
		}
		answer.Await(false)
		_ = early.SetReadDeadline(time.Now().Add(time.Millisecond))
		begin := time.Now()
		c.table.Stop(time.Second)
		late := c.open(one)
		_ = body.SetReadDeadline(time.Now().Add(time.Hour))
		_ = late.SetDeadline(time.Time{})
		waits := func(n *Conn) time.Duration {
			if _, err := n.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			return time.Since(begin)
		}
		if early := waits(early); early != time.Millisecond {
			t.Errorf("an earlier deadline is after %v", early)
		}
		if took := waits(body); took != time.Second {
			t.Errorf("a body may take %v", took)
		}
		if took := waits(late); took != time.Second {
			t.Errorf("a header of a new connection may take %v", took)
		}
		if took := waits(answer); took != time.Hour {
			t.Errorf("who waits for an answer is read until %v", took)
		}
		answer.Await(true)
		if took := waits(answer); took != time.Hour {
			t.Errorf("what comes behind the answer may take %v", took)
		}
	})
}

// Connections with a request are counted until it is answered, or they end. Close ends all.
func TestWorking(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 20)
	a, b := c.open(one), c.open(two)
	check := func(want int) {
		t.Helper()
		if n := c.table.Working(); n != want {
			t.Errorf("%d work, not %d", n, want)
		}
	}
	check(0)
	a.Work()
	b.Work()
	check(2)
	a.Rest()
	check(1)
	if c.table.Close(); !c.closed(a) || !c.closed(b) {
		t.Error("a connection is open")
	}
	b.Close()
	check(0)
}
