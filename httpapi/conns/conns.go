// Package conns keeps the connections of a listener within a limit. One account or one address leaves a tenth
// of the connections to others. When the gateway stops, it ends the connections without a request.
//
// # Start reading
//
// conns.go (limits of connections), deadline.go.
package conns

import (
	"container/list"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A Table contains the connections of a listener. It is safe for concurrent use.
type Table struct {
	limit func() int // returns the limit of connections

	mu       sync.Mutex
	open     map[*Conn]struct{}
	idle     *list.List // elements are *Conn: connections without a request, longest idle first
	hosts    map[netip.Addr]int
	accounts map[string]int
	stop     time.Time // deadline for reading the rest of requests; zero: the gateway is not stopping
}

// NewTable makes a table with a limit, which may change.
func NewTable(limit func() int) *Table {
	return &Table{
		limit: limit, open: map[*Conn]struct{}{}, idle: list.New(), hosts: map[netip.Addr]int{}, accounts: map[string]int{},
	}
}

// A Conn is a connection of the table.
type Conn struct {
	net.Conn
	table *Table
	reads deadline

	// Guarded by the table's lock:
	host    netip.Addr // address of the client; not valid: the address is not known yet
	account string     // account that has logged in last; "": no account has logged in
	resting *list.Element
	closed  bool
}

// Len returns the number of open connections.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// Working returns the number of connections with a request.
func (t *Table) Working() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) - t.idle.Len()
}

// share returns the number of connections that an account or an address may have. Under a limit of ten there
// is no tenth for others.
func share(limit int) int { return limit - limit/10 }

// Enter adds a connection of a host; host is not valid if it is not known yet. If the host has reached its share, the
// connection replaces an idle one of the host. If the table is full, it replaces an idle one of the account or host with most
// connections. Enter returns nil if none of these is idle.
func (t *Table) Enter(c net.Conn, host netip.Addr) *Conn {
	t.mu.Lock()
	limit, replaced := t.limit(), (*Conn)(nil)
	switch {
	case host.IsValid() && t.hosts[host] >= share(limit):
		replaced = t.longestIdle(func(o *Conn) bool { return o.host == host })
	case len(t.open) >= limit:
		replaced = t.ofLargest()
	}
	if replaced == nil && (len(t.open) >= limit || host.IsValid() && t.hosts[host] >= share(limit)) {
		t.mu.Unlock()
		return nil
	}
	t.leave(replaced)
	n := &Conn{Conn: c, table: t, host: host}
	n.reads.awaits = true
	n.reads.limit = t.stop
	t.open[n] = struct{}{}
	t.hosts[host]++
	n.resting = t.idle.PushBack(n)
	t.mu.Unlock()
	replaced.end()
	return n
}

// longestIdle returns the connection that matches and has been idle for longest, nil if no connection matches.
func (t *Table) longestIdle(match func(*Conn) bool) *Conn {
	for e := t.idle.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*Conn); match(c) {
			return c
		}
	}
	return nil
}

// ofLargest returns the longest idle connection of the account, or host without a login, with most connections. Connections
// whose client is not known from the PROXY header yet do not count.
func (t *Table) ofLargest() (found *Conn) {
	most := 0
	for e := t.idle.Front(); e != nil; e = e.Next() {
		c := e.Value.(*Conn)
		n := t.hosts[c.host]
		if c.account != "" {
			n = t.accounts[c.account]
		}
		if n > most && c.host.IsValid() {
			found, most = c, n
		}
	}
	return found
}

// From records the host of a connection when it becomes known. It reports false if the host has reached its share.
func (c *Conn) From(host netip.Addr) bool {
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.closed || t.hosts[host] >= share(t.limit()) {
		return false
	}
	uncount(t.hosts, c.host)
	c.host = host
	t.hosts[host]++
	return true
}

// LogIn records the account of a connection. It reports false if the account has reached its share, and none of its other
// connections is idle: then the connection must be closed after its request.
func (c *Conn) LogIn(account string) bool {
	t := c.table
	t.mu.Lock()
	if c.closed || c.account == account {
		t.mu.Unlock()
		return true
	}
	uncount(t.accounts, c.account)
	c.account = account
	t.accounts[account]++
	over := t.accounts[account] > share(t.limit())
	var replaced *Conn
	if over {
		replaced = t.longestIdle(func(o *Conn) bool { return o.account == account && o != c })
		t.leave(replaced)
	}
	t.mu.Unlock()
	replaced.end()
	return !over || replaced != nil
}

// Work records that a request begins.
func (c *Conn) Work() {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.unrest()
}

// Rest records that a request has ended.
func (c *Conn) Rest() {
	c.Await(true)
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	if c.unrest(); !c.closed {
		c.resting = c.table.idle.PushBack(c)
	}
}

func (c *Conn) unrest() {
	if c.resting != nil {
		c.table.idle.Remove(c.resting)
		c.resting = nil
	}
}

// leave removes a connection, which may be nil.
func (t *Table) leave(c *Conn) {
	if c == nil || c.closed {
		return
	}
	c.closed = true
	c.unrest()
	delete(t.open, c)
	uncount(t.hosts, c.host)
	uncount(t.accounts, c.account)
}

// uncount decrements a counter.
func uncount[K comparable](of map[K]int, key K) {
	if of[key]--; of[key] <= 0 {
		delete(of, key)
	}
}

// end closes a connection that has left the table; c may be nil. The connection's server closes it too, and then counts it.
func (c *Conn) end() {
	if c != nil {
		_ = c.Conn.Close()
	}
}

// Close closes the connections of the table. Their servers notice it.
func (t *Table) Close() {
	t.mu.Lock()
	all := slices.Collect(maps.Keys(t.open))
	t.mu.Unlock()
	for _, c := range all {
		c.end()
	}
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.table.mu.Lock()
	c.table.leave(c)
	c.table.mu.Unlock()
	return c.Conn.Close()
}
