package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/connector/streams"
	"pmg/gateway"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A rig is a listener whose handler is that of the test: it logs clients in, reads bodies and answers with what it has found.
type rig struct {
	*apitest.Site
	t        *testing.T
	listener *Listener
	address  string
	lines    func() string // the pdu log
}

const most = 1000 // octets of a body

// roomsOf returns the rooms of a gateway.
func roomsOf(g *gateway.Gateway) Rooms {
	return Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
}

// newRig serves a configuration: options of the listener, rows of accounts, and more options.
func newRig(t *testing.T, api, accounts string, more ...string) *rig {
	t.Helper()
	r := &rig{Site: apitest.New(t, strings.Join(more, "\n")+apitest.YAML(accounts, api, "", "")), t: t}
	g := r.Gateway
	c := g.Table.Connector("api")
	dir := t.TempDir()
	var err error
	if c.PDULog, err = pdulog.NewDir(dir, pdulog.Options{Log: zerolog.Nop()}).Open("api"); err != nil {
		t.Fatal(err)
	}
	r.listener, err = Listen(roomsOf(g), c, nil, body.NewRoom(&g.Node.Memory), nil, func(l *Listener) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { serve(l.Begin(w, q)) })
	})
	if err != nil {
		t.Fatal(err)
	}
	r.listener.Serve()
	t.Cleanup(r.listener.Close)
	r.address = r.listener.Addresses()[0].String()
	r.lines = func() string {
		r.listener.Close()
		if err := c.PDULog.Close(); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "api.log"))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	return r
}

// serve answers a request: /ask asks, /submit submits as many messages as its body has lines, /stream lasts until it is cut.
func serve(x *Exchange) {
	defer x.End()
	ok := false
	if key, has := strings.CutPrefix(x.Request.Header.Get("Authorization"), "Bearer "); has {
		ok = x.LogInByKey(key)
	} else if name, password, _ := x.Request.BasicAuth(); name != "" {
		ok = x.LogIn(name, password)
	}
	switch {
	case !ok:
		x.AnswerAsk(&httpsms.Answer{Status: 401})
		return
	case x.Crowded:
		x.AnswerAsk(&httpsms.Answer{Status: 503, Body: []byte("crowded")})
		return
	case x.Request.URL.Path == "/unread":
		x.AnswerAsk(&httpsms.Answer{Status: 413, Body: []byte("too large")})
		return
	case x.Request.URL.Path == "/bad":
		x.AnswerAsk(&httpsms.Answer{Status: 400})
		return
	case x.Request.URL.Path == "/stream":
		over := make(chan struct{})
		s, may := x.BeginStream("test", func() bool { return true }, func() { close(over) })
		if !may {
			x.AnswerAsk(&httpsms.Answer{Status: 503})
			return
		}
		defer x.Connector.Streams.End(s)
		_, _ = x.Writer.Write([]byte("begun\n"))
		_ = http.NewResponseController(x.Writer).Flush()
		<-over
		if s.Reason() == streams.Stopping {
			_, _ = x.Writer.Write([]byte("stopping\n"))
		}
		return
	}
	b, err := x.ReadBody(most, x.Account.SystemID)
	if errors.Is(err, body.ErrLarge) {
		x.AnswerAsk(&httpsms.Answer{Status: 413})
		return
	} else if err != nil {
		x.AnswerAsk(&httpsms.Answer{Status: 400})
		return
	}
	a := &httpsms.Answer{
		Status: 202, ContentType: "text/plain", Header: [][2]string{{"X-kept", "as it is"}},
		Body: fmt.Appendf(nil, "%s %s %s", x.Account.SystemID, x.Conn.Remote.Addr(), b),
	}
	if x.Request.URL.Path != "/submit" {
		x.AnswerAsk(a)
		return
	}
	var lines []string
	if !x.Parse(func() { lines = strings.Split(string(b), "\n") }) {
		return
	}
	x.Answer(a)
	for i, line := range lines {
		o := httpsms.Order{From: "1234", To: "+46700000001", Text: []byte(line), Alphabet: sms.Default, Context: sms.Context{Reference: "r" + fmt.Sprint(i)}}
		status := 202
		if line == "bad" {
			status = 422
		}
		x.LogRequest(httpsms.Submit, &o, status, httpsms.Result{ID: uint64(i + 1)})
	}
}

// A peer is a connection of a client.
type peer struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

// dial connects from an address.
func (r *rig) dial(from string) *peer {
	r.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(testutil.Patience))
	return &peer{c, r.t, bufio.NewReader(c)}
}

func (p *peer) write(octets string) { _, _ = io.WriteString(p.Conn, octets) }

// shop is the header with which the account shop logs in; its password is "secret".
const shop = "Authorization: Basic c2hvcDpzZWNyZXQ=\r\n"

// ask writes a request, "METHOD /path", with further header lines and a body.
func (p *peer) ask(request, header, body string) {
	length := ""
	if body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	p.write(request + " HTTP/1.1\r\nHost: x\r\n" + header + length + "\r\n" + body)
}

// want reads an answer.
func (p *peer) want(status int, body string) *http.Response {
	p.t.Helper()
	return p.wantOf("GET", status, body)
}

func (p *peer) wantOf(method string, status int, body string) *http.Response {
	p.t.Helper()
	w, err := http.ReadResponse(p.in, &http.Request{Method: method})
	if err != nil {
		p.t.Errorf("%v, want %d", err, status)
		return &http.Response{Header: http.Header{}}
	}
	b, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != status || string(b) != body {
		p.t.Errorf("%d %q %v, want %d %q", w.StatusCode, b, err, status, body)
	}
	return w
}

// wantEnd reads the end of the connection, and nothing before it.
func (p *peer) wantEnd() {
	p.t.Helper()
	if b, err := io.ReadAll(p.in); len(b) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("it goes on: %q %v", b, err)
	}
}
