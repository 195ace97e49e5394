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
	"pmg/httpapi/call"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Bounds on bodies.
const maxMessageBody = 1 << 20

// ownRoutes has the requests of our own API answered.
func (l *listener) ownRoutes(m *http.ServeMux) {
	m.HandleFunc("POST /v1/messages", l.with(config.SendScope, (*exchange).postMessage))
	m.HandleFunc("POST /v1/messages:stream", l.with(config.SendScope, (*exchange).stream))
	m.HandleFunc("POST /v1/messages:preview", l.with(config.SendScope, preview))
	m.HandleFunc("POST /v1/batches", l.with(config.SendScope, (*exchange).postBatch))
	m.HandleFunc("GET /v1/messages/{id}", l.with(config.ReadScope, (*exchange).getMessage))
	m.HandleFunc("DELETE /v1/messages/{id}", l.with(config.SendScope, (*exchange).deleteMessage))
	m.HandleFunc("PATCH /v1/messages/{id}", l.with(config.SendScope, (*exchange).patchMessage))
	m.HandleFunc("GET /v1/account", l.with(config.ReadScope, (*exchange).getAccount))
	m.HandleFunc("GET /problems/{name}", l.page(htmlType, problemPage))
	m.HandleFunc("GET /v1/openapi.json", l.page("application/json", func(*http.Request) []byte { return []byte(openapi) }))
	m.HandleFunc("GET /v1/docs", l.page(htmlType, docsPage))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { l.exchange(w, r).unknown(m) })
}

// with returns a handler for requests of an account, which need a scope where they come with a key.
func (l *listener) with(scope string, handle func(*exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := l.exchange(w, r)
		if !isKnown(x) {
			w.Header()["Www-Authenticate"] = []string{`Bearer realm="pmg"`, `Basic realm="pmg"`}
			x.problem(own.NewProblem("unauthenticated", ""))
			return
		}
		if x.key != nil && len(x.key.Scopes) > 0 && !slices.Contains(x.key.Scopes, scope) {
			x.problem(own.NewProblem("forbidden", "the key "+x.key.Name+" has not the scope "+scope))
			return
		}
		x.limits()
		handle(x)
	}
}

// isKnown reports whether the request has the key of an account, or its name and password.
func isKnown(x *exchange) bool {
	kind, key, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "Bearer") {
		return logInByKey(x, strings.TrimSpace(key))
	}
	name, password, ok := x.r.BasicAuth()
	return ok && x.logIn(x.r.Context(), name, password)
}

// problem answers with a problem.
func (x *exchange) problem(p *own.Problem) {
	x.refuse(p)
	x.logs(httpsms.Ask, nil, p.Status, 0)
}

// refuse writes a problem.
func (x *exchange) refuse(p *own.Problem) {
	p.Instance = x.id
	a := p.Answer()
	if p.RetryAfter > 0 {
		a.Header = append(a.Header, [2]string{"Retry-After", strconv.Itoa(p.RetryAfter)})
	}
	x.answer(a)
}

// readJSON reads a body of JSON. It answers the request if it cannot.
func (x *exchange) readJSON(most int64) ([]byte, bool) {
	kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" && !strings.EqualFold(kind, "application/json") {
		x.problem(own.NewProblem("unsupported-type", "it must be application/json, not "+kind))
		return nil, false
	}
	b, err := x.body(most)
	switch {
	case errors.Is(err, errTooLarge):
		x.problem(own.NewProblem("too-large", "it may have "+strconv.Itoa(int(most))+" octets"))
	case err != nil:
		x.problem(own.NewProblem("malformed-json", "it does not end"))
	}
	return b, err == nil
}

// postMessage submits a message.
func (x *exchange) postMessage() {
	body, ok := x.readJSON(maxMessageBody)
	if !ok {
		return
	}
	m, p := own.ReadMessage(body, x.now())
	if p == nil {
		p = x.mayCall(m.Context.URL)
	}
	if p != nil {
		x.problem(p)
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
func (x *exchange) submit(m *own.Message, body []byte) (request.Result, *own.Problem) {
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
		return own.NewProblem("idempotency-mismatch", "")
	case r.Err != nil:
		return own.NewProblem("unavailable", "")
	case r.Code != sms.OK:
		return own.Refused(r.Step, r.Code)
	}
	return nil
}

// onceKey returns the key by which the request may come again, "" if it has none. The header may be quoted or not, as the
// draft of the IETF and the many who do not follow it have it.
func (x *exchange) onceKey(m *own.Message) (string, *own.Problem) {
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

// mayCall returns why the account's messages may not name a URL to be called, nil if they may.
func (x *exchange) mayCall(url string) *own.Problem {
	if url == "" {
		return nil
	}
	a := x.account.Config()
	if _, err := call.Allowed(a.CallbackURLs, a.CallbacksTo == config.PublicCallbacks, url); err != nil {
		return own.NewProblem("url-not-allowed", "callback_url "+err.Error())
	}
	return nil
}

func (x *exchange) now() time.Time { return time.Unix(0, x.gateway.Clock.WallNow()) }
