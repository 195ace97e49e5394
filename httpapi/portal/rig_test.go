package portal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/bcrypt"

	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/connector"
	"pmg/gateway/mail"
	"pmg/gateway/operate"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	v1 "pmg/httpapi/v1"
	"pmg/httpapi/webhook"
	"pmg/pdulog"
)

const password = "correct horse"

// hash is that of password, and quick to compare.
var hash = sync.OnceValue(func() string {
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		panic(err)
	}
	return string(h)
})

// A rig is a gateway with pages for customers beside the API, and a record of what users do.
type rig struct {
	*apitest.Site
	t       *testing.T
	base    string
	yaml    string
	dir     string // of managed files
	records records
	clock   atomic.Int64 // seconds by which codes are ahead of the time
	site    *Site
	letters letters
	mail    *mail.Sender
	lines   func() string // ends the listener, and returns its pdu log
}

// users are one of each scope, with the name of the scope.
func users() string {
	var rows []string
	for _, scope := range []string{config.LookScope, config.SendScope, config.ManageScope} {
		rows = append(rows, fmt.Sprintf("{name: %s, password: %q, scope: %s}", scope, hash(), scope))
	}
	return "users: [" + strings.Join(rows, ", ") + "]"
}

// accounts are shop and rival, with users of the same names and passwords, and bare, which has none. more are options of shop.
func accounts(more string) string {
	return fmt.Sprintf(`{system_id: shop, password: secret, %s%s}, {system_id: rival, password: secret, %s}, {system_id: bare, password: secret}`,
		users(), more, users())
}

// newRig serves accounts, options of the listener and of connector operator, and further options.
func newRig(t *testing.T, accounts, api, operator string, more ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, dir: filepath.Join(dir, "managed")}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	routes := ""
	if strings.Contains(accounts, "inbox: ") {
		routes = "{from: operator, to: {account: shop}}, {to: operator}"
	}
	r.yaml = strings.Join(more, "\n") + "\nmanaged: {dir: " + r.dir + "}\n" + apitest.YAML(accounts, "portal: true, "+api, operator, routes)
	r.Site = apitest.New(t, r.yaml)
	g := r.Gateway
	var listener *server.Listener
	c := g.Table.Connector("api")
	var err error
	if c.PDULog, err = pdulog.NewDir(dir, pdulog.Options{Log: zerolog.Nop()}).Open("api"); err != nil {
		t.Fatal(err)
	}
	events := webhook.NewEvents(webhook.Rooms{Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert}, func(*connector.Connector) *server.Log {
		return listener.Log
	})
	api1 := v1.New(v1.Rooms{Node: g.Node, Routes: g.Table, Logins: g.Logins, Submitter: g.Requests, Operations: g.Operate},
		v1.NewPulls(r.Site, g.Node.Clock.Now, t.Context().Done()), events)
	one := editor.Editor{
		Dir: managed.Open(r.dir, nil), Running: g.Node.Config,
		Load: func(instead map[string][]byte) (*config.Config, error) {
			c, _, err := config.Parse([]byte("pdulog: {enabled: false}\n"+r.yaml), config.Options{Instead: instead})
			return c, err
		},
		Apply: func(c *config.Config, _ string) error { r.Apply(c); return nil },
	}
	r.mail = mail.New(g.Node)
	r.goOn(r.mail.Run)
	p := New(Rooms{
		Node: g.Node, Table: g.Table, Money: g.Intake.Credit, Webhooks: g.Webhooks, Messages: api1, Inbox: g.Inbox, Lists: g.Lists, Networks: g.Intake.Networks, Go: r.goOn, Dead: &r.letters, Queue: &r.letters, Audit: &r.records, Mail: r.mail,
		Edit: func(_ context.Context, q editor.Request) (editor.Result, error) { return one.Do(q) },
	})
	p.codes.now = func() time.Time { return time.Now().Add(time.Duration(r.clock.Load()) * time.Second) }
	p.links.now, p.links.asked.now = p.codes.now, p.codes.now
	l, err := server.Listen(server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler},
		c, nil, body.NewRoom(&g.Node.Memory), nil, func(l *server.Listener) http.Handler {
			m := http.NewServeMux()
			api1.Routes(l, m)
			s := p.Site(l)
			r.site = s
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if s.Serves(q) {
					s.ServeHTTP(w, q)
				} else {
					m.ServeHTTP(w, q)
				}
			})
		})
	if err != nil {
		t.Fatal(err)
	}
	listener = l
	r.lines = func() string {
		l.Close()
		if err := c.PDULog.Close(); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "api.log"))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	l.Serve()
	t.Cleanup(l.Close)
	r.base = "http://" + l.Addresses()[0].String()
	return r
}

// records are what was written to the audit log.
type records struct {
	mu    sync.Mutex
	lines []string
}

// letters are dead letters of accounts, and those that were queued again.
type letters struct {
	of     map[string][]uint64 // set before the first request
	queued []operate.Selection
}

// Of implements Dead.
func (l *letters) Of(account string, limit int) []uint64 { return l.of[account] }

// ChangeStored implements Queue.
func (l *letters) ChangeStored(
	_ context.Context, c operate.QueueChange, s operate.Selection, from uint64, limit int,
) (operate.QueuePage, error) {
	if c.What != operate.RetryMessages || s.State != operate.StateDead || from != 0 || limit != len(s.IDs) {
		return operate.QueuePage{}, errors.New("not a replay")
	}
	l.queued = append(l.queued, s)
	return operate.QueuePage{Messages: make([]operate.StoredMessage, len(s.IDs))}, nil
}

// goOn runs what outlasts its request, until the end of the test.
func (r *rig) goOn(do func(context.Context)) {
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { defer close(done); do(ctx) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// Record implements Audit.
func (r *records) Record(who, from, act string, parameters map[string]string, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	host, _, _ := net.SplitHostPort(from)
	r.lines = append(r.lines, fmt.Sprintf("%s %s %s %v: %s", who, host, act, parameters, result))
}

// has reports whether a line was written.
func (r *records) has(line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(strings.Join(r.lines, "\n")+"\n", line)
}

// A person has a browser with cookies.
type person struct {
	*rig
	client *http.Client
}

// A reply is an answer to a person.
type reply struct {
	code   int
	body   string
	header http.Header
}

// stranger returns one that has not logged in, from an address of its own: failed logins make an address wait.
func (r *rig) stranger(from string) *person {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.t.Cleanup(c.CloseIdleConnections)
	return &person{r, c}
}

// user returns a user who has logged in.
func (r *rig) user(account, name string) *person {
	r.t.Helper()
	b := r.stranger("127.0.0.1")
	if w := b.post("login", "account", account, "name", name, "password", password); w.code != 303 || w.header.Get("Location") != Base {
		r.t.Fatalf("%s of %s cannot log in: %+v", name, account, w)
	}
	return b
}

func (b *person) do(method, path string, form url.Values, headers ...string) reply {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+Base+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.done(r)
}

// done sends a request, and returns its answer.
func (b *person) done(r *http.Request) reply {
	b.t.Helper()
	w, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{w.StatusCode, string(text), w.Header}
}

func (b *person) get(path string, headers ...string) reply {
	b.t.Helper()
	return b.do("GET", path, nil, headers...)
}

// post sends a form of names and values.
func (b *person) post(path string, fields ...string) reply {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.do("POST", path, form)
}

// has checks that a page has texts.
func (b *person) has(path string, texts ...string) reply {
	b.t.Helper()
	w := b.get(path)
	for _, text := range texts {
		if w.code != 200 || !strings.Contains(w.body, text) {
			b.t.Errorf("%s: %d, without %q: %s", path, w.code, text, w.body)
		}
	}
	return w
}

// in reports whether the user is logged in.
func (b *person) in() bool {
	b.t.Helper()
	switch w := b.get(""); {
	case w.code == 200 && strings.Contains(w.body, "<h1>Overview</h1>"):
		return true
	case w.code != 303 && w.code != 404:
		b.t.Errorf("%+v", w)
	}
	return false
}

// by asks the API with a header Authorization.
func (r *rig) by(authorization, request, text string) apitest.Reply {
	r.t.Helper()
	c := apitest.Client{T: r.t, URL: r.base, Login: authorization}
	return c.Do(request, text)
}
