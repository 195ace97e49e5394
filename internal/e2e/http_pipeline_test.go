package e2e

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/smpp"
)

// An inbox is what an SMSC got: it accepts each message, until its session ends.
type inbox struct {
	mu    sync.Mutex
	lines []string // the messages as in the pdu log, without their sequence numbers
}

// serveAll accepts all messages of a session.
func (p *peer) serveAll() *inbox {
	in := &inbox{}
	go func() {
		for {
			b, err := p.read()
			var pdu smpp.PDU
			if err != nil || pdu.Decode(b) != nil {
				return
			}
			line := string(pdu.AppendLog(nil, true))
			seq := field(line, "seq")
			answer := "enquire_link_resp seq=" + seq + " status=0"
			if strings.HasPrefix(line, "submit_sm ") {
				in.mu.Lock()
				in.lines = append(in.lines, strings.Replace(line, " seq="+seq, "", 1))
				in.mu.Unlock()
				answer = "submit_sm_resp seq=" + seq + " status=0 message_id=" + seq
			}
			if _, err := p.conn.Write(wire(p.t, answer)); err != nil {
				return
			}
		}
	}()
	return in
}

// all returns the messages that have come.
func (in *inbox) all() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.lines)
}

// texts returns the texts of the messages that have come, without quotation marks.
func (in *inbox) texts() (all []string) {
	for _, line := range in.all() {
		all = append(all, strings.Trim(field(line, "short_message"), `"`))
	}
	return all
}

// A web is a raw connection to a connector by HTTP.
type web struct {
	t    testing.TB
	conn net.Conn
}

func (g *gw) web(name, from string) *web { return dialWeb(g.t, g.addr(name), from) }

// dialWeb connects from an address of this host.
func dialWeb(t testing.TB, addr, from string) *web {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: testutil.Patience}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &web{t, conn}
}

// rest reads until the connection ends, and closes it.
func (w *web) rest() string {
	b, err := io.ReadAll(w.conn)
	if isTimeout(err) {
		w.t.Errorf("the connection does not end; it had %.300q", b)
	}
	w.conn.Close()
	return string(b)
}

// sendsms returns a request of Kannel's form, with further parameters and fields.
func sendsms(text string, more ...string) string {
	return get("/cgi-bin/sendsms?username=acme&password=s3cret&from=1234&to=46700000001&text="+url.QueryEscape(text), more...)
}

func get(target string, fields ...string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(fields, ""), "\r\n") + "\r\n"
}

func post(target, body string, fields ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", target, strings.Join(append(fields, ""), "\r\n"), len(body), body)
}

var (
	answerStart = regexp.MustCompile(`HTTP/1\.[01] \d\d\d `)
	changing    = regexp.MustCompile(`\br[0-9a-f]+-[A-Z2-7]{10}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// answersOf splits what a connection has sent into answers, whose fields are in the order of their names. Dates and ids
// are left out.
func answersOf(stream string) (all []string) {
	starts := answerStart.FindAllStringIndex(stream, -1)
	if len(stream) > 0 && (len(starts) == 0 || starts[0][0] > 0) {
		return []string{stream}
	}
	for i, at := range starts {
		end := len(stream)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		head, body, _ := strings.Cut(stream[at[0]:end], "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		for i, line := range lines { // a body with an id of the request may have another length
			if n, found := strings.CutPrefix(line, "Content-Length: "); found && (n == fmt.Sprint(len(body)) || body == "" && len(n) > 2) {
				lines[i] = "Content-Length: right"
			}
		}
		slices.Sort(lines[1:])
		all = append(all, changing.ReplaceAllString(strings.Join(lines, "\r\n")+"\r\n\r\n"+body, "ID"))
	}
	return all
}
