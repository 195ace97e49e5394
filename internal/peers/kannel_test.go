package peers

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"pmg/internal/testkit/testutil"
)

// kannelConfig makes Kannel a client of the gateway. It sends what is asked for by HTTP, and
// calls the test for what comes.
const kannelConfig = `group = core
admin-port = %[1]s
admin-interface = 127.0.0.1
admin-password = s3cret
smsbox-port = %[2]s
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal
sms-resend-freq = 1

group = smpp-tlv
name = vendor
tag = 0x1400
type = integer
length = 2

group = smsc
smsc-id = pmg
host = 127.0.0.1
smsc-username = acme
reconnect-delay = 1
%[3]s

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = %[4]s
sendsms-interface = 127.0.0.1
global-sender = 1234

group = sendsms-user
username = acme
password = s3cret
concatenation = true
max-messages = 10

group = sms-service
keyword = default
get-url = "%[5]s/mo?from=%%p&to=%%P&text=%%b&coding=%%c&udh=%%u"
max-messages = 0
`

// A kannel is Kannel's bearerbox and smsbox behind the interface of libraries.
type kannel struct {
	b       *clientBench
	login   string // what it was started with
	boxes   []*exec.Cmd
	seen    *httptest.Server
	sendsms string // URL
	out     chan event
	log     *testutil.Log

	mu   sync.Mutex
	open map[int]bool // submits whose answers have not come
}

// noKannel reports what is missing.
func noKannel() string {
	for _, box := range []string{"bearerbox", "smsbox"} {
		if _, err := exec.LookPath(box); err != nil {
			return "Kannel is not installed: apt-get install kannel"
		}
	}
	return ""
}

// kannelOf returns the Kannel of a bench, which runs from one scenario to the next.
func kannelOf(b *clientBench) library {
	if b.kannel == nil {
		b.kannel = &kannel{b: b, out: make(chan event, 10_000), log: &testutil.Log{}, open: map[int]bool{}}
		b.outer.Cleanup(b.kannel.stop)
	}
	for len(b.kannel.out) > 0 { // of an earlier scenario
		<-b.kannel.out
	}
	return b.kannel
}

func (k *kannel) events() <-chan event { return k.out }
func (k *kannel) close()               {}

func (k *kannel) post(r request) {
	switch r.Do {
	case "bind":
		go k.bind(r)
	case "submit":
		go k.submit(r)
	case "unbind":
		k.stop()
		k.out <- event{Event: "done", N: r.N}
	default:
		k.out <- event{Event: "done", N: r.N, Error: "Kannel has none"}
	}
}

// smsc returns the lines of Kannel's configuration about its connection.
func (k *kannel) smsc(r request) string {
	_, port, _ := net.SplitHostPort(k.b.gateway.clients)
	if k.b.row.protocol == "ucp" {
		return fmt.Sprintf("smsc = emi\nport = %s\nsmsc-password = %s\nflow-control = 0\nwindow = 10\nkeepalive = 30", port, r.Password)
	}
	mode := map[string]string{"transceiver": "transceiver-mode = true\nport = ", "transmitter": "port = ", "receiver": "port = 0\nreceive-port = "}[r.Kind]
	return fmt.Sprintf("smsc = smpp\n%s%s\nsmsc-password = %s\nsystem-type = \"\"\ninterface-version = %x\nmax-pending-submits = 10", mode, port, r.Password, r.Version)
}

// bind starts Kannel, unless one with that login runs.
func (k *kannel) bind(r request) {
	login := fmt.Sprint(r.Kind, r.Version, r.Password)
	if len(k.boxes) > 0 && k.login == login {
		k.out <- event{Event: "done", N: r.N}
		return
	}
	k.stop()
	k.login = login
	logins, refusals := k.gatewayLogged("client logged in"), k.gatewayLogged("login refused")
	for range 5 { // another program may take a port meanwhile
		if k.start(k.smsc(r)) {
			break
		}
		k.stop()
	}
	for range int(patience / (10 * time.Millisecond)) {
		if k.gatewayLogged("client logged in") > logins {
			k.out <- event{Event: "done", N: r.N}
			return
		}
		if k.gatewayLogged("login refused") > refusals {
			k.stop()
			k.out <- event{Event: "done", N: r.N, Status: 13}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (k *kannel) gatewayLogged(words string) int {
	return strings.Count(k.b.gateway.log.String(), words)
}

// start runs Kannel, and reports whether its boxes have found each other.
func (k *kannel) start(smsc string) bool {
	t := k.b.outer
	var ports [3]string
	for i := range ports {
		_, ports[i], _ = net.SplitHostPort(testutil.FreeAddress(t))
	}
	k.log = &testutil.Log{}
	k.seen = httptest.NewServer(http.HandlerFunc(k.called))
	file := filepath.Join(k.b.gateway.dir, "kannel.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, kannelConfig, ports[0], ports[1], smsc, ports[2], k.seen.URL), 0o600); err != nil {
		k.log.Write([]byte(err.Error()))
		return false
	}
	k.sendsms = "http://127.0.0.1:" + ports[2] + "/cgi-bin/sendsms"
	return k.run("bearerbox", file, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+ports[1])
		if err == nil {
			conn.Close()
		}
		return err == nil
	}) && k.run("smsbox", file, func() bool { return strings.Contains(k.log.String(), "heartbeat_thread) maps to pid") })
}

// run starts one of Kannel's programs, and reports whether it was ready.
func (k *kannel) run(box, file string, ready func() bool) bool {
	cmd := exec.Command(box, file)
	cmd.Stdout, cmd.Stderr = k.log, k.log
	if cmd.Start() != nil {
		return false
	}
	k.boxes = append(k.boxes, cmd)
	for range int(patience / (10 * time.Millisecond)) {
		if strings.Contains(k.log.String(), "PANIC") {
			return false
		}
		if ready() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// stop ends Kannel, which logs out before.
func (k *kannel) stop() {
	for i := len(k.boxes) - 1; i >= 0; i-- {
		cmd := k.boxes[i]
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	k.boxes = nil
	if k.seen != nil {
		k.seen.Close()
		k.seen = nil
	}
}

// submit sends a message by Kannel. Its id comes with the call that says that the gateway has
// accepted it.
func (k *kannel) submit(r request) {
	q := url.Values{"username": {"acme"}, "password": {"s3cret"}, "from": {r.From}, "to": {r.To}, "text": {r.Text}, "charset": {"UTF-8"}}
	q.Set("dlr-mask", "63")
	q.Set("dlr-url", fmt.Sprintf("%s/dlr?n=%d&state=%%d&id=%%F", k.seen.URL, r.N))
	switch {
	case r.Coding == 8:
		q.Set("coding", "2")
	case r.Coding == 4:
		q.Set("coding", "1")
		q.Del("charset")
	case r.Coding == 0xF0:
		q.Set("mclass", "0")
	}
	if r.Octets != "" {
		b, _ := hex.DecodeString(r.Octets)
		q.Set("text", string(b))
	}
	if r.UDH != "" {
		b, _ := hex.DecodeString(r.UDH)
		q.Set("udh", string(b))
	}
	if r.Validity != "" {
		q.Set("validity", "1440")
	}
	if r.TLVs != nil {
		q.Set("meta-data", "?smpp?vendor=258")
	}
	k.mu.Lock()
	k.open[r.N] = true
	k.mu.Unlock()
	answer, err := http.Get(k.sendsms + "?" + q.Encode())
	if err == nil {
		said, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusAccepted {
			return
		}
		err = fmt.Errorf("%s: %s", answer.Status, said)
	}
	k.out <- event{Event: "done", N: r.N, Error: err.Error()}
}

// The states that Kannel calls with.
const (
	kannelDelivered = 1
	kannelFailed    = 2
	kannelAccepted  = 8
	kannelRefused   = 16
	kannelExpired   = 34
)

// called takes a call of Kannel.
func (k *kannel) called(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path == "/mo" {
		m := message{From: strings.TrimPrefix(q.Get("from"), "+"), To: q.Get("to"), Text: q.Get("text"), UDH: q.Get("udh")}
		if q.Get("coding") == "2" {
			m.Text = ucs2(m.Text)
		}
		k.out <- event{Event: "deliver", message: m}
		return
	}
	n, _ := strconv.Atoi(q.Get("n"))
	state, _ := strconv.Atoi(q.Get("state"))
	k.mu.Lock()
	first := k.open[n]
	delete(k.open, n)
	k.mu.Unlock()
	if first {
		e := event{Event: "done", N: n, ID: q.Get("id")}
		if state == kannelRefused {
			e.Status = 1
		}
		k.out <- e
	}
	if word := map[int]string{kannelDelivered: "DELIVRD", kannelFailed: "UNDELIV", kannelExpired: "EXPIRED"}[state]; word != "" {
		k.out <- event{Event: "deliver", message: message{Class: 4, Text: fmt.Sprintf("id:%s sub: stat:%s", q.Get("id"), word)}}
	}
}
