package v1

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/httpapi/webhook"
	"pmg/internal/testkit/apicheck"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// A rig is our own API, whose client is the account shop.
type rig struct {
	*apitest.Site
	client   apitest.Client
	pulls    *Pulls
	listener *server.Listener
	contract *apicheck.Contract
}

// newRig serves a configuration. Its accounts are "shop", with further options, and others, rows.
func newRig(t *testing.T, shop, operator, routes string, others ...string) *rig {
	t.Helper()
	accounts := strings.Join(append([]string{"{system_id: shop, password: secret" + shop + "}"}, others...), ", ")
	s := apitest.New(t, apitest.YAML(accounts, "", operator, routes))
	r := &rig{Site: s, contract: readContract(t)}
	logOf := func(*connector.Connector) *server.Log { return r.listener.Log }
	g := s.Gateway
	events := webhook.NewEvents(webhook.Rooms{Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert}, logOf)
	r.pulls = NewPulls(s, s.Gateway.Node.Clock.Now, t.Context().Done())
	l, err := server.Listen(listenerRooms(g), s.Gateway.Table.Connector("api"), nil, body.NewRoom(&s.Gateway.Node.Memory), nil, func(l *server.Listener) http.Handler {
		m := http.NewServeMux()
		New(roomsOf(g), r.pulls, events).Routes(l, m)
		return m
	})
	if err != nil {
		t.Fatal(err)
	}
	r.listener = l
	l.Serve()
	t.Cleanup(l.Close)
	r.client = apitest.Client{T: t, URL: "http://" + l.Addresses()[0].String(), Name: "shop"}
	return r
}

// listenerRooms returns what a listener needs of a gateway.
func listenerRooms(g *gateway.Gateway) server.Rooms {
	return server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
}

// roomsOf returns the rooms of a gateway.
func roomsOf(g *gateway.Gateway) Rooms {
	return Rooms{Node: g.Node, Routes: g.Table, Logins: g.Logins, Submitter: g.Requests, Operations: g.Operate}
}

// ask makes a request, whose answer is what the contract says.
func (r *rig) ask(request, body string, headers ...string) apitest.Reply {
	r.client.T.Helper()
	w := r.client.Do(request, body, headers...)
	method, path, _ := strings.Cut(request, " ")
	check(r.client.T, r.contract, method, path, w)
	return w
}

// by returns the API for another client.
func (r *rig) by(name, login string) *rig {
	other := *r
	other.client.Name, other.client.Login = name, login
	return &other
}

// submit submits a message with further members.
func (r *rig) submit(more string) apitest.Reply {
	r.client.T.Helper()
	return r.ask("POST /v1/messages", message(more)).Want(202)
}

func message(more string) string {
	return `{"from":"1234","to":"+46700000001","text":"hello"` + more + `}`
}

// in returns a time from now.
func in(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }

// Requests that cannot be carried out are refused, each with a status and what is wrong.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, ", pull: true", "public_name: operator, long_messages: split8, max_queue: 4", "{to: operator, destination: [46, 080]}")
	const one, preview, batch, stream = "POST /v1/messages", "POST /v1/messages:preview", "POST /v1/batches", "POST /v1/messages:stream"
	to := func(number, text string) string {
		return fmt.Sprintf(`{"from":"1234","to":%q,"text":%q}`, number, text)
	}
	long := strings.Repeat("a", 400)
	for _, c := range []struct {
		request, body, header string
		status                int
		words                 string // one by one
	}{
		{one, to("1", "a"), "", 422, "no-route"},
		{one, to("x", "a"), "", 422, "invalid-message"},
		{one, to("0801234567", "a"), "", 422, "invalid-message /to bad-destination +46701234567"},
		{one, `{"to":"+46700000001","text":"a"}`, "", 422, "invalid-message /from bad-source"},
		{one, strings.Replace(to("46", long), "{", `{"max_parts":2,`, 1), "", 422, "invalid-message"},
		{one, to("46", strings.Repeat(long, 10)), "", 422, "invalid-message"},
		{one, "{", "", 400, "malformed-json"},
		{one, strings.Repeat(`{"a":`, 10_000), "", 400, "malformed-json"},
		{one, message(""), "Content-Type: text/plain", 415, "unsupported-type text/plain"},
		{one, message(""), "Authorization: Bearer x", 401, "unauthenticated"},
		{one, strings.Repeat(" ", 1<<20+1), "", 413, "too-large 1048576"},
		{one, message(""), "Idempotency-Key: " + strings.Repeat("k", 300), 400, "malformed-header"},
		{one, message(`,"callback_url":"http://192.0.2.1/"`), "", 403, "url-not-allowed callback_url"},
		{preview, to("1", "a"), "", 422, "no-route"},
		{preview, `{"to":1}`, "", 422, "invalid-message"},
		{preview, `{"from":"1234","to":"46","text":"` + long + `","max_parts":1}`, "", 422, "invalid-message"},
		{batch, `{"messages":[]}`, "", 422, "invalid-message"},
		{batch, `{"messages":{}}`, "", 422, "invalid-message"},
		{batch, `{"messages":[{]}`, "", 400, "malformed-json"},
		{batch, `{"messages":[` + strings.Repeat("1,", 1000) + `1]}`, "", 422, "invalid-message"},
		{batch, `{"messages":` + strings.Repeat("[", 10_000), "", 400, "malformed-json"},
		{batch, `{"messages":[{}]}`, "Idempotency-Key: " + strings.Repeat("k", 300), 400, "malformed-header"},
		{"GET /v1/messages?x=1", "", "", 400, "malformed-query"},
		{"GET /v1/messages?cursor=x", "", "", 400, "malformed-query"},
		{"GET /v1/messages/x", "", "", 404, "not-found"},
		{"DELETE /v1/messages/1a1fb0c1-2c23-80d4-8001-706d67000000", "", "", 404, "not-found"},
		{"PATCH /v1/messages/0000000000000001", `{"text":1}`, "", 422, "invalid-message"},
		{"PATCH /v1/messages/0000000000000001", `{`, "", 400, "malformed-json"},
		{"PATCH /v1/messages/0000000000000001", `{"text":"a"}`, "Content-Type: text/plain", 415, "unsupported-type"},
		{"GET /v1/events?limit=0", "", "", 422, "invalid-message"},
		{"GET /v1/events?limit=101", "", "", 422, "invalid-message"},
		{"GET /v1/events?limit=x", "", "", 422, "invalid-message"},
		{"GET /v1/events?wait=x", "", "", 422, "invalid-message"},
		{"GET /v1/events?wait=-1s", "", "", 422, "invalid-message"},
		{"GET /v1/events?wait=31s", "", "", 422, "invalid-message 30s"},
		{"POST /v1/events:ack", "{}", "", 422, "invalid-message"},
		{"POST /v1/events:ack", `{"ids":"a"}`, "", 422, "invalid-message"},
		{"POST /v1/events:ack", `{"ids":[],"x":1}`, "", 422, "invalid-message"},
		{"POST /v1/events:ack", `{"ids":["` + strings.Repeat(`","`, 1000) + `"]}`, "", 422, "invalid-message"},
		{"POST /v1/events:ack", strings.Repeat(" ", 64<<10+1), "", 413, "too-large"},
		{"POST /v1/events:ack", "[", "Content-Type: text/plain", 415, "unsupported-type"},
		{"PUT /v1/messages/0000000000000001", "", "", 405, "method-not-allowed GET, PATCH, DELETE"},
		{"DELETE /v1/messages", "", "", 405, "method-not-allowed GET, POST"},
		{"POST /v1/account", "", "", 405, "method-not-allowed GET"},
		{"PUT /v1/nothing", "", "", 404, "not-found /v1/nothing"},
		{"GET /problems/nothing", "", "", 404, "not-found"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{c.header}
		}
		w := r.ask(c.request, c.body, headers...).Want(c.status, strings.Fields(c.words)...)
		if w.Header.Get("Request-Id") == "" || w.Field("instance") != w.Header.Get("Request-Id") {
			t.Errorf("%s: %v", c.request, w.Header)
		}
		if c.status == 401 && len(w.Header.Values("WWW-Authenticate")) != 2 || c.status == 405 && !strings.Contains(c.words, w.Header.Get("Allow")) {
			t.Errorf("%s: %v", c.request, w.Header)
		}
	}
	r.ask(stream, to("x", "a")+"\n{\n\n"+to("1", "a")).Want(200, "invalid-message", "malformed-json", "no-route")
	if !r.SMSC.Idle() || r.Gateway.Table.Connector("api").Stats.Accepted.Load() != 0 {
		t.Error("something was accepted")
	}
	testutil.Eventually(t, "the queue is full", func() bool {
		w := r.ask(one, message(""))
		return w.Status == 503 && strings.Contains(w.Body, "queue-full") && w.Header.Get("Retry-After") != ""
	})
}

// A message is taken with what the client sees of it, and a client asks where it is, lists it, changes it and takes it back.
func TestMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "public_name: operator, long_messages: split8", "{to: operator, destination: 46}", "{system_id: other, password: secret}")
	r.ask("POST /v1/messages:preview", message("")).Want(200, `"parts":1`, "gsm7", `"connector":"operator"`)
	r.ask("POST /v1/messages:preview", strings.Replace(message(""), "hello", strings.Repeat("П", 71), 1)).Want(200, `"parts":2`, "ucs2")
	w := r.submit(`,"client_reference":"r1"`)
	id := w.Field("id")
	w.Want(202, `"state":"queued"`, `"encoding":"gsm7"`, `"client_reference":"r1"`)
	if w.Header.Get("Location") != "/v1/messages/"+id || w.Header.Get("Idempotency-Replayed") != "" {
		t.Error(w.Header)
	}
	one := r.SMSC.Take()
	if m := one.Message; sms.FormatID(m.ID) != id || string(m.Dest().Addr) != "46700000001" || string(m.Text()) != "hello" {
		t.Errorf("%+v", m)
	}
	path := "/v1/messages/" + id
	r.ask("GET "+path, "").Want(200, `"state":"queued"`, `"to":"+46700000001"`, `"from":"1234"`, `"accepted_at":"`)
	r.ask("PATCH "+path, `{"text":"late"}`).Want(409, "not-changeable")
	r.ask("DELETE "+path, "").Want(409, "already-sent", "it is being sent")
	one.Answer(sms.OK, 0, "abc1")
	testutil.Eventually(t, "it is sent", func() bool { return r.ask("GET "+path, "").Field("state") == "sent" })
	r.ask("GET "+path, "").Want(200, `"smsc_id":"abc1"`, `"connector":"operator"`)
	r.ask("PATCH "+path, `{"text":"late"}`).Want(409, "already-sent", "it has left the gateway")
	r.SMSC.Receipt("abc1", sms.StateDelivered)
	testutil.Eventually(t, "it is delivered", func() bool { return r.ask("GET "+path, "").Field("state") == "delivered" })
	r.ask("DELETE "+path, "").Want(409, "already-sent", "it is delivered already")

	later := r.submit(`,"send_at":"` + in(time.Hour) + `"`).Field("id")
	r.ask("GET /v1/messages/"+later, "").Want(200, `"state":"scheduled"`, `"send_at":"`)
	w = r.ask("PATCH /v1/messages/"+later, `{"send_at":"`+in(3*time.Hour)+`","validity":"2h","text":"changed"}`).Want(200, `"state":"scheduled"`)
	if w.Field("send_at") < in(2*time.Hour) || w.Field("expires_at") < in(4*time.Hour) {
		t.Error(w.Body)
	}
	r.ask("PATCH /v1/messages/"+later, `{"send_at":"`+in(600*time.Hour)+`"}`).Want(422, "invalid-message")
	gone := r.submit(`,"send_at":"` + in(time.Hour) + `"`).Field("id")
	r.ask("DELETE /v1/messages/"+gone, "").Want(202, gone, `"state":"deleted"`)
	r.ask("DELETE /v1/messages/"+gone, "").Want(409, "it is deleted already")
	other := r.by("other", "")
	for _, request := range []string{"GET", "DELETE", "PATCH"} {
		other.ask(request+" "+path, `{"text":"a"}`).Want(404, "not-found")
	}
	other.submit("")
	r.SMSC.Accept("abc2")
	r.ask("PATCH /v1/messages/"+later, `{"send_at":"`+in(-time.Hour)+`"}`).Want(200)
	if m := r.SMSC.Take().Message; string(m.Text()) != "changed" {
		t.Errorf("%q", m.Text())
	}

	all := []string{gone, later, id}
	if got := r.listed(""); strings.Join(got, " ") != strings.Join(all, " ") {
		t.Errorf("%q, want %q", got, all)
	}
	for query, want := range map[string]string{"limit=1": gone, "state=delivered": id, "client_reference=r1": id, "limit=3": all[2]} {
		if r.ask("GET /v1/messages?"+query, "").Want(200, want); len(r.listed(query)) != map[bool]int{true: 3, false: 1}[strings.HasPrefix(query, "limit")] {
			t.Errorf("%s: %q", query, r.listed(query))
		}
	}
	r.ask("GET /v1/messages?from=Other", "").Want(200, `{"messages":[]}`)
	r.ask("GET /v1/account", "").Want(200, `"account":"shop"`, `"accepted":3`, `"cancelled":1`, `"failed":0`)
}

// listed walks over the pages of a list by their links, and returns the ids.
func (r *rig) listed(query string) (ids []string) {
	r.client.T.Helper()
	for path := "/v1/messages?" + query; path != ""; {
		w := r.ask("GET "+path, "").Want(200)
		for _, part := range strings.Split(w.Body, `{"id":"`)[1:] {
			ids = append(ids, part[:16])
		}
		link := w.Header.Get("Link")
		if (link == "") != (w.Field("next_cursor") == "") || !strings.Contains(link, w.Field("next_cursor")) {
			r.client.T.Errorf("%s: link %q", w.Body, link)
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	}
	return ids
}

// A connector without a public name is not seen, neither are the SMSC's ids. Long texts are one message.
func TestUnseen(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "long_messages: split8", "")
	if w := r.ask("POST /v1/messages:preview", message("")).Want(200); strings.Contains(w.Body, "operator") {
		t.Error(w.Body)
	}
	w := r.ask("POST /v1/messages", strings.Replace(message(""), "hello", strings.Repeat("a", 400), 1)).Want(202, `"parts":3`)
	for i := range 3 {
		r.SMSC.Accept(fmt.Sprint("5ec7e7", i))
	}
	path := "/v1/messages/" + w.Field("id")
	testutil.Eventually(t, "it is sent", func() bool { return r.ask("GET "+path, "").Field("state") == "sent" })
	for _, path := range []string{path, "/v1/messages"} {
		if w := r.ask("GET "+path, "").Want(200, `"parts":3`); strings.Contains(w.Body, "operator") || strings.Contains(w.Body, "5ec7e7") {
			t.Error(w.Body)
		}
	}
}

// A request that comes again with its key, or a message with its reference, is answered as the first was; so is a batch.
func TestOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "", "")
	const batch = `{"from":"1234","messages":[{"to":"46700000001","text":"one"},{"to":"x","text":"two"},{"to":"46700000002","text":"three","from":"Shop"},{"text":"four"}]}`
	for _, c := range [][3]string{
		{"POST /v1/messages", message(""), `Idempotency-Key: "k1"`},
		{"POST /v1/messages", message(`,"client_reference":"r1","deduplicate":true`), "X: y"},
		{"POST /v1/batches", batch, "Idempotency-Key: k2"},
	} {
		first := r.ask(c[0], c[1], c[2])
		again := r.ask(c[0], c[1], c[2])
		if first.Header.Get("Idempotency-Replayed") != "" || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %v, then %v", c[0], first.Header, again.Header)
		}
		if a, b := strings.Split(first.Body, `"id":"`), strings.Split(again.Body, `"id":"`); len(a) != len(b) || a[1][:16] != b[1][:16] || first.Status > 202 {
			t.Errorf("%s, then %s", first.Body, again.Body)
		}
	}
	r.ask("POST /v1/messages", message(`,"validity":"1h"`), "Idempotency-Key: k1").Want(422, "idempotency-mismatch", "had another body")
	r.ask("POST /v1/batches", batch+" ", "Idempotency-Key: k2").Want(422, "idempotency-mismatch")
	r.ask("POST /v1/batches", batch).Want(200, `"accepted":2,"refused":2`, `"pointer":"/messages/3/to"`, `"from":"Shop"`)
	for range 2 + 2*2 {
		r.SMSC.Accept("")
	}
	if r.Settled(); !r.SMSC.Idle() {
		t.Error("a message came twice")
	}
}

// Each line of a stream is a message, answered by a line, in order; lines that are refused do not end it.
func TestStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "", "")
	const n = 2*atOnce + 10
	var body strings.Builder
	for i := range n {
		fmt.Fprintln(&body, message(fmt.Sprintf(`,"client_reference":"r%d","deduplicate":%t`, i, i == 0)))
	}
	body.WriteString("{\n\n" + `{"to":"x","text":"a","client_reference":"bad"}` + "\n" + message(`,"client_reference":"r0","deduplicate":true`))
	go func() {
		for range n {
			r.SMSC.Accept("")
		}
	}()
	w := r.ask("POST /v1/messages:stream", body.String(), "Content-Type: application/x-ndjson").Want(200)
	lines := strings.Split(strings.TrimSpace(w.Body), "\n")
	if len(lines) != n+3 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines[:n] {
		if !strings.Contains(line, fmt.Sprintf(`"client_reference":"r%d"`, i)) || !strings.Contains(line, `"state":"queued"`) {
			t.Fatalf("line %d: %s", i, line)
		}
	}
	if !strings.Contains(lines[n], "malformed-json") || !strings.Contains(lines[n+1], `"client_reference":"bad"`) || lines[n+2][:30] != lines[0][:30] {
		t.Errorf("%q", lines[n:])
	}
	r.Settled()
}

// A program uses the API with a key of its account, for what the key is for. What is left of a rate is in each answer, and who goes
// beyond it is refused.
func TestAccounts(t *testing.T) {
	t.Parallel()
	key := func(name, more string) string {
		return fmt.Sprintf(`{name: %s, hash: "sha256:%x"%s}`, name, sha256.Sum256([]byte("pmg_"+name)), more)
	}
	others := []string{"{system_id: fast, password: secret, rate: 10, burst: 5}", "{system_id: mo, password: secret, bind: [receiver], keys: [" + key("mo", "") + "]}"}
	keys := []string{
		key("all", ""), key("send", ", scopes: [send]"), key("read", ", scopes: [read], expires: 2099-12-31"),
		key("far", ", networks: [192.0.2.0/24]"), key("old", ", expires: 2026-01-01"),
	}
	r := newRig(t, ", pull: true, keys: ["+strings.Join(keys, ", ")+"]", "", "", others...)
	with := func(name string, send, read int) {
		t.Helper()
		k := r.by("", "bearer pmg_"+name)
		k.ask("POST /v1/messages", message("")).Want(send)
		k.ask("GET /v1/account", "").Want(read)
		k.ask("GET /v1/events", "").Want(read)
	}
	for name, want := range map[string][2]int{
		"all": {202, 200}, "send": {202, 403}, "read": {403, 200}, "none": {401, 401}, "far": {401, 401}, "old": {401, 401}, "mo": {401, 401},
	} {
		with(name, want[0], want[1])
	}
	r.Reload(apitest.YAML("{system_id: shop, password: secret, keys: ["+keys[2]+"]}, "+strings.Join(others, ", "), "", "", ""))
	with("all", 401, 401)
	r.by("", "Bearer pmg_read").ask("GET /v1/events", "").Want(403, "pull is false")
	if log := r.Log.String(); !strings.Contains(log, "a key was refused") || strings.Contains(log, "pmg_") {
		t.Error(log)
	}
	if w := r.ask("GET /v1/account", "").Want(200); w.Header.Get("RateLimit") != "" {
		t.Error(w.Header)
	}
	fast := r.by("fast", "")
	w := fast.ask("GET /v1/account", "").Want(200, `"rate":10,"burst":5`)
	if left := w.Header.Get("RateLimit"); w.Header.Get("RateLimit-Policy") != `"account";q=10;w=1` || left != `"account";r=5;t=0` {
		t.Error(w.Header)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 30 {
		all.Go(func() {
			if w := fast.ask("POST /v1/messages", message("")); w.Status == 429 && w.Header.Get("Retry-After") != "" {
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	if all.Wait(); refused == 0 {
		t.Error("no rate is kept")
	}
}

// The contract and the kinds of problems can be read, by programs and by people, without a login.
func TestPages(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "", "").by("", "")
	r.ask("GET /v1/openapi.json", "").Want(200, `"openapi": "3.1.0"`)
	var words []string
	for path := range r.contract.Paths {
		words = append(words, path+"</code>")
	}
	for event := range r.contract.Webhooks {
		words = append(words, "<code>"+event+"</code>")
	}
	for name := range r.contract.Components.Schemas {
		words = append(words, `<h3 id="`+name+`">`)
	}
	r.client.Do("GET /v1/docs", "").Want(200, words...)
	for _, k := range own.Kinds() {
		w := r.client.Do("GET /problems/"+k.Name, "").Want(200, k.Name, fmt.Sprint("status ", k.Status), map[bool]string{true: "(Retry-After)", false: "not succeed later"}[k.Retry > 0])
		if !strings.HasPrefix(w.Header.Get("Content-Type"), "text/html") {
			t.Error(w.Header)
		}
	}
}
