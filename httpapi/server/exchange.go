package server

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/connector/streams"
	"pmg/httpapi/body"
	"pmg/internal/httpfault"
	"pmg/internal/tlsfiles"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// An Exchange is a request and its answer.
type Exchange struct {
	rooms     Rooms
	Connector *connector.Connector
	log       *Log
	bodies    *body.Room
	Writer    http.ResponseWriter
	Request   *http.Request
	Conn      *conn
	number    uint32
	ID        string // id of the request, for the client
	logged    bool
	read      bool // the body was read
	Crowded   bool // the account has reached its limit of connections
	Account   *account.Account
	Key       *config.Key // key of the client's login; nil: the client has logged in with a password
	claim     *body.Claim // nil: the body is not read

	Refused httpsms.Result // reason why the requested operation was refused
}

// Begin begins an exchange. The body and the answer must each be transferred within the time limit of a PDU.
func (l *Listener) Begin(w http.ResponseWriter, r *http.Request) *Exchange {
	x := &Exchange{
		rooms: l.rooms, Connector: l.Connector, log: l.Log, bodies: l.bodies,
		Writer: w, Request: r, Conn: r.Context().Value(connKey{}).(*conn), number: l.Log.Next(),
	}
	x.Conn.Await(r.ContentLength != 0)
	if len(r.TransferEncoding) > 0 && len(x.Connector.Config().Proxies) > 0 {
		// net/http does not report whether there was a length, too, which the proxy may have used
		w.Header().Set("Connection", "close")
	}
	x.Extend()
	x.ID = httpsms.RequestID(x.number)
	w.Header().Set("Request-Id", x.ID)
	return x
}

// Extend restarts the time limits: the client has the time of a PDU to send the rest, and the same time to receive the answer.
// Before the login of a connection, the time for the body is that of a login.
func (x *Exchange) Extend() {
	patience := x.rooms.Node.Config().Limits.PDUTimeout
	c := http.NewResponseController(x.Writer)
	reading := patience
	if !x.read && !x.Conn.known.Load() && x.Request.ContentLength != 0 {
		reading = min(patience, x.Connector.Config().BindTimeout)
	}
	_ = c.SetReadDeadline(time.Now().Add(reading))
	_ = c.SetWriteDeadline(time.Now().Add(2*patience + time.Second)) // the rate may delay the answer
}

// LogIn reports whether the credentials of the request belong to an account that may submit.
func (x *Exchange) LogIn(name, password string) bool {
	certificate, ok := x.Certificate()
	if !ok {
		x.CloseBehind()
		return false
	}
	accounts := x.rooms.Logins.Accounts()
	if a := x.Conn.login.Load().accountOf(accounts, name, password); a != nil {
		return x.enter(a, sms.OK)
	}
	ctx, end := x.whileThere()
	defer end()
	result := x.rooms.Logins.Ask(ctx, x.Connector, x.Conn.Remote, certificate, protocols.Credentials{
		SystemID: []byte(name), Password: []byte(password), Bind: protocols.Transmitter,
	})
	if result.Code == sms.OK {
		x.Conn.login.Store(newCheckedLogin(accounts, result.Account, name, password))
	}
	return x.enter(result.Account, result.Code)
}

// LogInByKey reports whether a key belongs to an account that may submit.
func (x *Exchange) LogInByKey(key string) bool {
	certificate, ok := x.Certificate()
	if !ok {
		x.CloseBehind()
		return false
	}
	result, k := x.rooms.Logins.AskKey(x.Connector, x.Conn.Remote, certificate, key)
	x.Key = k
	return x.enter(result.Account, result.Code)
}

// LogInUser reports whether an account that may submit has a user with a password.
func (x *Exchange) LogInUser(account, user, password string) bool {
	certificate, ok := x.Certificate()
	if !ok {
		x.CloseBehind()
		return false
	}
	ctx, end := x.whileThere()
	defer end()
	result := x.rooms.Logins.AskUser(ctx, x.Connector, x.Conn.Remote, certificate, account, user, password)
	return x.enter(result.Account, result.Code)
}

// ProveUser reports whether a user gives the right code of a second factor, as isRight reports. Wrong codes wait as failed
// logins.
func (x *Exchange) ProveUser(account, user string, isRight func() bool) bool {
	ctx, end := x.whileThere()
	defer end()
	return x.rooms.Logins.AskCode(ctx, x.Connector, x.Conn.Remote, account, user, isRight)
}

// ResetUser runs do for a request for a new password of a user, which waits and is answered as a failed login.
func (x *Exchange) ResetUser(account, user string, do func()) {
	ctx, end := x.whileThere()
	defer end()
	x.rooms.Logins.AskReset(ctx, x.Connector, x.Conn.Remote, account, user, do)
}

// LogInByOIDC reports whether somebody may log in to an account at its OpenID provider, as isRight reports. Failures wait as
// failed logins.
func (x *Exchange) LogInByOIDC(account string, isRight func() bool) bool {
	ctx, end := x.whileThere()
	defer end()
	return x.rooms.Logins.AskOIDC(ctx, x.Connector, x.Conn.Remote, account, isRight)
}

// User returns the account and the user of a name, if the account may still submit; nil if it may not.
func (x *Exchange) User(name, user string) (*account.Account, *config.AccountUser) {
	a := x.AccountOf(name)
	if a == nil || a.User(user) == nil {
		return nil, nil
	}
	return a, a.User(user)
}

// AccountOf returns the account of a name, nil if it may not submit.
func (x *Exchange) AccountOf(name string) *account.Account {
	a, trusted := x.StillAccount(name)
	if !trusted {
		x.CloseBehind()
	}
	return a
}

// StillAccount is AccountOf for work that outlasts its request. trusted is false if the certificate of the client is not
// accepted now.
func (x *Exchange) StillAccount(name string) (a *account.Account, trusted bool) {
	certificate, ok := x.Certificate()
	if ok {
		a = x.rooms.Logins.StillAccount(x.Connector, x.Conn.Remote, certificate, name)
	}
	return a, ok
}

// HasOIDC reports whether an account has an OpenID provider.
func (x *Exchange) HasOIDC() bool { return x.rooms.Logins.Accounts().HasOIDC() }

// Enter assigns the request to an account that User or AccountOf has returned. It reports false if a plugin refuses the account.
func (x *Exchange) Enter(a *account.Account) bool { return x.enter(a, sms.OK) }

// enter records the account of the request. It reports false if the request is refused. Plugins are asked at
// the account's first request on the connection.
func (x *Exchange) enter(a *account.Account, code sms.Code) bool {
	if code != sms.OK {
		return false
	}
	if allowed := x.Conn.allowed.Load(); allowed == nil || *allowed != a.SystemID {
		ctx, end := x.whileThere()
		defer end()
		if !x.rooms.Logins.Allows(ctx, x.Connector, x.Conn.Remote, a.SystemID) {
			return false
		}
		x.Conn.allowed.Store(&a.SystemID)
	}
	x.Account = a
	x.Conn.LoggedIn()
	if !x.Conn.LogIn(a.SystemID) {
		x.Crowded = true
		x.CloseBehind()
	}
	x.Extend()
	return true
}

// CloseBehind closes the connection after the answer.
func (x *Exchange) CloseBehind() { x.Writer.Header().Set("Connection", "close") }

// Certificate returns the identity of the request's client by its certificate. It reports false if the connection's
// certificate would no longer be accepted.
func (x *Exchange) Certificate() (id tlsfiles.Identity, ok bool) {
	t := x.Request.TLS
	if t == nil || len(t.VerifiedChains) == 0 {
		return id, true
	}
	files := x.Connector.TLS()
	if files == nil || !x.Conn.trusts(files.Config(""), t.PeerCertificates) {
		return id, false
	}
	return tlsfiles.IdentityOf(t.PeerCertificates[0]), true
}

// MayCall returns the reason why the account's messages may not name a URL to be called, nil if they may, or name no URL.
func (x *Exchange) MayCall(url string) error {
	if url == "" {
		return nil
	}
	return x.Account.Config().MayCall(url)
}

// Source returns the source of the request's messages.
func (x *Exchange) Source() *connector.Source {
	return &connector.Source{
		Connector: x.Connector, Remote: x.Conn.Remote, Account: x.Account,
		Origin: x.rooms.Node.Origins.Of(x.Account.SystemID, x.Connector.Name),
	}
}

// Trace continues the trace of the request in a message's trace, if the client asks for that.
func (x *Exchange) Trace(o *httpsms.Order) {
	o.Context.Parent = x.rooms.Tracer.Parent(x.Request.Header["Traceparent"])
}

// ReadBody reads the body of the request, of most octets at most, while there is room among the bodies of an
// account; "" is for clients who have not logged in. The caller must call end.
func (x *Exchange) ReadBody(most int64, account string) ([]byte, error) {
	x.claim = x.bodies.Claim(account)
	b, err := x.claim.Read(http.MaxBytesReader(httpfault.Under(x.Writer), x.Request.Body, most+1), x.Request.ContentLength, most)
	if err == nil {
		x.read = true
		x.Conn.Await(false)
		x.Extend()
	}
	return b, err
}

// Parse runs work on the body that ReadBody has returned. Large bodies take turns. Parse reports false, and
// does not run work, if the client hangs up before the turn.
func (x *Exchange) Parse(work func()) bool { return x.claim.Parse(x.Request.Context().Done(), work) }

// LargestBody returns the possible size of a body that may have most octets by its kind.
func (x *Exchange) LargestBody(most int64) int64 { return x.bodies.Largest(most) }

// End releases the memory that is reserved for the body.
func (x *Exchange) End() {
	if x.claim != nil {
		x.claim.Release()
	}
}

// Head returns the request for a dialect, without its body.
func (x *Exchange) Head() *httpsms.Request {
	return &httpsms.Request{
		Method: x.Request.Method, Path: x.Request.URL.Path, Query: x.Request.URL.RawQuery, Header: x.Request.Header,
	}
}

// BeginStream records a long request in the table of its connector, from which the caller removes it. may
// reports whether the login of the client is still valid; cut is called when the request must end.
// BeginStream reports false if no long request may begin.
func (x *Exchange) BeginStream(kind string, may func() bool, cut func()) (*streams.Stream, bool) {
	s := &streams.Stream{
		Number: x.number, Remote: x.Conn.Remote, Account: x.Account.SystemID, Kind: kind, Opened: x.rooms.Node.Clock.Now(),
		May: may, Cut: cut,
	}
	s.Heard.Store(s.Opened)
	return s, x.Connector.Streams.Begin(s)
}

// AnswerAsk answers a request that does not submit anything.
func (x *Exchange) AnswerAsk(a *httpsms.Answer) {
	x.Answer(a)
	x.LogRequest(httpsms.Ask, nil, a.Status, httpsms.Result{})
}

// Answer writes an answer.
func (x *Exchange) Answer(a *httpsms.Answer) {
	h := x.Writer.Header()
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	for _, f := range a.Header {
		h[f[0]] = []string{f[1]} // keeps the case in which the dialect writes the header's name
	}
	unread := x.Request.ContentLength != 0 && !x.read
	if unread {
		h.Set("Connection", "close") // without this header net/http waits for the body before it answers
	}
	h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	x.Writer.WriteHeader(a.Status)
	if x.Request.Method != http.MethodHead {
		_, _ = x.Writer.Write(a.Body)
	}
	if unread {
		x.linger()
	}
}

// Limits of the time and the octets for reading a body whose request was already refused.
const (
	lingerTime   = time.Second
	lingerOctets = 2 << 20
)

// linger reads the unneeded rest of a body while the client may still send it. Without that, the system would
// reset the connection because of unread octets, and the client would lose the answer.
func (x *Exchange) linger() {
	c := http.NewResponseController(x.Writer)
	if c.Flush() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.Request.Body, lingerOctets))
	}
}

// LogRequest writes a request, the answer, and the outcome of the message to the pdu log.
func (x *Exchange) LogRequest(command int, o *httpsms.Order, status int, r httpsms.Result) {
	if !x.log.IsEnabled() {
		x.log.CountExchange(command, true, counted(status))
		return
	}
	number := x.number
	if x.logged { // the request has several messages
		number = x.log.Next()
	}
	x.logged = true
	var p httpsms.PDU
	p.Begin(command, number, 0)
	p.Add("method", x.Request.Method)
	p.Add("path", x.Request.URL.Path)
	p.Add("remote", x.Conn.remoteText())
	p.Add("request", x.ID)
	if x.Key != nil {
		p.Add("key", x.Key.Name)
	}
	if o != nil {
		p.Add("from", o.From)
		p.Add("to", o.To)
		p.Add("reference", o.Context.Reference)
		p.AddText("text", httpsms.TextOf(o))
	}
	about := pdulog.About{}
	if x.Account != nil {
		about.Account = x.Account.SystemID
	}
	x.log.Line(true, &p, about)
	p.Begin(command+1, number, uint32(status))
	about.ID, about.Refusal = r.ID, sms.Refusal{Code: r.Code, Step: r.Step}
	x.log.Line(false, &p, about)
	x.log.CountExchange(command, true, counted(status))
}

// counted returns the status for the counters of answers, 0 for a successful request.
func counted(status int) uint32 {
	if status < http.StatusBadRequest {
		return 0
	}
	return uint32(status)
}
