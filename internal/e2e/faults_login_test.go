package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
)

// otherAccount is a client besides acme.
const otherAccount = "{system_id: other, password: s3cret}"

// stranger is an address of this host that no other client of a test uses.
const stranger = "127.0.0.2"

// bindOther connects to "clients" and logs in as the other account.
func (g *gw) bindOther(kind string) *peer {
	g.t.Helper()
	p := g.dial("clients")
	p.bind(kind, "other", "s3cret")
	return p
}

// pdusIn is how many PDUs the gateway has read from a connector's peers.
func pdusIn(s *connector.Stats) (n int64) {
	for i := range s.PDUsIn {
		n += s.PDUsIn[i].Load()
	}
	return n
}

// F3, H3: silent connections from one address do not keep other addresses from logging in.
func TestF3IdleConnections(t *testing.T) {
	parallel(t)
	const idle = 1500
	raiseFiles(t, idle+200)
	c := startChild(t, idle+500, site{clients: "bind_timeout: 5m"})
	for range idle {
		dialFrom(t, stranger, c.addr)
	}
	for range 3 {
		dial(t, c.addr).bind("transmitter", "acme", "s3cret")
	}
}

// H22: while sessions send as many keep-alives as they can and never read, the gateway
// handles a bounded number of their PDUs for each exchange of another session.
func TestH22Flood(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	const patient = "enquire_interval: 0s" // neither is asked whether it lives while the others log in
	g := start(t, site{operator: operator, accounts: otherAccount, clients: patient, out: patient})
	s, c := operator.session(), g.bind("transmitter")
	b := bytes.Repeat(wire(t, "enquire_link seq=1"), 1000)
	for range 20 {
		p := g.bindOther("transmitter")
		go func() {
			for {
				if _, err := p.conn.Write(b); err != nil {
					return
				}
			}
		}()
	}
	const exchanges = 100
	before := pdusIn(g.stats("clients"))
	for n := range exchanges {
		c.put(n, n)
		s.serve(n, n)
	}
	if each := (pdusIn(g.stats("clients")) - before) / exchanges; each > 2000 {
		t.Errorf("%d PDUs were handled for each exchange of another client", each)
	}
}

// Connections of one network on which nobody logs in make room for those of others, of SMPP and of HTTP.
func TestPrebindDisplaced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs 127.0.0.2")
	}
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: withAPI, limits: "prebind: 8, prebind_per_address: 8"})
	var silent, half []net.Conn
	for range 4 {
		silent = append(silent, g.dial("clients").conn)
		c := g.dial("api").conn
		fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\n")
		half = append(half, c)
	}
	testutil.Eventually(t, "all have come", func() bool {
		c := g.dial("api").conn // is refused when there is no place for another
		defer c.Close()
		fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\n")
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		return g.Sessions.Count() == 5 && err == nil
	})
	gone := func(all []net.Conn) (n int) {
		for _, c := range all {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				n++
			}
		}
		return n
	}
	for range 3 {
		c := g.dialFrom("127.0.1.2", "clients")
		c.bind("transceiver", "acme", "s3cret")
		h := g.dialFrom("127.0.1.2", "api").conn
		fmt.Fprint(h, "GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(h), nil); err != nil || resp.StatusCode != 200 {
			t.Errorf("%v, %v", resp, err)
		}
	}
	testutil.Eventually(t, "one of them was closed", func() bool { return gone(silent)+gone(half) > 0 })
	testutil.Eventually(t, "the log says why", func() bool { return strings.Contains(g.log.String(), "as many are open as limits.prebind allows") })
}

// F4: an account's receivers share its messages, and get no other account's.
func TestF4ReceiversOfTwoAccounts(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, clients: "window: 10", accounts: otherAccount,
		routes: "{from: operator, destination: \"1000\", to: {account: acme}}\n{from: operator, destination: \"2000\", to: {account: other}}\n{to: operator}",
	})
	s := operator.session()
	first, second, other := g.bind("receiver"), g.bind("receiver"), g.bindOther("receiver")
	deliver := func(n int, destination string) {
		s.send(fmt.Sprintf("deliver_sm seq=%d source_addr=46700000001 destination_addr=%s short_message=\"%d\"", n, destination, n))
		s.want("deliver_sm_resp", fmt.Sprint("seq=", n), "status=0")
	}
	g.online("clients", 3)
	for n := range 20 { // windows of ten: neither receiver takes all
		deliver(n, "1000")
		if n < 10 {
			deliver(100+n, "2000")
		}
	}
	got := map[string]bool{}
	for _, p := range []*peer{first, second} {
		for range 10 {
			line := p.want("deliver_sm", "destination_addr=1000")
			got[field(line, "short_message")] = true
		}
		p.fence() // no further message has arrived
	}
	if len(got) != 20 {
		t.Errorf("acme has had %d different messages", len(got))
	}
	for range 10 {
		line := other.want("deliver_sm", "destination_addr=2000")
		other.send(fmt.Sprintf("deliver_sm_resp seq=%s status=0", field(line, "seq")))
	}
	other.fence()
}

// F4: the messages of an account without a receiver wait. Those of other accounts are
// delivered, and no other account gets the waiting ones.
func TestF4NoReceiver(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, accounts: otherAccount,
		routes: "{from: operator, destination: \"1000\", to: {account: acme}}\n{from: operator, destination: \"2000\", to: {account: other}}\n{to: operator}",
	})
	s, other := operator.session(), g.bindOther("receiver")
	g.online("clients", 1)
	s.send(`deliver_sm seq=1 source_addr=46700000001 destination_addr=1000 short_message="acme"`,
		`deliver_sm seq=2 source_addr=46700000001 destination_addr=2000 short_message="other"`)
	s.want("deliver_sm_resp", "seq=1", "status=0")
	s.want("deliver_sm_resp", "seq=2", "status=0")
	line := other.want("deliver_sm", `short_message="other"`)
	// A receiver that refuses or throttles messages does not stop the others.
	other.send(fmt.Sprintf("deliver_sm_resp seq=%s status=0x58", field(line, "seq")))
	other.fence()
	acme := g.bind("receiver")
	acme.want("deliver_sm", `short_message="acme"`)
}

// F1, H1: a client that guesses passwords and hangs up before it is refused has to wait
// like one that does not hang up: at least a second passes between two guesses that are
// checked. Clients from other addresses do not wait, not even with the same account.
func TestF1GuessAndHangUp(t *testing.T) {
	parallel(t)
	g := start(t, site{accounts: otherAccount})
	watch := g.bindOther("transmitter")
	guess := func(password string) (in bool) {
		p := g.dialFrom(stranger, "clients")
		p.send(bindLine("transmitter", "acme", password))
		for range 5 {
			watch.exchange() // the guess is read meanwhile, and answered if it is to be
		}
		in = !p.silent("bind_transmitter_resp", "status=0 ")
		p.conn.Close()
		return in
	}
	const guesses = 40
	found := 0
	began := time.Now()
	for i := range guesses {
		guess(fmt.Sprint("wrong", i))
		if guess("s3cret") {
			found++
		}
	}
	if most := 2 + int(time.Since(began)/time.Second); found > most {
		t.Errorf("the right password got in %d of %d times, at most %d are possible at one a second", found, guesses, most)
	}
	g.bindOther("transmitter")
	g.bind("transmitter")
}

// F4: with a route to the connector that clients log in on, the receives options of the
// accounts decide which account a message is for.
func TestF4Receives(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator,
		accounts: `{system_id: wide, password: s3cret, receives: ["20"]}
				{system_id: narrow, password: s3cret, receives: ["+2001"]}`,
		routes: "{from: operator, to: clients}\n{to: operator}",
	})
	s, acme := operator.session(), g.bind("transceiver")
	wide, narrow := g.dial("clients"), g.dial("clients")
	wide.bind("receiver", "wide", "s3cret")
	narrow.bind("receiver", "narrow", "s3cret")
	g.online("clients", 3)
	for n, destination := range []string{"2000", "2001", "2002", "20017"} {
		s.send(fmt.Sprintf("deliver_sm seq=%d source_addr=46700000001 destination_addr=%s short_message=\"%d\"", n, destination, n))
		s.want("deliver_sm_resp", fmt.Sprint("seq=", n), "status=0")
	}
	for p, numbers := range map[*peer][]string{wide: {"2000", "2002"}, narrow: {"2001", "20017"}} {
		for _, number := range numbers {
			p.want("deliver_sm", "destination_addr="+number)
		}
		p.fence()
	}
	acme.fence()
}

// H5: a session that has not logged in may send only a few PDUs.
func TestH5FloodBeforeLogin(t *testing.T) {
	parallel(t)
	g := start(t, site{accounts: otherAccount})
	const many = 20000
	p := g.dialFrom(stranger, "clients")
	b := wire(t, "enquire_link seq=1")
	go func() {
		for range many {
			if _, err := p.conn.Write(b); err != nil {
				return
			}
		}
	}()
	answered := 0
	for ; answered < many; answered++ {
		if _, err := p.next(); err != nil {
			break
		}
	}
	if answered > 100 {
		t.Errorf("%d requests were answered before a login", answered)
	}
	g.bind("transmitter").fence()
}
