package peers

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/protocols/smpp"
)

// An end is the test's own side of an SMPP session. PDUs are written as in the pdu log.
type end struct {
	conn   net.Conn
	handle func(e *end, line string) // is given each request but enquire_link

	mu      sync.Mutex
	seq     int
	waiting map[string]chan string // by sequence number
}

func newEnd(conn net.Conn, handle func(*end, string)) *end {
	return &end{conn: conn, handle: handle, waiting: map[string]chan string{}}
}

// serve reads PDUs until the connection ends.
func (e *end) serve() {
	defer e.conn.Close()
	d := smpp.New(smpp.Options{})
	var in []byte
	b := make([]byte, 1<<16)
	for {
		n, err := e.conn.Read(b)
		if err != nil {
			return
		}
		in = append(in, b[:n]...)
		for {
			size, err := d.Frame(in)
			if err != nil {
				return
			}
			if size > len(in) {
				break
			}
			var p smpp.PDU
			if err := p.Decode(in[:size:size]); err != nil {
				return
			}
			e.take(string(p.AppendLog(nil, true)))
			in = in[size:]
		}
	}
}

func (e *end) take(line string) {
	command, _, _ := strings.Cut(line, " ")
	if strings.HasSuffix(command, "_resp") || command == "generic_nack" {
		e.mu.Lock()
		c := e.waiting[field(line, "seq")]
		delete(e.waiting, field(line, "seq"))
		e.mu.Unlock()
		if c != nil {
			c <- line
		}
		return
	}
	if command == "enquire_link" || command == "unbind" {
		e.send(fmt.Sprintf("%s_resp seq=%s status=0", command, field(line, "seq")))
		return
	}
	e.handle(e, line)
}

// send writes PDUs in one segment. A session that has ended takes none.
func (e *end) send(lines ...string) {
	var b []byte
	for _, line := range lines {
		var p smpp.PDU
		if err := p.ParseLog([]byte(line)); err != nil {
			panic(fmt.Sprintf("%s: %v", line, err))
		}
		b = p.AppendWire(b)
	}
	_, _ = e.conn.Write(b)
}

// request sends requests in one segment, each "command fields", and returns what their answers
// come by.
func (e *end) request(requests ...string) []chan string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var answers []chan string
	var lines []string
	for _, r := range requests {
		e.seq++
		c := make(chan string, 1)
		e.waiting[strconv.Itoa(e.seq)] = c
		answers = append(answers, c)
		command, fields, _ := strings.Cut(r, " ")
		lines = append(lines, fmt.Sprintf("%s seq=%d %s", command, e.seq, fields))
	}
	e.send(lines...)
	return answers
}

// answerOf waits for the answer to a request.
func answerOf(t testing.TB, c chan string) string {
	t.Helper()
	select {
	case line := <-c:
		return line
	case <-time.After(patience):
		t.Fatal("waited in vain for the answer to a request of the test's own end")
		return ""
	}
}

// ask sends a request, and returns its answer.
func (e *end) ask(t testing.TB, request string) string {
	t.Helper()
	return answerOf(t, e.request(request)[0])
}

// A recorder keeps the requests that arrive, in order.
type recorder struct{ lines chan string }

func newRecorder() recorder { return recorder{make(chan string, 10_000)} }

// next returns the next request, which must have the command.
func (r recorder) next(t testing.TB, command string) string {
	t.Helper()
	select {
	case line := <-r.lines:
		if !strings.HasPrefix(line, command+" ") {
			t.Fatalf("got %s, want %s", line, command)
		}
		return line
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s at the test's own end", command)
		return ""
	}
}

// A testSMSC is the SMSC of a test.
type testSMSC struct {
	l      net.Listener
	record recorder

	mu      sync.Mutex
	count   int                               // of messages
	session *end                              // the latest
	script  func(n int, line string) []string // further lines after the answer to message n
}

// newTestSMSC listens on an address.
func newTestSMSC(t testing.TB, address string) *testSMSC {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c := &testSMSC{l: l, record: newRecorder()}
	t.Cleanup(func() {
		l.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.session != nil {
			c.session.conn.Close()
		}
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go newEnd(conn, c.take).serve()
		}
	}()
	return c
}

func (c *testSMSC) take(e *end, line string) {
	command, _, _ := strings.Cut(line, " ")
	seq := field(line, "seq")
	if strings.HasPrefix(command, "bind_") {
		e.send(fmt.Sprintf("%s_resp seq=%s status=0 system_id=SMSC sc_interface_version=52", command, seq))
		c.mu.Lock()
		c.session = e
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	c.count++
	lines := []string{fmt.Sprintf("%s_resp seq=%s status=0 message_id=%d", command, seq, c.count)}
	if c.script != nil {
		lines = append(lines, c.script(c.count, line)...)
	}
	c.mu.Unlock()
	c.record.lines <- line
	e.send(lines...)
}

// bound reports whether the gateway has logged in.
func (c *testSMSC) bound() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil
}

// play adds lines to the SMSC's answers until the end of the test.
func (c *testSMSC) play(t testing.TB, script func(n int, line string) []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.script, c.count = script, 0
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.script = nil
	})
}

// deliver passes a request to the gateway.
func (c *testSMSC) deliver(t testing.TB, request string) {
	t.Helper()
	c.mu.Lock()
	e := c.session
	c.mu.Unlock()
	if answer := e.ask(t, request); field(answer, "status") != "0" {
		t.Fatalf("%s: got %s", request, answer)
	}
}

// bindClient logs in to a connector with the test's own client. Its deliveries go to take, or
// into the record where that is nil.
func bindClient(t testing.TB, address, account string, take func(line string)) (*end, recorder) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	e := newEnd(conn, func(e *end, line string) {
		command, _, _ := strings.Cut(line, " ")
		e.send(fmt.Sprintf("%s_resp seq=%s status=0 message_id=", command, field(line, "seq")))
		if take != nil {
			take(line)
			return
		}
		r.lines <- line
	})
	t.Cleanup(func() { conn.Close() })
	go e.serve()
	if answer := e.ask(t, "bind_transceiver system_id="+account+" password=s3cret interface_version=0x34"); field(answer, "status") != "0" {
		t.Fatalf("got %s", answer)
	}
	return e, r
}

// field returns the value of a field of a PDU written as in the pdu log, without the quotes and
// escapes of a text.
func field(line, name string) string {
	_, rest, ok := strings.Cut(line, " "+name+"=")
	if !ok {
		return ""
	}
	if rest == "" || rest[0] != '"' {
		value, _, _ := strings.Cut(rest, " ")
		return value
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return rest
	}
	value, _ := strconv.Unquote(quoted)
	return value
}
