package v1

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/config"
	"pmg/gateway/request"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/httpapi/webhook"
	"pmg/internal/token"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Limits of bodies.
const maxMessageBody = 1 << 20

// An API is our own API.
type API struct {
	rooms  Rooms
	pulls  *Pulls
	events *webhook.Events
	reader own.Reader
}

// A handler answers a request of our own API.
type handler struct {
	api *API
	x   *server.Exchange
}

// New returns our own API over the gateway's rooms.
func New(rooms Rooms, pulls *Pulls, events *webhook.Events) *API {
	return &API{rooms: rooms, pulls: pulls, events: events}
}

// Failed answers a request whose handler has panicked.
func (a *API) Failed(l *server.Listener, w http.ResponseWriter, r *http.Request) {
	a.begin(l, w, r).problem(own.NewProblem("internal", ""))
}

// begin begins to answer a request.
func (a *API) begin(l *server.Listener, w http.ResponseWriter, r *http.Request) *handler {
	return &handler{a, l.Begin(w, r)}
}

// Routes adds the paths of our own API to those of a listener.
func (a *API) Routes(l *server.Listener, m *http.ServeMux) {
	m.HandleFunc("POST /v1/messages", a.with(l, config.SendScope, (*handler).postMessage))
	m.HandleFunc("POST /v1/messages:stream", a.with(l, config.SendScope, (*handler).stream))
	m.HandleFunc("POST /v1/messages:preview", a.with(l, config.SendScope, (*handler).preview))
	m.HandleFunc("POST /v1/batches", a.with(l, config.SendScope, (*handler).postBatch))
	m.HandleFunc("GET /v1/messages", a.with(l, config.ReadScope, (*handler).listMessages))
	m.HandleFunc("GET /v1/messages/{id}", a.with(l, config.ReadScope, (*handler).getMessage))
	m.HandleFunc("DELETE /v1/messages/{id}", a.with(l, config.SendScope, (*handler).deleteMessage))
	m.HandleFunc("PATCH /v1/messages/{id}", a.with(l, config.SendScope, (*handler).patchMessage))
	m.HandleFunc("GET /v1/events", a.with(l, config.ReadScope, (*handler).getEvents))
	m.HandleFunc("POST /v1/events:ack", a.with(l, config.ReadScope, (*handler).postAcknowledged))
	m.HandleFunc("GET /v1/account", a.with(l, config.ReadScope, (*handler).getAccount))
	a.pages(l, m)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.begin(l, w, r).unknown(m) })
}

// with returns a handler for requests of an account. A request with a key needs a scope.
func (a *API) with(l *server.Listener, scope string, handle func(*handler)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := a.begin(l, w, r)
		defer h.x.End()
		if !h.isKnown() {
			h.unauthenticated()
			return
		}
		if h.x.Key != nil && !isFor(h.x.Key, scope) {
			h.problem(own.NewProblem("forbidden", "the key "+h.x.Key.Name+" does not have the scope "+scope))
			return
		}
		if h.x.Crowded {
			h.problem(
				own.NewProblem(
					"unavailable", "the account has reached its limit of connections: nine tenths of instances",
				),
			)
			return
		}
		h.limits()
		handle(h)
	}
}

// unauthenticated answers that the credentials of the request are wrong.
func (h *handler) unauthenticated() {
	h.x.Writer.Header()["Www-Authenticate"] = []string{`Bearer realm="pmg"`, `Basic realm="pmg"`}
	detail := ""
	if h.x.Request.Header.Get("Authorization") == "" {
		detail = "the request has no login: send the header Authorization, with name and password (Basic) or a key (Bearer)"
	}
	h.problem(own.NewProblem("unauthenticated", detail))
}

// isFor reports whether a key has a scope.
func isFor(k *config.Key, scope string) bool {
	return len(k.Scopes) == 0 || slices.Contains(k.Scopes, scope)
}

// isKnown reports whether the request has the key of an account, or its name and password.
func (h *handler) isKnown() bool {
	if key, ok := h.bearer(); ok {
		return h.x.LogInByKey(key)
	}
	name, password, ok := token.Basic(h.x.Request.Header.Get("Authorization"))
	return ok && h.x.LogIn(name, password)
}

// bearer returns the key of the request. It reports false if the request has other credentials.
func (h *handler) bearer() (key string, ok bool) {
	return token.Bearer(h.x.Request.Header.Get("Authorization"))
}

// isStillKnown reports whether the login of a long request is still valid.
func (h *handler) isStillKnown(scope string) bool {
	certificate, ok := h.x.Certificate()
	if !ok {
		return false
	}
	if key, ok := h.bearer(); ok {
		k := h.api.rooms.Logins.StillKey(h.x.Connector, h.x.Conn.Remote, certificate, key)
		return k != nil && isFor(k, scope)
	}
	name, password, _ := token.Basic(h.x.Request.Header.Get("Authorization"))
	return h.api.rooms.Logins.Still(h.x.Connector, h.x.Conn.Remote, certificate, protocols.Credentials{
		SystemID: []byte(name), Password: []byte(password), Bind: protocols.Transmitter,
	})
}

// problem answers with a problem.
func (h *handler) problem(p *own.Problem) {
	h.refuse(p)
	h.x.LogRequest(httpsms.Ask, nil, p.Status, h.x.Refused)
}

// refuse writes a problem.
func (h *handler) refuse(p *own.Problem) {
	p.Instance = h.x.ID
	a := p.Answer()
	if p.RetryAfter > 0 {
		a.Header = append(a.Header, [2]string{"Retry-After", strconv.Itoa(p.RetryAfter)})
	}
	h.x.Answer(a)
}

// readJSON reads a body of JSON. If it fails it answers the request.
func (h *handler) readJSON(most int64) ([]byte, bool) {
	kind, _, _ := strings.Cut(h.x.Request.Header.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" && !strings.EqualFold(kind, "application/json") {
		h.problem(own.NewProblem("unsupported-type", "the body must be application/json, not "+kind))
		return nil, false
	}
	most = h.x.LargestBody(most)
	b, err := h.x.ReadBody(most, h.x.Account.SystemID)
	switch {
	case errors.Is(err, body.ErrLarge):
		h.problem(own.NewProblem("too-large", "the body has more than "+strconv.Itoa(int(most))+" octets"))
	case errors.Is(err, body.ErrFull):
		h.problem(own.NewProblem("queue-full", "too many large bodies are being read"))
	case err != nil:
		h.problem(own.NewProblem("malformed-json", "the body is incomplete"))
	}
	return b, err == nil
}

// readMessage reads a message and its body. If it fails it answers the request.
func (h *handler) readMessage() (*own.Message, []byte, bool) {
	body, ok := h.readJSON(maxMessageBody)
	if !ok {
		return nil, nil, false
	}
	m, p := h.api.reader.Message(body, h.now())
	if p == nil {
		p = h.maySend(m)
	}
	if p != nil {
		h.problem(p)
		return nil, nil, false
	}
	return m, body, true
}

// preview answers with the outcome that a message would have. The message is not sent.
func (h *handler) preview() {
	m, _, ok := h.readMessage()
	if !ok {
		return
	}
	r, to, p := h.api.Preview(h.x, m)
	if p != nil {
		h.problem(p)
		return
	}
	h.answerJSON(http.StatusOK, m.Previewed(r.Parts, priceOf(h.x, r.Quote), to))
}

// maySend returns the reason why the account may not send a message with its URL, nil if it may.
func (h *handler) maySend(m *own.Message) *own.Problem {
	if err := h.x.MayCall(m.Context.URL); err != nil {
		return own.NewProblem("url-not-allowed", "callback_url "+err.Error())
	}
	return nil
}

// postMessage submits a message.
func (h *handler) postMessage() {
	m, body, ok := h.readMessage()
	if !ok {
		return
	}
	result, p := h.submit(m, body)
	if p != nil {
		h.refuse(p)
		h.x.LogRequest(httpsms.Submit, &m.Order, p.Status, became(&result))
		return
	}
	if result.Repeated {
		h.x.Writer.Header().Set("Idempotency-Replayed", "true")
	}
	a := m.Accepted(result.ID, result.Parts, priceOf(h.x, result.Quote), h.now())
	out, err := json.Marshal(a)
	if err != nil {
		h.problem(own.NewProblem("internal", err.Error()))
		return
	}
	h.x.Answer(
		&httpsms.Answer{
			Status: http.StatusAccepted, ContentType: "application/json",
			Header: [][2]string{{"Location", "/v1/messages/" + a.ID}}, Body: append(out, '\n'),
		},
	)
	h.x.LogRequest(httpsms.Submit, &m.Order, http.StatusAccepted, became(&result))
}

// submit submits a message. If the request or the message has a key, repeated requests submit it only once.
func (h *handler) submit(m *own.Message, body []byte) (request.Result, *own.Problem) {
	key, p := h.onceKey(m)
	if p != nil {
		return request.Result{}, p
	}
	return h.api.Submit(h.x, m, key, body)
}

// became returns the outcome of a message for the log.
func became(r *request.Result) httpsms.Result {
	return httpsms.Result{ID: r.ID, Code: r.Code, Step: r.Step, Parts: r.Parts}
}

// refusal returns the reason why a message was refused, nil if it was not refused.
func refusal(r *request.Result) *own.Problem {
	switch {
	case errors.Is(r.Err, request.ErrUnderWay):
		return own.NewProblem("idempotency-in-progress", "")
	case errors.Is(r.Err, request.ErrOther):
		return own.NewProblem("idempotency-mismatch", "an earlier request with the key had another body")
	case r.Err != nil:
		return own.NewProblem("unavailable", "")
	case r.Code != sms.OK:
		return own.Refused(r.Step, r.Code, r.Why)
	}
	return nil
}

// onceKey returns the key by which a repeated request is recognized, "" if the request has none. The header
// may be quoted, as in the draft of the IETF, or unquoted, as many clients write it.
func (h *handler) onceKey(m *own.Message) (string, *own.Problem) {
	key := h.x.Request.Header.Get("Idempotency-Key")
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	switch {
	case len(key) > request.MaxKey:
		return "", own.NewProblem("malformed-header", "Idempotency-Key is too long")
	case key != "":
		return "k" + key, nil
	case m.Deduplicate:
		return "r" + m.Context.Reference, nil
	}
	return "", nil
}

func (h *handler) now() time.Time { return time.Unix(0, h.api.rooms.Node.Clock.WallNow()) }
