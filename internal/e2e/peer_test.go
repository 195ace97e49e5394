package e2e

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/smpp"
)

// A peer is a scripted connection to the gateway. It reads only when a test calls one of the
// methods that read.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   []byte

	got, wrote []byte // all octets received and sent
}

func newPeer(t testing.TB, conn net.Conn) *peer {
	t.Cleanup(func() { conn.Close() })
	return &peer{t: t, conn: conn}
}

// dial connects to a connector.
func (g *gw) dial(name string) *peer { return dial(g.t, g.addr(name)) }

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, conn)
}

// dialFrom connects to a connector from another address of this host.
func (g *gw) dialFrom(source, name string) *peer { return dialFrom(g.t, source, g.addr(name)) }

func dialFrom(t testing.TB, source, addr string) *peer {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: testutil.Patience}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, conn)
}

// bind connects to "clients" and logs in as acme.
func (g *gw) bind(kind string) *peer {
	g.t.Helper()
	p := g.dial("clients")
	p.bind(kind, "acme", "s3cret")
	return p
}

func (p *peer) bind(kind, systemID, password string) {
	p.t.Helper()
	p.send(bindLine(kind, systemID, password))
	p.want("bind_"+kind+"_resp", "seq=1", "status=0")
}

func bindLine(kind, systemID, password string) string {
	return fmt.Sprintf("bind_%s seq=1 system_id=%s password=%s interface_version=0x34", kind, systemID, password)
}

// submitLine returns a submit_sm whose text is its sequence number. Further fields are put
// before the text, and optional parameters without a name after it.
func submitLine(n int, more ...string) string {
	var fields, params string
	for _, m := range more {
		if strings.HasPrefix(m, "tlv_") {
			params += " " + m
		} else {
			fields += m + " "
		}
	}
	return fmt.Sprintf(
		"submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %sshort_message=\"%d\"%s", n, fields, n, params,
	)
}

// wire returns the octets of PDUs, each written as in the pdu log or in hex.
func wire(t testing.TB, lines ...string) (b []byte) {
	t.Helper()
	for _, line := range lines {
		if raw, err := hex.DecodeString(strings.ReplaceAll(line, " ", "")); err == nil {
			b = append(b, raw...)
			continue
		}
		var p smpp.PDU
		if err := p.ParseLog([]byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		b = p.AppendWire(b)
	}
	return b
}

// send sends PDUs in one segment.
func (p *peer) send(lines ...string) { p.t.Helper(); p.write(wire(p.t, lines...)) }

func (p *peer) write(b []byte) {
	p.t.Helper()
	p.wrote = append(p.wrote, b...)
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// writeBehind writes in the background, because a write may block until answers are read.
func (p *peer) writeBehind(b []byte) {
	go func() {
		if _, err := p.conn.Write(b); err != nil {
			p.t.Error(err)
		}
	}()
}

// writeQuietly writes in the background and ignores errors, because the gateway may stop
// reading or close the connection.
func (p *peer) writeQuietly(b []byte) {
	go func() { _, _ = p.conn.Write(b) }()
}

// read returns the octets of the next PDU, or the error why there is none.
func (p *peer) read() ([]byte, error) {
	var b [4096]byte
	d := smpp.New(smpp.Options{})
	for {
		n, err := d.Frame(p.in)
		if err != nil {
			return nil, err
		}
		if n <= len(p.in) {
			one := p.in[:n:n]
			p.in = p.in[n:]
			return one, nil
		}
		_ = p.conn.SetReadDeadline(time.Now().Add(testutil.Patience))
		if n, err = p.conn.Read(b[:]); n == 0 {
			return nil, err
		}
		p.in = append(p.in, b[:n]...)
		p.got = append(p.got, b[:n]...)
	}
}

// next returns the next PDU written as in the pdu log.
func (p *peer) next() (string, error) {
	b, err := p.read()
	if err != nil {
		return "", err
	}
	var pdu smpp.PDU
	if err := pdu.Decode(b); err != nil {
		return "", fmt.Errorf("cannot decode %x: %w", b, err)
	}
	return string(pdu.AppendLog(nil, true)), nil
}

// want reads one PDU, which must have the command and the fields, and returns it written as
// in the pdu log.
func (p *peer) want(command string, fields ...string) string {
	p.t.Helper()
	line, err := p.next()
	for err == nil && command != "enquire_link" && strings.HasPrefix(line, "enquire_link ") { // of a test that takes long
		p.send("enquire_link_resp seq=" + field(line, "seq") + " status=0")
		line, err = p.next()
	}
	if err != nil {
		p.t.Fatalf("want %s %s, got %v", command, fields, err)
	}
	words := strings.Fields(line)
	for _, f := range fields {
		if !slices.Contains(words, f) {
			p.t.Fatalf("want %s %s, got %s", command, fields, line)
		}
	}
	if words[0] != command {
		p.t.Fatalf("want %s %s, got %s", command, fields, line)
	}
	return line
}

// wantClosed reads the end of the connection, before which no PDU may arrive.
func (p *peer) wantClosed() {
	p.t.Helper()
	if line, err := p.next(); err == nil {
		p.t.Fatalf("want the end, got %s", line)
	} else if isTimeout(err) {
		p.t.Fatalf("want the end of the connection, got none")
	}
}

// wantEOF is wantClosed for an end that is not a reset. After a reset the peer may have lost
// earlier PDUs.
func (p *peer) wantEOF() {
	p.t.Helper()
	if line, err := p.next(); err != io.EOF {
		p.t.Fatalf("want the end, got %q %v", line, err)
	}
}

// fence sends enquire_link and waits for its answer, so that the gateway has handled
// everything that was sent before.
func (p *peer) fence() {
	p.t.Helper()
	p.send("enquire_link seq=999999")
	p.want("enquire_link_resp", "seq=999999")
}

// exchange does the same as fence with a message without a destination, which is refused. It
// is for tests that need many, because the rate of keep-alives is limited.
func (p *peer) exchange() {
	p.t.Helper()
	p.send("submit_sm seq=999998 source_addr=1234 short_message=\"\"")
	p.want("submit_sm_resp", "seq=999998", "status=0xb(ESME_RINVDSTADR)")
}

// submit sends messages first to last in one segment.
func (p *peer) submit(first, last int, more ...string) {
	p.t.Helper()
	var lines []string
	for n := first; n <= last; n++ {
		lines = append(lines, submitLine(n, more...))
	}
	p.send(lines...)
}

// until reads PDUs until done returns true for one of them.
func (p *peer) until(done func(line string) bool) {
	p.t.Helper()
	for {
		line, err := p.next()
		if err != nil {
			p.t.Fatalf("the connection ended too early: %v", err)
		}
		if done(line) {
			return
		}
	}
}

// silent reports whether no PDU that contains the words has arrived by now. The caller makes
// sure that PDUs from before have arrived.
func (p *peer) silent(words ...string) bool {
	p.t.Helper()
	for {
		_ = p.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		var b [4096]byte
		n, err := p.conn.Read(b[:])
		p.in = append(p.in, b[:n]...)
		p.got = append(p.got, b[:n]...)
		if err != nil {
			break
		}
	}
	d := smpp.New(smpp.Options{})
	for rest := p.in; ; {
		n, err := d.Frame(rest)
		if err != nil || n > len(rest) {
			return true
		}
		var pdu smpp.PDU
		if err := pdu.Decode(rest[:n]); err != nil {
			p.t.Fatalf("cannot decode %x: %v", rest[:n], err)
		}
		if line := string(pdu.AppendLog(nil, true)); containsAll(line, words) {
			return false
		}
		rest = rest[n:]
	}
}

func containsAll(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

// A received counts the PDUs that a peer receives, until the connection ends.
type received struct {
	mu    sync.Mutex
	lines map[string]int // by command and status
	all   int
}

// listen counts all PDUs from now on in the background. No other method may read then.
func (p *peer) listen() *received {
	y := &received{lines: map[string]int{}}
	go func() {
		for {
			line, err := p.next()
			if err != nil {
				return
			}
			command, _, _ := strings.Cut(line, " ")
			y.mu.Lock()
			y.lines[command+" "+field(line, "status")]++
			y.all++
			y.mu.Unlock()
		}
	}()
	return y
}

// of returns how many PDUs of a command have arrived, with a status if one is given.
func (y *received) of(words ...string) (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for line, of := range y.lines {
		if containsAll(line, words) {
			n += of
		}
	}
	return n
}

func (y *received) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return fmt.Sprint(y.lines)
}

// put submits messages first to last, and wants them accepted.
func (p *peer) put(first, last int, more ...string) {
	p.t.Helper()
	p.submit(first, last, more...)
	p.accepted(first, last)
}

// wantNo fails the test if a PDU that contains the words has come by now.
func (p *peer) wantNo(words ...string) {
	p.t.Helper()
	p.fence()
	if !p.silent(words...) {
		p.t.Errorf("unwanted: %s", words)
	}
}

// accepted wants the answers that accept messages first to last, in order.
func (p *peer) accepted(first, last int) {
	p.t.Helper()
	for n := first; n <= last; n++ {
		p.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0")
	}
}

// ids reads the answers to submits first to last, and returns the messages' ids by the
// submits' numbers.
func (p *peer) ids(first, last int) map[int]string {
	p.t.Helper()
	ids := map[int]string{}
	for n := first; n <= last; n++ {
		ids[n] = field(p.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0"), "message_id")
	}
	return ids
}

// submitOne submits message n, and returns the id that it is accepted with.
func (p *peer) submitOne(n int, more ...string) (id string) {
	p.t.Helper()
	p.submit(n, n, more...)
	return p.ids(n, n)[n]
}

// take wants the submits of messages first to last, in order, and returns their sequence
// numbers.
func (p *peer) take(first, last int) (sequences []string) {
	p.t.Helper()
	for n := first; n <= last; n++ {
		line := p.want("submit_sm", fmt.Sprintf("short_message=\"%d\"", n))
		sequences = append(sequences, field(line, "seq"))
	}
	return sequences
}

// answer answers submits with a status.
func (p *peer) answer(status int, sequences ...string) {
	p.t.Helper()
	var lines []string
	for _, s := range sequences {
		line := fmt.Sprintf("submit_sm_resp seq=%s status=%d", s, status)
		if status == 0 {
			line += " message_id=" + s
		}
		lines = append(lines, line)
	}
	p.send(lines...)
}

// serve takes messages first to last and accepts each before the next.
func (p *peer) serve(first, last int) {
	p.t.Helper()
	for n := first; n <= last; n++ {
		p.answer(0, p.take(n, n)...)
	}
}

// field returns the value of a field of a PDU written as in the pdu log, with its quotation marks if it
// has some: a text may contain spaces, and so may the reference of its parts.
func field(line, name string) string {
	_, v, _ := strings.Cut(" "+line, " "+name+"=")
	quoted := false
	for i := range len(v) {
		switch {
		case v[i] == '"' && (i == 0 || v[i-1] != '\\'):
			quoted = !quoted
		case v[i] == ' ' && !quoted:
			return v[:i]
		}
	}
	return v
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// An smsc is a listener whose sessions are peers. Its address stays its own while it is down.
type smsc struct {
	t testing.TB
	l *net.TCPListener
}

func newSMSC(t testing.TB) *smsc {
	t.Helper()
	l, err := net.Listen("tcp", testutil.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &smsc{t, l.(*net.TCPListener)}
}

func (s *smsc) addr() string { return s.l.Addr().String() }

// down stops listening.
func (s *smsc) down() { s.l.Close() }

// up listens again on the same address.
func (s *smsc) up() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	s.l = l.(*net.TCPListener)
}

// accept accepts the gateway's next connection.
func (s *smsc) accept() *peer {
	s.t.Helper()
	_ = s.l.SetDeadline(time.Now().Add(testutil.Patience))
	conn, err := s.l.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	return newPeer(s.t, conn)
}

// session accepts the gateway's next connection and its login.
func (s *smsc) session() *peer {
	s.t.Helper()
	p := s.accept()
	line, err := p.next()
	command, _, _ := strings.Cut(line, " ")
	if err != nil || !strings.HasPrefix(command, "bind_") {
		s.t.Fatalf("want a bind, got %s %v", line, err)
	}
	p.send(fmt.Sprintf("%s_resp seq=%s status=0 system_id=SMSC", command, field(line, "seq")))
	return p
}

// bindFive logs in to "clients" with SMPP 5.0.
func (g *gw) bindFive() *peer {
	g.t.Helper()
	c := g.dial("clients")
	c.send("bind_transceiver seq=1 system_id=acme password=s3cret interface_version=0x50")
	c.want("bind_transceiver_resp", "seq=1", "status=0")
	return c
}
