package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

var (
	propertySeeds = flag.Int("property-seeds", 4, "seeds of TestProperty")
	propertySeed  = flag.Uint64("property-seed", 0, "the only seed of TestProperty; 0: new ones")
)

// T16: accepted = delivered + failed + expired + pending, whatever the configuration and the
// messages, at every power cut and at the end.
func TestProperty(t *testing.T) {
	parallel(t)
	for range *propertySeeds {
		seed := *propertySeed
		if seed == 0 {
			seed = rand.Uint64()
		}
		t.Logf("-property-seed %d", seed)
		newProperty(t, seed).run()
		if t.Failed() || *propertySeed != 0 {
			return
		}
	}
}

// A property is a gateway with a random configuration, and the model of what becomes of its
// messages.
type property struct {
	t        *testing.T
	random   *rand.Rand
	site     site
	fails    bool // on_unknown: fail
	sessions int
	window   int

	last     int          // number of the last message
	accepted map[int]bool // by number; whether the message may expire
	smsc     *fakeSMSC
	cuts     int
	left     int // messages in the store after the last cut
}

func newProperty(t *testing.T, seed uint64) *property {
	r := rand.New(rand.NewPCG(seed, 0))
	p := &property{
		t: t, random: r, accepted: map[int]bool{}, smsc: newFakeSMSC(),
		fails: r.IntN(3) == 0, sessions: 1 + r.IntN(3), window: 1 + r.IntN(8),
	}
	unknown := "resend"
	if p.fails {
		unknown = "fail"
	}
	p.site = site{
		store: vfs.NewCrashableMem(), top: []string{"", "store: {memory: 1KiB}\n", "store: {memory: 16KiB}\n"}[r.IntN(3)],
		clients: "window: 50",
		out: fmt.Sprintf("instances: %d, window: %d, max_queue: %d, queue_full: refuse, retry: [5ms, 10ms, 20ms, 40ms, repeat], throttle_pause: 2ms, on_unknown: %s",
			p.sessions, p.window, 20+r.IntN(200), unknown),
	}
	return p
}

func (p *property) run() {
	p.t.Helper()
	for lives := 1 + p.random.IntN(3); p.cuts < lives; p.cuts++ {
		p.live()
	}
	p.end()
}

// start starts the SMSC and a gateway.
func (p *property) start() *gw {
	p.site.operator = newSMSC(p.t)
	p.smsc.begin(p.site.operator)
	return start(p.t, p.site)
}

// live sends random messages to a gateway, and cuts its power at a random moment.
func (p *property) live() {
	p.t.Helper()
	g := p.start()
	if p.random.IntN(4) == 0 {
		p.smsc.freeze() // the messages pile up
	}
	c := g.bind("transmitter")
	for range p.random.IntN(20) {
		p.submit(c, 1+p.random.IntN(40), true)
	}
	last := p.random.IntN(40)
	p.submit(c, last, false)
	time.Sleep(time.Duration(p.random.IntN(3000)) * time.Microsecond)
	p.smsc.freeze()
	disk := p.site.store.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * p.random.IntN(3), RNG: p.random})
	for range last {
		c.want("submit_sm_resp") // from behind the cut, so that the engine ends with nothing to do
	}
	c.conn.Close()
	p.smsc.stop()
	g.stop()
	p.site.store = disk
	pending := p.pending(disk)
	p.left = len(pending)
	p.check(pending)
}

// submit sends messages, and reads the answers unless the power is about to be cut.
func (p *property) submit(c *peer, n int, read bool) {
	p.t.Helper()
	first := p.last + 1
	p.last += n
	expires := map[int]bool{}
	var lines []string
	for number := first; number <= p.last; number++ {
		more := []string{fmt.Sprint("priority_flag=", p.random.IntN(4))}
		if p.random.IntN(8) == 0 {
			expires[number] = true
			more = append(more, "validity_period=000000000001000R")
		}
		lines = append(lines, submitLine(number, more...))
	}
	if n == 0 {
		return
	}
	c.send(lines...)
	for i := 0; read && i < n; i++ {
		line := c.want("submit_sm_resp")
		if number, _ := strconv.Atoi(field(line, "seq")); field(line, "status") == "0" {
			p.accepted[number] = expires[number]
		}
	}
}

// pending returns the numbers of the messages that a store has.
func (p *property) pending(fs vfs.FS) map[int]bool {
	p.t.Helper()
	s, err := store.Open("store", store.Options{FS: fs})
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	found := map[int]bool{}
	_, err = s.Scan(0, 1<<30, func(e *store.Entry) error {
		var m sms.Message
		if err := store.Decode(e.Record, &m, 0); err != nil {
			return err
		}
		number, err := strconv.Atoi(string(m.Text()))
		found[number] = true
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// check fails the test if accepted messages have neither ended nor wait.
func (p *property) check(pending map[int]bool) {
	p.t.Helper()
	delivered, refused, lost := p.smsc.counts()
	var missing []int
	for number, expires := range p.accepted {
		if delivered[number] == 0 && refused[number] == 0 && !pending[number] && !expires {
			missing = append(missing, number)
		}
	}
	most := 0
	if p.fails { // a window for each session that ended, and nothing twice
		most = (lost + p.sessions*(p.cuts+1)) * p.window
		for number, n := range delivered {
			if n > 1 {
				p.t.Errorf("message %d was delivered %d times", number, n)
			}
		}
	}
	if len(missing) > most {
		p.t.Errorf("after %d power cuts %d of %d accepted messages are missing: %v", p.cuts, len(missing), len(p.accepted), missing)
	}
}

// end starts a gateway that has time to send what is left.
func (p *property) end() {
	p.t.Helper()
	g := p.start()
	c := g.bind("transmitter")
	p.submit(c, 20, true)
	testutil.Eventually(p.t, "nothing waits", func() bool { return g.Pending() == 0 })
	operator, clients := g.stats("operator"), g.stats("clients")
	in := int64(p.left) + clients.Accepted.Load()
	if out := operator.Sent.Load() + operator.Failed.Load() + operator.Expired.Load(); in != out {
		p.t.Errorf("%d messages came and %d have ended", in, out)
	}
	c.conn.Close()
	g.stop()
	p.smsc.stop()
	pending := p.pending(p.site.store)
	if len(pending) != 0 {
		p.t.Errorf("%d messages are left in the store", len(pending))
	}
	p.check(pending)
	p.t.Logf("%d power cuts, %d of %d messages accepted, %d recovered at the end", p.cuts, len(p.accepted), p.last, p.left)
}

// A fakeSMSC is an SMSC that refuses, throttles and closes, by the numbers of messages.
type fakeSMSC struct {
	mu                 sync.Mutex
	frozen             bool
	seen               map[int]int // how often each message has arrived
	delivered, refused map[int]int
	lost               int // sessions that it closed
	listener           net.Listener
	conns              []net.Conn
	running            sync.WaitGroup
}

func newFakeSMSC() *fakeSMSC {
	return &fakeSMSC{seen: map[int]int{}, delivered: map[int]int{}, refused: map[int]int{}}
}

// begin serves what connects to an SMSC.
func (c *fakeSMSC) begin(s *smsc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen, c.listener = false, s.l
	_ = s.l.SetDeadline(time.Time{})
	c.running.Go(func() {
		for {
			conn, err := s.l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.conns = append(c.conns, conn)
			c.running.Go(func() { c.serve(newPeer(s.t, conn)) })
			c.mu.Unlock()
		}
	})
}

// freeze makes the SMSC answer nothing any more.
func (c *fakeSMSC) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
}

// stop ends all sessions.
func (c *fakeSMSC) stop() {
	c.mu.Lock()
	c.listener.Close()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
	c.mu.Unlock()
	c.running.Wait()
}

func (c *fakeSMSC) serve(p *peer) {
	defer p.conn.Close()
	for {
		line, err := p.next()
		if err != nil {
			return
		}
		answer := c.answer(line)
		if answer == "close" {
			return
		}
		if answer != "" {
			if _, err := p.conn.Write(wire(p.t, answer)); err != nil {
				return
			}
		}
	}
}

// answer returns the answer to a PDU: "" for none, and "close" if the session ends instead.
func (c *fakeSMSC) answer(line string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	command, _, _ := strings.Cut(line, " ")
	status, number := 0, 0
	switch {
	case c.frozen:
		return ""
	case strings.HasSuffix(command, "_resp"):
		return ""
	case command == "submit_sm":
		number, _ = strconv.Atoi(strings.Trim(field(line, "short_message"), `"`))
		c.seen[number]++
		first := c.seen[number] == 1
		switch number % 32 {
		case 3:
			status = 0xb // ESME_RINVDSTADR
			c.refused[number]++
		case 5, 6, 7:
			if first {
				status = 0x58 // ESME_RTHROTTLED
			}
		case 9, 10:
			if first {
				status = 0x14 // ESME_RMSGQFUL
			}
		case 20:
			if first {
				c.lost++
				return "close"
			}
		}
		if status == 0 {
			c.delivered[number]++
		}
	}
	answer := fmt.Sprintf("%s_resp seq=%s status=%d", command, field(line, "seq"), status)
	if command == "submit_sm" && status == 0 {
		answer += " message_id=" + strconv.Itoa(number)
	}
	return answer
}

// counts returns how often each message was delivered and refused, and how many sessions the SMSC
// has closed.
func (c *fakeSMSC) counts() (delivered, refused map[int]int, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.delivered), maps.Clone(c.refused), c.lost
}
