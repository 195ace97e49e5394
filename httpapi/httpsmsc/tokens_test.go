package httpsmsc

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/httpcall"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
)

// An authority is a server that gives tokens: t1, t2 and so on, or what answer says.
type authority struct {
	*httptest.Server
	tokens *tokens
	now    atomic.Int64
	asks   atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newAuthority(t *testing.T, limit time.Duration) *authority {
	a := &authority{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := a.asks.Add(1)
		if f := a.answer.Load(); f != nil {
			(*f)(w, r)
			return
		}
		fmt.Fprintf(w, `{"access_token": "t%d", "expires_in": 100}`, n)
	}))
	t.Cleanup(a.Close)
	a.tokens = newTokens(&httpsms.Call{Method: "POST", URL: a.URL}, httpcall.Options{ConnectTimeout: limit}, a.now.Load)
	t.Cleanup(a.tokens.close)
	return a
}

func (a *authority) answers(f http.HandlerFunc) { a.answer.Store(&f) }

// wants checks what comes of a wish for a token.
func (a *authority) wants(t *testing.T, refused, token, why string) {
	t.Helper()
	got, reason := a.tokens.get(t.Context(), refused)
	if got != token || (reason == "") != (why == "") || !strings.Contains(reason, why) || why != "" && !strings.HasPrefix(reason, a.tokens.host+" ") {
		t.Errorf("%q, %q; want %q, %q", got, reason, token, why)
	}
}

// A token is used until shortly before it ends, or until it is refused. An SMSC that refuses all of them does not
// cause a request for one each time.
func TestTokens(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, testutil.Patience)
	a.wants(t, "", "t1", "")
	a.now.Store(int64(89 * time.Second))
	a.wants(t, "", "t1", "")
	a.now.Store(int64(90 * time.Second))
	a.wants(t, "", "t2", "")
	a.wants(t, "t1", "t2", "") // somebody else has replaced it
	a.wants(t, "t2", "t3", "")
	a.wants(t, "t3", "t3", "")
	a.wants(t, "", "t3", "")
	a.now.Add(int64(replaceInterval))
	a.wants(t, "t3", "t4", "")
	if n := a.asks.Load(); n != 4 {
		t.Errorf("%d requests", n)
	}
	var none *tokens
	if token, why := none.get(t.Context(), ""); token != "" || why != "" {
		t.Errorf("%q, %q", token, why)
	}
	none.close()
}

// However many wait for a token, it is asked for once, and all hear if there is none.
func TestTokensOnce(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, testutil.Patience)
	first, mine := a.tokens.request("")
	second, ours := a.tokens.request("")
	if !mine || ours || first != second {
		t.Error("a request is made beside another one")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if token, why := a.tokens.get(ctx, ""); token != "" || why == "" {
		t.Errorf("%q, %q", token, why)
	}
	first.why = a.tokens.host + " fails"
	close(first.done)

	goOn := make(chan struct{})
	a.answers(func(w http.ResponseWriter, _ *http.Request) {
		<-goOn
		fmt.Fprint(w, `{"access_token": "t"}`)
	})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { a.wants(t, "", "t", "") })
	}
	testutil.Eventually(t, "a token is asked for", func() bool { return a.asks.Load() > 0 })
	close(goOn)
	all.Wait()
	if n := a.asks.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A server that is slow, down, too talkative or not what it should be gives no token; the next wish asks again.
func TestTokensFail(t *testing.T) {
	t.Parallel()
	slow := newAuthority(t, 100*time.Millisecond)
	slow.answers(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	slow.wants(t, "", "", "100ms")
	a := newAuthority(t, testutil.Patience)
	a.answers(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"access_token": "t", "more": "`)
		for range 1024 {
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return // the gateway has heard enough
			}
		}
		t.Error("64 MiB were read")
	})
	a.wants(t, "", "", "something else")
	a.answers(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") })
	a.wants(t, "", "", "something else")
	a.answers(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) })
	a.wants(t, "", "", "answered 302")
	a.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	a.wants(t, "", "", "closed the connection")
	a.answers(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"access_token": "t"}`) })
	a.wants(t, "", "t", "")
	a.Close()
	a.now.Store(1 << 62)
	a.wants(t, "", "t", "") // it does not end
	a.wants(t, "t", "", "the connection")
}
