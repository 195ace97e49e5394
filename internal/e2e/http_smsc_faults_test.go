package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// What waits for an SMSC that cannot be reached goes to another target of its route after failover_after, and what
// comes later goes there immediately. No attempt is counted. When the smsc is back, it gets messages again.
func TestHTTPSMSCDown(t *testing.T) {
	parallel(t)
	other := newSMSC(t)
	address := testutil.FreeAddress(t)
	s := smscSite(t, "http://"+address, "preset: kannel, failover_after: 50ms")
	s.operator, s.out = other, ""
	s.more = strings.ReplaceAll(s.more, "name: operator", "name: smsc")
	s.routes = "{from: clients, to: [smsc, operator]}"
	g := start(t, s)
	smsc := other.session()
	g.online("operator", 1)
	client := g.bind("transmitter")
	for n := 1; n <= 5; n++ {
		client.submitOne(n)
	}
	smsc.serve(1, 5)
	g.settled()
	testutil.Eventually(t, "the log says why", func() bool { return g.log.count("refused the connection; next attempt in") > 0 })
	if n := g.log.count("message given up"); n != 0 {
		t.Errorf("%d messages were given up", n)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("another program has taken the port: ", err)
	}
	var calls atomic.Int32
	up := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(202)
		_, _ = w.Write([]byte("0: Accepted for delivery"))
	})}}
	up.Start()
	defer up.Close()
	g.online("smsc", 1)
	client.submitOne(6)
	testutil.Eventually(t, "the smsc is called", func() bool { return calls.Load() == 1 })
	g.settled()
}

// A message whose answer does not come is not sent again with on_unknown: fail; with resend it is, under the same id. One that
// the smsc refuses for a while is sent again.
func TestHTTPSMSCUnknown(t *testing.T) {
	parallel(t)
	for _, unknown := range []string{"fail", "resend"} {
		t.Run(unknown, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			ids := make(chan string, 10)
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ids <- r.URL.Query().Get("id")
				switch calls.Add(1) {
				case 1:
					<-r.Context().Done() // the gateway hangs up
				case 2:
					w.WriteHeader(503)
				}
			}))
			defer h.Close()
			s := smscSite(t, h.URL+"/?to={to}&text={text}&id={id}", "response_timeout: 200ms, retry: {lost: [1ms, repeat], temporary: [1ms, repeat]}, on_unknown: "+unknown)
			s.memory, s.store = false, vfs.NewMem()
			g := start(t, s)
			client := g.bind("transmitter")
			client.submitOne(1)
			first := <-ids
			if unknown == "fail" {
				g.settled()
				if n := calls.Load(); n != 1 {
					t.Errorf("%d calls", n)
				}
				return
			}
			for range 2 {
				if id := <-ids; id != first {
					t.Errorf("it comes again as %s, and was %s", id, first)
				}
			}
			g.settled()
			if n := g.log.count("message given up"); n != 0 {
				t.Errorf("%d messages were given up", n)
			}
		})
	}
}

// A reload changes how an SMSC is called, and removes it when it has been sent what waited; a restart sends what is in
// the store.
func TestHTTPSMSCReload(t *testing.T) {
	parallel(t)
	h, other := apitest.NewHook(t), apitest.NewHook(t)
	h.Answers(503, "", "")
	s := smscSite(t, h.URL+"/?to={to}&text={text}", "retry: {temporary: [10ms, repeat], lost: [10ms, repeat]}")
	s.memory, s.store = false, vfs.NewMem()
	g := start(t, s)
	client := g.bind("transmitter")
	for n := 1; n <= 3; n++ {
		client.submitOne(n)
	}
	testutil.Eventually(t, "the smsc is called", func() bool { return len(h.Calls("/")) > 3 })
	client.conn.Close()
	g.stop()

	g = start(t, s)
	testutil.Eventually(t, "the smsc is called again", func() bool { return len(h.Calls("/?to=46700000001&text=3")) > 1 })
	before := s.more
	s.more = strings.Replace(s.more, h.URL, other.URL, 1)
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		testutil.Eventually(t, "the other is called", func() bool { return len(other.Calls(fmt.Sprintf("/?to=46700000001&text=%d", n))) == 1 })
	}
	g.settled()
	other.AnswersAfresh(503)
	client = g.bind("transmitter")
	client.submitOne(4)
	testutil.Eventually(t, "the other is called once more", func() bool { return len(other.Calls("/?to=46700000001&text=4")) > 0 })
	removed := s
	removed.more, _, _ = strings.Cut(before, "\n")
	removed.routes = "{from: clients, to: {account: acme}}"
	if err := g.reload(removed); err != nil {
		t.Fatal(err)
	}
	other.AnswersAfresh(200)
	testutil.Eventually(t, "it is sent all the same", func() bool { return len(other.Calls("/?to=46700000001&text=4")) == 1 })
	g.settled()
}

// Callbacks that are not the smsc's, or say nothing that can be read, are refused, each with its own status. What they
// bring for nobody is kept or refused as from any SMSC.
func TestHTTPSMSCCallbacks(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := smscSite(t, h.URL, "preset: kannel")
	g := start(t, s)
	g.online("operator", 1)
	base := "http://" + g.addr("callbacks") + "/from/"
	f := func(path string, want int, words string) {
		t.Helper()
		if status, said := callBack(t, "GET", base+path, "", ""); status != want || !strings.Contains(said, words) {
			t.Errorf("%s: %d %q, want %d", path, status, said, want)
		}
	}
	const token = "?token=0123456789&"
	f("nobody/receipts"+token+"message=1&state=1", 404, "no such connector")
	f("clients/receipts"+token+"message=1&state=1", 404, "no such connector")
	f("operator/other"+token, 404, "")
	f("operator/receipts?message=1&state=1", 403, "secret")
	f("operator/receipts"+token+"message=1", 400, "state")
	f("operator/inbound"+token+"from=1", 400, "to")
	f("operator/inbound"+token+"from=467&to=&text=a", 422, "bad_destination")
	f("operator/receipts"+token+"message=1&state=1", 200, "") // an orphan
	testutil.Eventually(t, "the orphan is kept", func() bool { return g.Receipts.Counts.Unmatched.Load() == 1 })
	if status, _ := callBack(t, "POST", base+"operator/receipts"+token, "application/json", strings.Repeat(" ", 1<<20+1)); status != 413 {
		t.Errorf("a body of more than 1 MiB: %d", status)
	}
}

// A long text leaves in parts. Their receipts come before the answers to their requests, over many connections; the
// client gets one, after all of them.
func TestHTTPSMSCLong(t *testing.T) {
	parallel(t)
	var parts atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		u := strings.Replace(q.Get("dlr-url"), "%d", "1", 1)
		if status, said := callBack(t, "GET", u, "", ""); status != 200 {
			t.Errorf("%d %s", status, said)
		}
		if len(q.Get("udh")) != 6 || len(q.Get("text")) > 153 {
			t.Errorf("udh %q, %d characters", q.Get("udh"), len(q.Get("text")))
		}
		parts.Add(1)
		w.WriteHeader(202)
		_, _ = w.Write([]byte("0: Accepted for delivery"))
	}))
	defer h.Close()
	for _, durable := range []bool{false, true} {
		s := smscSite(t, h.URL, "preset: kannel")
		if durable {
			s.memory, s.store = false, vfs.NewMem()
		}
		g := start(t, s)
		client := g.bind("transceiver")
		parts.Store(0)
		text := strings.Repeat("a long text ", 30)
		for n := 1; n <= 3; n++ {
			client.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 registered_delivery=1 message_payload=%q`, n, text))
		}
		var ids, receipts []string
		for len(receipts) < 3 {
			line, err := client.next()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(line, "submit_sm_resp "):
				ids = append(ids, field(line, "message_id"))
			case strings.HasPrefix(line, "deliver_sm "):
				if !strings.Contains(line, "stat:DELIVRD") {
					t.Error(line)
				}
				receipts = append(receipts, line)
				client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
			}
		}
		for _, id := range ids {
			n := 0
			for _, r := range receipts {
				if strings.Contains(r, strings.Trim(id, `"`)) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d receipts for %s: %q", n, id, receipts)
			}
		}
		g.settled()
		if n := parts.Load(); n != 9 || !client.silent("deliver_sm") {
			t.Errorf("%d parts were sent, or a receipt came twice", n)
		}
		client.conn.Close()
		g.stop()
	}
}
