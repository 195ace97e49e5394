package httpapi

import (
	"crypto/sha256"
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
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Bounds on bodies.
const maxMessageBody = 1 << 20

// An api is an exchange with a client of our own API.
type api struct{ *exchange }

func (l *listener) api(w http.ResponseWriter, r *http.Request) *api { return &api{l.exchange(w, r)} }

// ownRoutes has the requests of our own API answered.
func (l *listener) ownRoutes(m *http.ServeMux) {
	m.HandleFunc("POST /v1/messages", l.with(config.SendScope, (*api).postMessage))
	m.HandleFunc("POST /v1/messages:stream", l.with(config.SendScope, (*api).stream))
	m.HandleFunc("POST /v1/messages:preview", l.with(config.SendScope, (*api).preview))
	m.HandleFunc("POST /v1/batches", l.with(config.SendScope, (*api).postBatch))
	m.HandleFunc("GET /v1/messages", l.with(config.ReadScope, (*api).listMessages))
	m.HandleFunc("GET /v1/messages/{id}", l.with(config.ReadScope, (*api).getMessage))
	m.HandleFunc("DELETE /v1/messages/{id}", l.with(config.SendScope, (*api).deleteMessage))
	m.HandleFunc("PATCH /v1/messages/{id}", l.with(config.SendScope, (*api).patchMessage))
	m.HandleFunc("GET /v1/events", l.with(config.ReadScope, (*api).getEvents))
	m.HandleFunc("POST /v1/events:ack", l.with(config.ReadScope, (*api).postAcknowledged))
	m.HandleFunc("GET /v1/account", l.with(config.ReadScope, (*api).getAccount))
	m.HandleFunc("GET /problems/{name}", l.page(htmlType, problemPage))
	m.HandleFunc("GET /v1/openapi.json", l.page("application/json", func(*http.Request) []byte { return []byte(openapi) }))
	m.HandleFunc("GET /v1/docs", l.page(htmlType, docsPage))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { l.api(w, r).unknown(m) })
}

// with returns a handler for requests of an account, which need a scope where they come with a key.
func (l *listener) with(scope string, handle func(*api)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := l.api(w, r)
		defer x.end()
		if !x.isKnown() {
			x.unauthenticated()
			return
		}
		if x.key != nil && !isFor(x.key, scope) {
			x.problem(own.NewProblem("forbidden", "the key "+x.key.Name+" has not the scope "+scope))
			return
		}
		if x.crowded {
			x.problem(own.NewProblem("unavailable", "the account has as many connections as one account may: all but a tenth of instances"))
			return
		}
		x.limits()
		handle(x)
	}
}

// unauthenticated answers that no account has the credentials of the request.
func (x *api) unauthenticated() {
	x.w.Header()["Www-Authenticate"] = []string{`Bearer realm="pmg"`, `Basic realm="pmg"`}
	detail := ""
	if x.r.Header.Get("Authorization") == "" {
		detail = "the request has no login: send the header Authorization, with name and password (Basic) or a key (Bearer)"
	}
	x.problem(own.NewProblem("unauthenticated", detail))
}

// isFor reports whether a key has a scope.
func isFor(k *config.Key, scope string) bool {
	return len(k.Scopes) == 0 || slices.Contains(k.Scopes, scope)
}

// isKnown reports whether the request has the key of an account, or its name and password.
func (x *api) isKnown() bool {
	if key, ok := x.bearer(); ok {
		return x.logInByKey(key)
	}
	name, password, ok := x.r.BasicAuth()
	return ok && x.logIn(name, password)
}

// bearer returns the key that the request has. It reports false if the request comes with something else.
func (x *api) bearer() (key string, ok bool) {
	kind, key, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(key), strings.EqualFold(kind, "Bearer")
}

// isStillKnown reports whether a request that goes on would still be let in.
func (x *api) isStillKnown(scope string) bool {
	certificate, ok := x.certificate()
	if !ok {
		return false
	}
	if key, ok := x.bearer(); ok {
		k := x.gateway.Logins.StillKey(x.connector, x.conn.remote, certificate, key)
		return k != nil && isFor(k, scope)
	}
	name, password, _ := x.r.BasicAuth()
	return x.gateway.Logins.Still(x.connector, x.conn.remote, certificate, protocols.Credentials{
		SystemID: []byte(name), Password: []byte(password), Bind: protocols.Transmitter,
	})
}

// problem answers with a problem.
func (x *api) problem(p *own.Problem) {
	x.refuse(p)
	x.logs(httpsms.Ask, nil, p.Status, 0)
}

// refuse writes a problem.
func (x *api) refuse(p *own.Problem) {
	p.Instance = x.id
	a := p.Answer()
	if p.RetryAfter > 0 {
		a.Header = append(a.Header, [2]string{"Retry-After", strconv.Itoa(p.RetryAfter)})
	}
	x.answer(a)
}

// readJSON reads a body of JSON. It answers the request if it cannot.
func (x *api) readJSON(most int64) ([]byte, bool) {
	kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" && !strings.EqualFold(kind, "application/json") {
		x.problem(own.NewProblem("unsupported-type", "it must be application/json, not "+kind))
		return nil, false
	}
	most = x.callers.engine.bodies.Largest(most)
	b, err := x.body(most, x.account.SystemID)
	switch {
	case errors.Is(err, body.ErrLarge):
		x.problem(own.NewProblem("too-large", "it may have "+strconv.Itoa(int(most))+" octets"))
	case errors.Is(err, body.ErrFull):
		x.problem(own.NewProblem("queue-full", "too many large bodies are being read"))
	case err != nil:
		x.problem(own.NewProblem("malformed-json", "it does not end"))
	}
	return b, err == nil
}

// readMessage reads a message and its body. It answers the request if it cannot.
func (x *api) readMessage() (*own.Message, []byte, bool) {
	body, ok := x.readJSON(maxMessageBody)
	if !ok {
		return nil, nil, false
	}
	m, p := own.ReadMessage(body, x.now())
	if p == nil {
		p = x.maySend(m)
	}
	if p != nil {
		x.problem(p)
		return nil, nil, false
	}
	return m, body, true
}

// preview tells what would become of a message, which is not sent.
func (x *api) preview() {
	m, _, ok := x.readMessage()
	if !ok {
		return
	}
	r, to := x.gateway.Requests.Preview(x.r.Context(), x.source(), request.Item{Fill: m.Fill, Parts: m.MaxParts})
	if p := refusal(&r); p != nil {
		x.problem(p)
		return
	}
	x.answerJSON(http.StatusOK, m.Previewed(r.Parts, x.callers.engine.publicName(to)))
}

// maySend returns why the account may not send a message with its URL, nil if it may.
func (x *api) maySend(m *own.Message) *own.Problem {
	if err := x.mayCall(m.Context.URL); err != nil {
		return own.NewProblem("url-not-allowed", "callback_url "+err.Error())
	}
	return nil
}

// postMessage submits a message.
func (x *api) postMessage() {
	m, body, ok := x.readMessage()
	if !ok {
		return
	}
	result, p := x.submit(m, body)
	if p != nil {
		x.refuse(p)
		x.logs(httpsms.Submit, &m.Order, p.Status, 0)
		return
	}
	if result.Repeated {
		x.w.Header().Set("Idempotency-Replayed", "true")
	}
	a := m.Accepted(result.ID, result.Parts, x.now())
	out, err := json.Marshal(a)
	if err != nil {
		x.problem(own.NewProblem("internal", err.Error()))
		return
	}
	x.answer(&httpsms.Answer{Status: http.StatusAccepted, ContentType: "application/json", Header: [][2]string{{"Location", "/v1/messages/" + a.ID}}, Body: append(out, '\n')})
	x.logs(httpsms.Submit, &m.Order, http.StatusAccepted, result.ID)
}

// submit submits a message, once if the request or the message says so.
func (x *api) submit(m *own.Message, body []byte) (request.Result, *own.Problem) {
	x.trace(&m.Order)
	item := request.Item{Fill: m.Fill, Parts: m.MaxParts}
	var p *own.Problem
	if item.Key, p = x.onceKey(m); p != nil {
		return request.Result{}, p
	}
	if item.Key != "" {
		item.Payload = sha256.Sum256(body)
	}
	r := x.gateway.Requests.Submit(x.r.Context(), x.source(), []request.Item{item})[0]
	return r, refusal(&r)
}

// refusal returns why a message was refused, nil if it was not.
func refusal(r *request.Result) *own.Problem {
	switch {
	case errors.Is(r.Err, request.ErrUnderWay):
		return own.NewProblem("idempotency-in-progress", "")
	case errors.Is(r.Err, request.ErrOther):
		return own.NewProblem("idempotency-mismatch", "the request that had the key first asked for something else")
	case r.Err != nil:
		return own.NewProblem("unavailable", "")
	case r.Code != sms.OK:
		return own.Refused(r.Step, r.Code)
	}
	return nil
}

// onceKey returns the key by which the request may come again, "" if it has none. The header may be quoted or not, as the
// draft of the IETF and the many who do not follow it have it.
func (x *api) onceKey(m *own.Message) (string, *own.Problem) {
	key := x.r.Header.Get("Idempotency-Key")
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

func (x *api) now() time.Time { return time.Unix(0, x.gateway.Node.Clock.WallNow()) }
