package v1

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"pmg/gateway/operate"
	"pmg/gateway/request"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/protocols"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
	"pmg/store"
)

// A request that cannot be carried out is answered with what the client can do about it.
func TestDetails(t *testing.T) {
	t.Parallel()
	g := apitest.NewGateway(t, io.Discard)
	l, err := server.Listen(listenerRooms(g), g.Table.Connector("api"), nil, body.NewRoom(&g.Node.Memory), nil, func(l *server.Listener) http.Handler {
		m := http.NewServeMux()
		New(roomsOf(g), nil, nil).Routes(l, m)
		return m
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Serve()
	t.Cleanup(l.Close)
	for _, c := range []struct {
		method, path, login, kind, detail string
	}{
		{"GET", "/v1/account", "", "unauthenticated", "send the header Authorization"},
		{"GET", "/v1/account", "Bearer pmg_wrong", "unauthenticated", ""},
		{"GET", "/v1/messages/0000000000000001", "Basic Y2xpZW50OnNlY3JldA==", "not-found", "has this id"},
		{"DELETE", "/v1/messages/0000000000000001", "Basic Y2xpZW50OnNlY3JldA==", "not-found", "has this id"},
		{"PATCH", "/v1/messages/0000000000000001", "Basic Y2xpZW50OnNlY3JldA==", "not-found", "has this id"},
		{"PATCH", "/v1/messages/x", "Basic Y2xpZW50OnNlY3JldA==", "not-found", "has this id"},
		{"GET", "/v1/messages?status=delivered", "Basic Y2xpZW50OnNlY3JldA==", "malformed-query", "state is"},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), c.method, "http://"+l.Addresses()[0].String()+c.path, strings.NewReader(`{"text":"a"}`))
		if c.login != "" {
			r.Header.Set("Authorization", c.login)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var p own.Problem
		err = json.NewDecoder(w.Body).Decode(&p)
		w.Body.Close()
		if err != nil || p.Type != "/problems/"+c.kind || !strings.Contains(p.Detail, c.detail) || c.detail == "" && p.Detail != "" {
			t.Errorf("%s %s: %+v %v", c.method, c.path, p, err)
		}
	}
	if p := refusal(&request.Result{Err: request.ErrOther}); p.Type != "/problems/idempotency-mismatch" || p.Detail == "" {
		t.Errorf("%+v", p)
	}
}

// A message that cannot be cancelled or changed any more is said to have left only if it has.
func TestTooLate(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]*operate.Known{
		"it is being sent":        {Waits: &sms.Message{}},
		"it has left the gateway": {Left: &store.Mapping{By: []byte("operator")}, Result: protocols.Result{State: sms.StateEnroute}},
		"it is deleted already":   {Left: &store.Mapping{}, Result: protocols.Result{State: sms.StateDeleted}},
		"it is delivered already": {Left: &store.Mapping{By: []byte("operator")}, Result: protocols.Result{State: sms.StateDelivered}},
	} {
		if p := tooLate(o); p.Type != "/problems/already-sent" || p.Status != http.StatusConflict || p.Detail != want || strings.Contains(p.Title, "left") {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}
