package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
)

// F17: a connector that is removed and added again while it drains has one pdu log,
// open once. After it has been removed and has drained, the file is closed.
func TestPDULogOfConnectorAddedAgain(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	without := site{operator: operator}
	with := without
	with.more = row("second", second, "")
	with.routes = "{to: second}"
	g := start(t, with)
	path := filepath.Join(g.dir, "second.log")
	s, c := second.session(), g.bind("transmitter")
	g.online("second", 1)
	c.put(1, 2)
	under := s.take(1, 2)
	for _, next := range []site{without, with} {
		g.mustReload(next)
	}
	again := second.session()
	g.online("second", 1)
	c.put(3, 4)
	again.serve(3, 4)
	s.answer(0, under...)
	s.loggedOut()
	if n := descriptors(path); n > 1 {
		t.Errorf("the pdu log is open %d times", n)
	}
	g.mustReload(without)
	again.loggedOut()
	testutil.Eventually(t, "the pdu log of the removed connector is closed", func() bool { return descriptors(path) <= 0 })
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]int{}
	for line := range bytes.Lines(b) {
		e, err := pdulog.Parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		commands[e.Command]++
	}
	want := "map[bind_transceiver:2 bind_transceiver_resp:2 submit_sm:4 submit_sm_resp:4 unbind:2 unbind_resp:2]"
	if got := fmt.Sprint(commands); got != want {
		t.Errorf("the log has %s\nwant %s", got, want)
	}
}

// ended reads until the gateway closes the connection.
func ended(p *peer) {
	for {
		if _, err := p.next(); err != nil {
			return
		}
	}
}

// answered reads until the gateway has answered enquire_link or closed.
func answered(p *peer) {
	for {
		line, err := p.next()
		if err != nil || strings.HasPrefix(line, "enquire_link_resp") {
			return
		}
	}
}

// descriptors returns how often this process has a file open, or -1 where the system
// does not say.
func descriptors(path string) int {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		return -1
	}
	n := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == path {
			n++
		}
	}
	return n
}

// F29, H18: whatever a client sends before its login, its password is not in the log, and
// the log stays short.
func TestPDULogBeforeLogin(t *testing.T) {
	parallel(t)
	g := start(t, site{})
	// A bind whose command_length does not count its body.
	c := g.dial("clients")
	bind := wire(t, `bind_transceiver seq=1 system_id=acme password=s3cret`)
	bind[2], bind[3] = 0, 16
	c.write(bind)
	ended(c)
	// One with its password in the wrong place, and one with an unknown id.
	for _, id := range [][]byte{{0x80, 0, 0, 9}, {0, 0, 0, 10}} {
		c := g.dial("clients")
		bind := wire(t, `bind_transceiver seq=1 system_id=acme password=s3cret`)
		copy(bind[4:], id)
		c.write(bind)
		c.write(wire(t, `enquire_link seq=2 rest=733363726574`))
		answered(c)
	}
	// A long one.
	c = g.dial("clients")
	long := append(wire(t, `submit_sm seq=1`), bytes.Repeat([]byte("s3cret"), 8000)...)
	long[2], long[3] = byte(len(long)>>8), byte(len(long))
	long[6], long[7] = 1, 1
	c.write(long)
	c.write(wire(t, `enquire_link seq=2`))
	answered(c)
	g.stop()
	b, err := os.ReadFile(filepath.Join(g.dir, "clients.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cret", "733363", "s3c"} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the log has %q:\n%s", secret, b)
		}
	}
	if len(b) > 3000 || !bytes.Contains(b, []byte("malformed")) {
		t.Errorf("the log has %d bytes: %.500s", len(b), b)
	}
}
