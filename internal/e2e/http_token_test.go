package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A guarded is an SMSC that takes what shows a token that its authorization server has given, and the server.
type guarded struct {
	*httptest.Server
	mu      sync.Mutex
	down    bool // the authorization server gives nothing
	life    int  // of tokens, in seconds
	asks    int
	valid   string   // token
	taken   []string // texts
	refused int
}

func newGuarded(t *testing.T) *guarded {
	c := &guarded{life: 3600}
	m := http.NewServeMux()
	m.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		id, secret, _ := r.BasicAuth()
		if c.down || id != "pmg" || secret != "s3cret" || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "sms" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		c.asks++
		c.valid = fmt.Sprintf("hidden-%d", c.asks)
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "bearer", "expires_in": %d}`, c.valid, c.life)
	})
	m.HandleFunc("GET /sms", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+c.valid {
			c.refused++
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "you have sent %s", r.Header.Get("Authorization"))
			return
		}
		c.taken = append(c.taken, r.URL.Query().Get("text"))
	})
	c.Server = httptest.NewServer(m)
	t.Cleanup(c.Close)
	return c
}

// site returns a site whose operator it is.
func (c *guarded) site(t *testing.T, options string) site {
	s := smscSite(t, c.URL+"/sms?to={to}&text={text}", options)
	s.more = strings.Replace(s.more, "system_id: pmg, password: s3cret", fmt.Sprintf(
		"request: {login: oauth2, token: {url: %q, client_id: pmg, client_secret: s3cret, scope: sms}}", c.URL+"/token"), 1)
	return s
}

// has reports how many messages it has, how many requests it has refused, and how many tokens were asked for.
func (c *guarded) has() (taken, refused, asks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.taken), c.refused, c.asks
}

func (c *guarded) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// keepsTokens checks that no log has a token.
func (g *gw) keepsTokens() {
	g.t.Helper()
	all := g.log.String()
	files, _ := filepath.Glob(filepath.Join(g.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all += string(text)
	}
	if i := strings.Index(all, "hidden-"); i >= 0 {
		g.t.Errorf("a log has a token: %s", all[max(0, i-100):i+10])
	}
}

// Messages show a token that is asked for once, also by many that come together. One that the SMSC refuses is
// replaced, and the message sent again with the new one; one that is refused again is sent later, as after any refusal
// for a while.
func TestHTTPToken(t *testing.T) {
	parallel(t)
	c := newGuarded(t)
	g := start(t, c.site(t, "window: 20, retry: {temporary: [10ms, repeat]}"))
	g.online("operator", 1)
	client := g.bind("transmitter")
	client.submit(1, 50)
	client.accepted(1, 50)
	g.settled()
	if taken, refused, asks := c.has(); taken != 50 || refused != 0 || asks != 1 {
		t.Errorf("%d messages, %d refused, %d tokens", taken, refused, asks)
	}
	c.set(func() { c.valid = "another" })
	client.submitOne(51)
	g.settled()
	if taken, refused, asks := c.has(); taken != 51 || refused != 1 || asks != 2 {
		t.Errorf("%d messages, %d refused, %d tokens", taken, refused, asks)
	}
	g.wantLog("operator", "< http_submit_resp", "status=401", `answer="you have sent Bearer ***"`)

	c.set(func() { c.valid = "another" }) // it was replaced only now
	client.submitOne(52)
	testutil.Eventually(t, "the message is refused", func() bool { _, refused, _ := c.has(); return refused > 2 })
	c.set(func() { c.valid = fmt.Sprintf("hidden-%d", c.asks) })
	g.settled()
	if taken, _, _ := c.has(); taken != 52 {
		t.Errorf("%d messages", taken)
	}
	if n := g.log.count("message given up"); n != 0 {
		t.Errorf("%d messages were given up", n)
	}
	client.conn.Close()
	g.stop()
	g.keepsTokens()
}

// A token that ends soon is replaced before a message shows it.
func TestHTTPTokenEnds(t *testing.T) {
	parallel(t)
	c := newGuarded(t)
	c.life = 1
	g := start(t, c.site(t, ""))
	client := g.bind("transmitter")
	n := 0
	testutil.Eventually(t, "a second token is asked for", func() bool {
		n++
		client.submitOne(n)
		_, _, asks := c.has()
		return asks > 1
	})
	g.settled()
	if taken, _, _ := c.has(); taken != n {
		t.Errorf("%d of %d messages", taken, n)
	}
}

// While the authorization server gives no token, nothing is sent and nothing is lost, although no message may be sent
// twice: before the first message, and when a token was refused.
func TestHTTPTokenDown(t *testing.T) {
	parallel(t)
	c := newGuarded(t)
	c.down = true
	g := start(t, c.site(t, "on_unknown: fail, retry: {temporary: [], lost: []}"))
	client := g.bind("transmitter")
	client.submitOne(1)
	testutil.Eventually(t, "the log says why", func() bool {
		return g.log.count(`"connector":"operator"`, strings.TrimPrefix(c.URL, "http://")+" answered 503 to the request for a token; next attempt in") > 0
	})
	if taken, refused, _ := c.has(); taken+refused != 0 {
		t.Errorf("%d messages, %d refused", taken, refused)
	}
	c.set(func() { c.down = false })
	g.settled()
	c.set(func() { c.down, c.valid = true, "another" })
	before := g.stats("operator").Failing.Load()
	client.submitOne(2)
	testutil.Eventually(t, "there is no token", func() bool { return g.stats("operator").Failing.Load() > before })
	c.set(func() { c.down = false })
	g.settled()
	if taken, refused, asks := c.has(); taken != 2 || refused != 1 || asks != 2 {
		t.Errorf("%d messages, %d refused, %d tokens", taken, refused, asks)
	}
	if n := g.log.count("message given up"); n != 0 {
		t.Errorf("%d messages were given up", n)
	}
	client.conn.Close()
	g.stop()
	g.keepsTokens()
}
