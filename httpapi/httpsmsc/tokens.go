package httpsmsc

import (
	"context"
	"net/url"
	"sync"
	"time"

	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/smsc"
)

// tokens caches the token for an SMSC's calls. It requests a new token shortly before the old one expires, and after a
// refusal: one request serves all waiting calls. It is safe for concurrent use.
type tokens struct {
	sender *httpcall.Sender
	call   *httpsms.Call
	host   string
	now    func() int64

	mu       sync.Mutex
	last     *asked
	settling int64 // a refused token is not replaced before this time
}

// An asked is a request for a token.
type asked struct {
	done  chan struct{} // closed at the end of the request, after the other fields are set
	token string        // the token; empty: the server issued no token
	until int64         // expiry of the token; 0: the token is valid until the SMSC refuses it
	why   string        // the reason why the server issued no token
}

// replaceInterval is the least time between two replacements of refused tokens. Without it, an SMSC that
// refuses all tokens would cause a request for each message.
const replaceInterval = 10 * time.Second

// newTokens returns the tokens for an SMSC, nil if the SMSC needs no tokens.
func newTokens(c *httpsms.Call, o httpcall.Options, now func() int64) *tokens {
	if c == nil {
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil { // the URL was already checked
		u = &url.URL{}
	}
	o.Connections, o.Timeout = 1, o.ConnectTimeout
	return &tokens{sender: httpcall.New(o), call: c, host: u.Host, now: now}
}

// get returns a token other than the refused one, unless the token has just been replaced. why is the reason why there is no
// token, or "".
func (t *tokens) get(ctx context.Context, refused string) (token, why string) {
	if t == nil {
		return "", ""
	}
	r, mine := t.request(refused)
	if mine {
		t.ask(ctx, r)
	}
	select {
	case <-r.done:
		return r.token, r.why
	case <-ctx.Done():
		return "", "was not waited for"
	}
}

// request returns the latest request for a token, and whether the caller must send it.
func (t *tokens) request(refused string) (r *asked, mine bool) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if r = t.last; r != nil {
		select {
		case <-r.done:
		default: // the request is already running
			return r, false
		}
		switch {
		case r.token == "" || r.until != 0 && now >= r.until:
		case r.token != refused || now < t.settling:
			return r, false
		default:
			t.settling = now + int64(replaceInterval)
		}
	}
	t.last = &asked{done: make(chan struct{})}
	return t.last, true
}

// ask makes a request for a token.
func (t *tokens) ask(ctx context.Context, r *asked) {
	defer close(r.done)
	began := t.now()
	answer := t.sender.Send(ctx, t.call)
	if answer.Status == 0 {
		r.why = t.host + " " + answer.Err
		return
	}
	token, why := smsc.ReadToken(answer.Status, answer.Body)
	if why != "" {
		r.why = t.host + " " + why
		return
	}
	r.token = token.Text
	if token.Lasts > 0 { // leaves some of the lifetime for the call that uses the token
		r.until = began + int64(token.Lasts-min(token.Lasts/10, time.Minute))
	}
}

// close closes the idle connections.
func (t *tokens) close() {
	if t != nil {
		t.sender.Close()
	}
}
