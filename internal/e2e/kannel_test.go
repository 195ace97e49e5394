package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// kannelConfig makes Kannel a client of the gateway. It sends what is asked for by HTTP, and
// calls the test for what comes.
const kannelConfig = `group = core
admin-port = %[1]s
admin-interface = 127.0.0.1
admin-password = s3cret
status-password = look
smsbox-port = %[2]s
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal
sms-resend-freq = 1

group = smsc
smsc = %[3]s
smsc-id = pmg
host = 127.0.0.1
port = %[4]s
smsc-username = %[8]s
smsc-password = s3cret
reconnect-delay = 1
%[5]s

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = %[6]s
sendsms-interface = 127.0.0.1
global-sender = 1234

group = sendsms-user
username = acme
password = s3cret

group = sms-service
keyword = default
get-url = "%[7]s/mo?from=%%p&to=%%P&text=%%b"
max-messages = 0
`

// A kannel is Kannel's bearerbox and smsbox, and what they have called the test for.
type kannel struct {
	t       *testing.T
	sendsms string // URL
	admin   string // URL of bearerbox
	seen    *httptest.Server
	ports   []string // with HTTP: where it may listen for calls

	mu    sync.Mutex
	calls []string // path?query of each call
}

// startKannel runs Kannel as a client of an address until the end of the test, or skips the
// test. options are further lines about its connection, ports where it may listen as $PORT of them.
func startKannel(t *testing.T, to, protocol, options string, ports ...string) *kannel {
	t.Helper()
	for _, box := range []string{"bearerbox", "smsbox"} {
		if _, err := exec.LookPath(box); err != nil {
			t.Skip("Kannel is not installed: apt-get install kannel")
		}
	}
	k := &kannel{t: t, ports: ports}
	k.seen = httptest.NewServer(http.HandlerFunc(k.called))
	t.Cleanup(k.seen.Close)
	for attempt := 1; !k.start(to, protocol, options); attempt++ {
		if attempt == 5 {
			t.Fatal("Kannel finds its ports taken, again and again")
		}
	}
	return k
}

// start runs Kannel on free ports. It reports false if another program has taken one meanwhile.
func (k *kannel) start(to, protocol, options string) bool {
	t := k.t
	t.Helper()
	var ports [3]string
	for i := range ports {
		_, ports[i], _ = net.SplitHostPort(testutil.FreeAddress(t))
	}
	_, port, _ := net.SplitHostPort(to)
	account := "acme"
	if len(k.ports) > 0 { // it is called
		port, k.ports, account = k.ports[0], k.ports[1:], "kannel"
		options = strings.ReplaceAll(options, "$PORT", port)
	}
	file := filepath.Join(t.TempDir(), "kannel.conf")
	text := fmt.Sprintf(kannelConfig, ports[0], ports[1], protocol, port, options, ports[2], k.seen.URL, account)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bearerbox, stop := k.run("bearerbox", file)
	failed := func(log *logBuffer) bool { return log.count("PANIC") > 0 }
	testutil.Eventually(t, "Kannel listens", func() bool { return failed(bearerbox) || isOpen(ports[1]) })
	if failed(bearerbox) {
		stop()
		return false
	}
	smsbox, stopSMSBox := k.run("smsbox", file)
	testutil.Eventually(t, "Kannel's boxes are connected", func() bool {
		return failed(smsbox) || smsbox.count("heartbeat_thread", "maps to pid") > 0 // a message that comes earlier makes smsbox fail
	})
	if failed(smsbox) {
		stopSMSBox()
		stop()
		return false
	}
	k.admin = "http://127.0.0.1:" + ports[0]
	k.sendsms = "http://127.0.0.1:" + ports[2] + "/cgi-bin/sendsms"
	return true
}

// run starts one of Kannel's programs, and returns its log and what ends it.
func (k *kannel) run(box, file string) (log *logBuffer, stop func()) {
	k.t.Helper()
	out := new(logBuffer)
	cmd := exec.Command(box, file)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	k.t.Cleanup(func() {
		stop()
		if k.t.Failed() {
			k.t.Logf("the end of the log of %s:\n%s", box, out.tail(40))
		}
	})
	return out, stop
}

// isOpen reports whether there is somebody at a port.
func isOpen(port string) bool {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func (k *kannel) called(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, r.URL.String())
}

// saw returns the sorted calls for a path.
func (k *kannel) saw(path string) (queries []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.calls {
		if q, ok := strings.CutPrefix(c, path+"?"); ok {
			queries = append(queries, q)
		}
	}
	slices.Sort(queries)
	return queries
}

// send sends a message by Kannel, with further parameters in pairs.
func (k *kannel) send(text string, more ...string) {
	k.t.Helper()
	q := url.Values{"username": {"acme"}, "password": {"s3cret"}, "to": {"46700000001"}, "text": {text}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	answer, err := http.Get(k.sendsms + "?" + q.Encode())
	if err != nil {
		k.t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusAccepted {
		k.t.Fatalf("%d %v: %s", answer.StatusCode, err, said)
	}
}

// A kannelWay is a way in which Kannel is a client.
type kannelWay struct {
	smsc    string // its name of the protocol
	options string // of its connection
	clients string // options of the gateway's connector
	mobile  string // what it writes before an international number
	expired int    // the state in which it calls for a message that has expired
}

func kannelWays() []kannelWay {
	return []kannelWay{
		{"smpp", "transceiver-mode = true\nsystem-type = \"\"\ninterface-version = 34\nmax-pending-submits = 10", "", "%2B", dlrFailed | dlrExpired},
		{"emi", "flow-control = 0\nwindow = 10\nkeepalive = 30", "protocol: ucp, window: 10", "", dlrFailed},
	}
}

// Kannel logs in, its messages reach the SMSC, and what mobiles send reaches Kannel.
func TestKannel(t *testing.T) {
	parallel(t)
	for _, way := range kannelWays() {
		t.Run(way.smsc, func(t *testing.T) {
			t.Parallel()
			const messages = 50
			operator := newSMSC(t)
			g := start(t, site{operator: operator, clients: way.clients, routes: "{from: operator, to: clients}\n{to: operator}"})
			smsc := operator.session()
			k := startKannel(t, g.addr("clients"), way.smsc, way.options)
			for n := range messages {
				k.send(fmt.Sprintf("hello %02d @{€}", n), "charset", "UTF-8", "coding", "0")
			}
			var got []string
			for range messages {
				line := smsc.want("submit_sm", "source_addr=1234")
				_, text, _ := strings.Cut(line, " short_message=")
				got = append(got, text)
				smsc.answer(0, field(line, "seq"))
			}
			slices.Sort(got)
			for n, text := range got {
				if want := fmt.Sprintf(`"hello %02d \x00\x1b(\x1be\x1b)"`, n); text != want {
					t.Errorf("got %s, want %s", text, want)
				}
			}
			smsc.send(`deliver_sm seq=7 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="\x00 home"`)
			smsc.want("deliver_sm_resp", "seq=7", "status=0")
			testutil.Eventually(t, "Kannel has the answer of the mobile", func() bool { return len(k.saw("/mo")) == 1 })
			if got, want := k.saw("/mo")[0], "from="+way.mobile+"46700000001&to=1234&text=%40+home"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// The states in which Kannel calls a dlr-url.
const (
	dlrDelivered = 1 << iota
	dlrFailed
	dlrBuffered
	dlrAccepted
	dlrRefused
	dlrExpired
	dlrAll = dlrDelivered | dlrFailed | dlrBuffered | dlrAccepted | dlrRefused
)

// fates returns the states that message n of TestKannelReceipts comes to, in order, and the
// words of the SMSC's receipts for them.
func fates(n, expired int) (states []int, words []string) {
	if n%50 == 49 {
		return []int{dlrRefused}, nil // no route leads to its recipient
	}
	states = []int{dlrAccepted}
	if n%7 == 0 {
		states, words = append(states, dlrBuffered), append(words, "ENROUTE")
	}
	switch n % 5 {
	case 0:
		return append(states, dlrFailed), append(words, "UNDELIV")
	case 1:
		return append(states, expired), append(words, "EXPIRED")
	case 2:
		return append(states, dlrFailed), append(words, "REJECTD")
	}
	return append(states, dlrDelivered), append(words, "DELIVRD")
}

// serveReceipts accepts messages and sends the receipts that fates says, until the session ends.
func (p *peer) serveReceipts() {
	for seq := 1; ; {
		line, err := p.next()
		if err != nil {
			return
		}
		if !strings.HasPrefix(line, "submit_sm ") {
			continue
		}
		n, err := strconv.Atoi(strings.Trim(field(line, "short_message"), `"`))
		if err != nil || field(line, "registered_delivery") != "17" {
			p.t.Errorf("got %s", line)
		}
		answer := []string{fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A%d", field(line, "seq"), n)}
		_, words := fates(n, 0)
		for i, w := range words {
			class := 4
			if i < len(words)-1 {
				class = 32
			}
			answer = append(answer, fmt.Sprintf(`deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=%s destination_addr=1234 esm_class=%d `+
				`short_message="id:A%d sub:001 dlvrd:001 submit date:2611201159 done date:2611201200 stat:%s err:000 text:"`, seq, field(line, "destination_addr"), class, n, w))
			seq++
		}
		p.write(wire(p.t, answer...))
	}
}

// Each dlr-url of Kannel is called for each state of its message, once, over SMPP and over
// UCP.
func TestKannelReceipts(t *testing.T) {
	parallel(t)
	for _, way := range kannelWays() {
		t.Run(way.smsc, func(t *testing.T) {
			t.Parallel()
			const messages = 150 // each combination of fates four times; Kannel takes 7 ms for each
			operator := newSMSC(t)
			g := start(t, site{operator: operator, memory: true, clients: way.clients, routes: "{destination: [467], to: operator}"})
			smsc := operator.session()
			go smsc.serveReceipts()
			k := startKannel(t, g.addr("clients"), way.smsc, way.options)
			var want []string
			for n := range messages {
				to := fmt.Sprintf("467%08d", n)
				states, _ := fates(n, way.expired)
				if states[0] == dlrRefused {
					to = fmt.Sprintf("468%08d", n)
				}
				for _, s := range states {
					want = append(want, fmt.Sprintf("n=%03d&state=%d", n, s))
				}
				k.send(fmt.Sprint(n), "to", to, "dlr-mask", fmt.Sprint(dlrAll), "dlr-url", fmt.Sprintf("%s/dlr?n=%03d&state=%%d", k.seen.URL, n))
			}
			slices.Sort(want)
			defer func() {
				if got := k.saw("/dlr"); !slices.Equal(got, want) {
					t.Errorf("%d calls, want %d:\n%s", len(got), len(want), difference(got, want))
				}
			}()
			testutil.Eventually(t, "each state is reported", func() bool { return len(k.saw("/dlr")) >= len(want) })
		})
	}
}

// difference returns the lines that one of two sorted lists has.
func difference(got, want []string) string {
	var b strings.Builder
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintf(&b, "too much: %s\n", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintf(&b, "missing: %s\n", line)
		}
	}
	return b.String()
}
