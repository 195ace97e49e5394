package access

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/internal/testkit/testutil"
	"pmg/internal/token"
)

// noSessions returns those of a gateway without users.
func noSessions() *Sessions {
	return NewSessions(func() []config.User { return nil }, func() *config.OIDC { return &config.OIDC{} }, time.Now)
}

// ask sends a request through a guard, and returns the status and who was let pass.
func ask(g *Guard, r *http.Request) (code int, c Caller) {
	w := httptest.NewRecorder()
	g.May(Look, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { c = CallerOf(r) })).ServeHTTP(w, r)
	return w.Code, c
}

// request returns a request that came to an address of ours.
func request(local, token string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/status", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, _ := net.ResolveTCPAddr("tcp", local)
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, a))
}

// Tokens are random, have the form that the configuration asks for, and are found by their hashes alone.
func TestTokens(t *testing.T) {
	t.Parallel()
	a, b := token.New(), token.New()
	if a == b || !regexp.MustCompile(`^pmg_[A-Za-z0-9_-]{43}$`).MatchString(a) {
		t.Errorf("%s, %s", a, b)
	}
	rows := []config.Token{{Name: "a", Hash: token.Hash(a)}, {Name: "b", Hash: token.Hash(b)}}
	if f := find(rows, b); f == nil || f.Name != "b" {
		t.Errorf("found %v", f)
	}
	for _, wrong := range []string{"", "pmg_", token.Hash(a), a + "x", a[1:]} {
		if find(rows, wrong) != nil {
			t.Errorf("%q is found", wrong)
		}
	}
}

// Where the configuration has no tokens, one looks on loopback addresses alone, also if the address was handed over.
func TestLoopbackAlone(t *testing.T) {
	t.Parallel()
	g := NewGuard(func() []config.Token { return nil }, noSessions(), zerolog.Nop())
	for local, want := range map[string]int{"127.0.0.1:1": 200, "[::1]:1": 200, "192.0.2.1:1": 401} {
		if code, c := ask(g, request(local, "")); code != want || want == 200 && (c.Scope != Look || c.String() != "192.0.2.1:1234") {
			t.Errorf("%s: %d, %v", local, code, c)
		}
	}
}

// Wrong tokens are logged once a minute for each address, and never the token.
func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := NewGuard(func() []config.Token {
		return []config.Token{{Name: "a", Hash: token.Hash("pmg_a"), Scope: config.OperateScope}}
	}, noSessions(), zerolog.New(&log))
	for _, from := range []string{"192.0.2.1:1", "192.0.2.1:2", "[2001:db8::1]:1", "[2001:db8::2]:1", "192.0.2.2:1"} {
		r := request("127.0.0.1:1", "pmg_marker")
		r.RemoteAddr = from
		if code, _ := ask(g, r); code != 401 {
			t.Errorf("%s: %d", from, code)
		}
	}
	text := log.String()
	if strings.Count(text, "a request to admin was refused") != 3 || strings.Contains(text, "marker") {
		t.Error(text)
	}
	if code, c := ask(g, request("192.0.2.9:1", "pmg_a")); code != 200 || c.Scope != Operate || c.String() != "token a from 192.0.2.1:1234" {
		t.Errorf("%d, %v", code, c)
	}
}

// The user at the other end of the socket is known.
func TestPeer(t *testing.T) {
	t.Parallel()
	l, err := Listen(filepath.Join(testutil.ShortDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.(*socket).path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	me, err := user.Current()
	if err != nil {
		t.Skip("the user has no name: ", err)
	}
	r := httptest.NewRequest(http.MethodGet, "/status", nil)
	_, caller := ask(NewGuard(func() []config.Token { return nil }, noSessions(), zerolog.Nop()), r.WithContext(WithPeer(r.Context(), server)))
	if want := me.Username + " (uid " + me.Uid + ")"; caller.String() != want || caller.Scope != Administer {
		t.Errorf("%v, not %s", caller, want)
	}
}
