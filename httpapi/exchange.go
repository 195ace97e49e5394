package httpapi

import (
	"crypto/rand"
	"io"
	"net/http"
	"strconv"
	"time"

	"pmg/account"
	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/httpapi/body"
	"pmg/internal/httpcall"
	"pmg/internal/httpfault"
	"pmg/internal/smstext"
	"pmg/internal/tlsfiles"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// An exchange is a request, and its answer to come.
type exchange struct {
	gateway   *gateway.Gateway
	connector *connector.Connector
	log       *Log
	bodies    *body.Room
	w         http.ResponseWriter
	r         *http.Request
	conn      *conn
	number    uint32
	id        string // of the request, for its client
	logged    bool
	read      bool // its body has come
	crowded   bool // its account has as many connections as it may
	account   *account.Account
	key       *config.Key // with which the client has logged in; nil: with its password
	arrived   int64
	claim     *body.Claim // nil: nobody wants the body
}

// exchange begins to answer a request. Its body, and the answer, must pass in the time that a PDU may take.
func (l *listener) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		gateway: l.gateway, connector: l.connector, log: l.log, bodies: l.bodies,
		w: w, r: r, conn: r.Context().Value(connKey{}).(*conn), number: l.log.Next(),
	}
	x.conn.Await(r.ContentLength != 0)
	if len(r.TransferEncoding) > 0 && len(x.connector.Config().Proxies) > 0 {
		w.Header().Set("Connection", "close") // net/http does not say whether there was a length, too: the proxy may have read that
	}
	x.extend()
	x.id = "r" + strconv.FormatUint(uint64(x.number), 16) + "-" + rand.Text()[:10]
	w.Header().Set("Request-Id", x.id)
	return x
}

// extend gives the client as long as a PDU may take from now on to send, and as long again to take the answer. A body of a client that has
// not logged in on the connection may take as long as a login.
func (x *exchange) extend() {
	patience := x.gateway.Node.Config().Limits.PDUTimeout
	c := http.NewResponseController(x.w)
	reading := patience
	if !x.read && !x.conn.known.Load() && x.r.ContentLength != 0 {
		reading = min(patience, x.connector.Config().BindTimeout)
	}
	_ = c.SetReadDeadline(time.Now().Add(reading))
	_ = c.SetWriteDeadline(time.Now().Add(2*patience + time.Second)) // the rate may have the answer wait
}

// logIn reports whether the credentials of the request are those of an account that may submit.
func (x *exchange) logIn(name, password string) bool {
	certificate, ok := x.certificate()
	if !ok {
		x.closes()
		return false
	}
	ctx, end := x.whileThere()
	defer end()
	result := x.gateway.Logins.Ask(ctx, x.connector, x.conn.remote, certificate, protocols.Credentials{
		SystemID: []byte(name), Password: []byte(password), Bind: protocols.Transmitter,
	})
	return x.enter(result.Account, result.Code)
}

// logInByKey reports whether a key is one of an account that may submit.
func (x *exchange) logInByKey(key string) bool {
	certificate, ok := x.certificate()
	if !ok {
		x.closes()
		return false
	}
	result, k := x.gateway.Logins.AskKey(x.connector, x.conn.remote, certificate, key)
	x.key = k
	return x.enter(result.Account, result.Code)
}

// enter notes whose request it is, and reports false if it is nobody's.
func (x *exchange) enter(a *account.Account, code sms.Code) bool {
	if code != sms.OK {
		return false
	}
	x.account = a
	x.conn.loggedIn()
	if !x.conn.LogIn(a.SystemID) {
		x.crowded = true
		x.closes()
	}
	x.extend()
	return true
}

// closes closes the connection behind the answer.
func (x *exchange) closes() { x.w.Header().Set("Connection", "close") }

// certificate returns the identity of the request's client by its certificate. It reports false for one that would not be taken any more,
// though the connection began with it.
func (x *exchange) certificate() (id tlsfiles.Identity, ok bool) {
	t := x.r.TLS
	if t == nil || len(t.VerifiedChains) == 0 {
		return id, true
	}
	files := x.connector.TLS()
	if files == nil || !x.conn.trusts(files.Config(""), t.PeerCertificates) {
		return id, false
	}
	return tlsfiles.IdentityOf(t.PeerCertificates[0]), true
}

// mayCall returns why the account's messages may not name a URL to be called, nil if they may, or name none.
func (x *exchange) mayCall(url string) error {
	if url == "" {
		return nil
	}
	a := x.account.Config()
	_, err := httpcall.Allowed(a.CallbackURLs, a.CallbacksTo == config.PublicCallbacks, url)
	return err
}

// source returns where the messages of the request come from.
func (x *exchange) source() *connector.Source {
	return &connector.Source{
		Connector: x.connector, Remote: x.conn.remote, Account: x.account,
		Origin: x.gateway.Node.Origins.Of(x.account.SystemID, x.connector.Name),
	}
}

// trace has the trace of a message go on from that of the request, if its client asks for it.
func (x *exchange) trace(o *httpsms.Order) {
	o.Context.Parent = x.gateway.Settler.Parent(x.r.Header["Traceparent"])
}

// body reads the body of the request, of most octets at most, while there is room for it among those of an account; "" is of clients
// who have not logged in. Whoever has called it calls end.
func (x *exchange) body(most int64, account string) ([]byte, error) {
	x.claim = x.bodies.Claim(account)
	b, err := x.claim.Read(http.MaxBytesReader(httpfault.Under(x.w), x.r.Body, most+1), x.r.ContentLength, most)
	if err == nil {
		x.read = true
		x.conn.Await(false)
		x.extend()
	}
	return b, err
}

// end gives back the room for the body.
func (x *exchange) end() {
	if x.claim != nil {
		x.claim.Release()
	}
}

// asked answers a request that cannot submit anything.
func (x *exchange) asked(a *httpsms.Answer) {
	x.answer(a)
	x.logs(httpsms.Ask, nil, a.Status, 0)
}

// answer writes an answer.
func (x *exchange) answer(a *httpsms.Answer) {
	h := x.w.Header()
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	for _, f := range a.Header {
		h[f[0]] = []string{f[1]} // as the dialect writes it
	}
	unread := x.r.ContentLength != 0 && !x.read
	if unread {
		h.Set("Connection", "close") // otherwise net/http waits for the body before it answers
	}
	h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	x.w.WriteHeader(a.Status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(a.Body)
	}
	if unread {
		x.linger()
	}
}

// How long, and for how many octets, a body is read after its request was refused without it.
const (
	lingerTime   = time.Second
	lingerOctets = 2 << 20
)

// linger reads what comes of a body that nobody wants, so that its client, which may still send, reads the answer: octets that nobody
// reads have the system reset the connection, and the client lose it.
func (x *exchange) linger() {
	c := http.NewResponseController(x.w)
	if c.Flush() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.r.Body, lingerOctets))
	}
}

// logs writes the request for a message and what was answered to the pdu log.
func (x *exchange) logs(command int, o *httpsms.Order, status int, id uint64) {
	if !x.log.IsEnabled() {
		x.log.CountExchange(command, true, counted(status))
		return
	}
	number := x.number
	if x.logged { // it has several messages
		number = x.log.Next()
	}
	x.logged = true
	var p httpsms.PDU
	p.Begin(command, number, 0)
	p.Add("method", x.r.Method)
	p.Add("path", x.r.URL.Path)
	p.Add("remote", x.conn.remote.String())
	p.Add("request", x.id)
	if x.key != nil {
		p.Add("key", x.key.Name)
	}
	if o != nil {
		p.Add("from", o.From)
		p.Add("to", o.To)
		p.Add("reference", o.Context.Reference)
		p.AddText("text", shown(o))
	}
	about := pdulog.About{}
	if x.account != nil {
		about.Account = x.account.SystemID
	}
	x.log.Line(true, &p, about)
	p.Begin(command+1, number, uint32(status))
	about.ID = id
	x.log.Line(false, &p, about)
	x.log.CountExchange(command, true, counted(status))
}

// shown returns the text of an order as UTF-8, or its octets if they are no text.
func shown(o *httpsms.Order) []byte {
	if text, ok := smstext.Append(nil, o.Alphabet, false, o.Text); ok {
		return text
	}
	return o.Text
}

// counted returns the status under which an answer is counted, 0 where the request has succeeded.
func counted(status int) uint32 {
	if status < http.StatusBadRequest {
		return 0
	}
	return uint32(status)
}
