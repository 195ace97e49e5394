package access

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/user"
	"strconv"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector/account"
	"pmg/gateway/node"
	"pmg/internal/token"
)

// A Scope is a set of requests that a caller may make. Each scope includes those before it.
type Scope int

// The scopes.
const (
	None       Scope = iota
	Look             // to see everything but the texts of messages
	Operate          // to change what messages, sessions and connectors do, and to see texts
	Administer       // to reload the configuration, to copy the store, to take profiles
)

// scopes are the scopes by their names in the configuration.
var scopes = map[string]Scope{config.LookScope: Look, config.OperateScope: Operate, config.AdministerScope: Administer}

// String returns the name of a scope.
func (s Scope) String() string {
	for word, scope := range scopes {
		if scope == s {
			return word
		}
	}
	return "none"
}

// A Caller is the sender of a request.
type Caller struct {
	User  string // over the socket: the name and number of the user
	Token string // the name of the token
	Login string // the name of the user who has logged in
	From  string // the address
	Scope Scope
}

// String describes the caller for logs.
func (c Caller) String() string {
	owner := c.Owner()
	switch {
	case owner == "":
		return c.From
	case c.User != "":
		return owner
	}
	return owner + " from " + c.From
}

// Owner returns the caller's name, whatever address the requests come from; "" if the caller has none. Callers take turns by it.
func (c Caller) Owner() string {
	switch {
	case c.User != "":
		return c.User
	case c.Token != "":
		return "token " + c.Token
	case c.Login != "":
		return "user " + c.Login
	}
	return ""
}

// SeesTexts reports whether the caller may see the texts of messages. Texts are shown only on request, and
// the request is in the audit log.
func (c Caller) SeesTexts() bool { return c.Scope >= Operate }

type contextKey int

const (
	callerKey contextKey = iota
	peerKey
	deedKey
)

// CallerOf returns the sender of a request that a Guard has allowed.
func CallerOf(r *http.Request) Caller {
	c, _ := r.Context().Value(callerKey).(Caller)
	return c
}

// WithPeer adds the user at the other end of a unix socket to the context of a connection.
func WithPeer(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	name := "a user over the socket"
	if uid, err := peerID(u); err == nil {
		id := strconv.FormatUint(uint64(uid), 10)
		name = "uid " + id
		if known, err := user.LookupId(id); err == nil {
			name = known.Username + " (" + name + ")"
		}
	}
	return context.WithValue(ctx, peerKey, name)
}

// peerID returns the user at the other end of a socket.
func peerID(c *net.UnixConn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if cerr := raw.Control(func(fd uintptr) { uid, err = peerOf(int(fd)) }); cerr != nil {
		return 0, cerr
	}
	return uid, err
}

// A Guard passes a request on if the caller has the scope that the request needs.
type Guard struct {
	Sessions *Sessions

	tokens func() []config.Token
	log    zerolog.Logger
	news   node.Repeats // refusals, by origin
}

// NewGuard returns a guard for the tokens that a function returns, and for sessions.
func NewGuard(tokens func() []config.Token, sessions *Sessions, log zerolog.Logger) *Guard {
	return &Guard{Sessions: sessions, tokens: tokens, log: log}
}

// May serves the requests of callers who have a scope.
func (g *Guard) May(needed Scope, h http.Handler) http.Handler {
	return g.may(needed, h, func(w http.ResponseWriter, r *http.Request, wrong string) {
		g.refused(r, wrong)
		challenge := `Bearer realm="pmg"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, wrong, http.StatusUnauthorized)
	})
}

// MayOrLogin serves the requests of callers who have a scope, and redirects the others to the login.
func (g *Guard) MayOrLogin(needed Scope, h http.Handler, login func(http.ResponseWriter, *http.Request)) http.Handler {
	return g.may(needed, h, func(w http.ResponseWriter, r *http.Request, _ string) { login(w, r) })
}

func (g *Guard) may(
	needed Scope, h http.Handler, unknown func(w http.ResponseWriter, r *http.Request, wrong string),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, wrong := g.caller(r)
		one := deedOf(r)
		if one.caller = c; needed > Look {
			one.isAct = true
		}
		switch {
		case wrong != "":
			unknown(w, r, wrong)
		case c.Scope < needed:
			Forbid(w, c, needed)
		default:
			h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey, c)))
		}
	})
}

// Forbid answers a caller whose scope is too small.
func Forbid(w http.ResponseWriter, c Caller, needed Scope) {
	who, what := "without a token", "a token"
	switch {
	case c.Token != "":
		who = "with token " + c.Token
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="pmg", error="insufficient_scope", scope=%q`, needed))
	case c.Login != "":
		who, what = "to user "+c.Login, "a user"
	}
	http.Error(
		w,
		fmt.Sprintf(
			"this is not allowed %s: it needs %s with scope %s (pmg admin makes one), or admin.socket, as the gateway's user",
			who, what, needed,
		),
		http.StatusForbidden,
	)
}

// StillAllowed reports whether the caller of a long request still has the scope of the request.
func (g *Guard) StillAllowed(r *http.Request) bool {
	now, wrong := g.caller(r)
	return wrong == "" && now.Scope >= CallerOf(r).Scope
}

// caller returns the sender of a request, or the reason why the request has no valid sender.
func (g *Guard) caller(r *http.Request) (c Caller, wrong string) {
	if name, ok := r.Context().Value(peerKey).(string); ok {
		return Caller{User: name, Scope: Administer}, ""
	}
	c.From = r.RemoteAddr
	tokens, header := g.tokens(), r.Header.Get("Authorization")
	if header == "" {
		if u := g.Sessions.find(r); u != nil {
			c.Login, c.Scope = u.Name, scopes[u.Scope]
			return c, ""
		}
	}
	switch {
	case header == "" && (len(tokens) > 0 || !g.Sessions.IsOpen()):
		return c, "this needs a token: Authorization: Bearer pmg_...; the commands of pmg take it from PMG_ADMIN_TOKEN " +
			"or --token-file"
	case header == "" && onLoopback(r):
		c.Scope = Look
		return c, ""
	case header == "":
		return c, "this needs a token, and the configuration has no admin.tokens: pmg admin token makes one"
	}
	token, ok := token.Bearer(header)
	t := find(tokens, token)
	if !ok || t == nil {
		return c, "this token is not one of admin.tokens"
	}
	c.Token, c.Scope = t.Name, scopes[t.Scope]
	return c, ""
}

// onLoopback reports whether a request came to a loopback address.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

// network returns the key by which refusals are counted: the IP address of an address with a port, as for logins of clients.
func network(from string) string {
	a, err := netip.ParseAddrPort(from)
	if err != nil {
		return from
	}
	return account.Host(a.Addr()).String()
}

// refused logs a refusal, once a minute for each network.
func (g *Guard) refused(r *http.Request, why string) {
	if g.news.First(network(r.RemoteAddr)) {
		g.log.Warn().Str("from", r.RemoteAddr).Str("path", r.URL.Path).Str("reason", why).Msg("a request to admin was refused")
	}
}
