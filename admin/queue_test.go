package admin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pmg/gateway/operate"
)

// A query is read as it was written.
func TestQueueQuery(t *testing.T) {
	t.Parallel()
	q := QueueQuery{From: 7, Limit: 9, Selection: operate.Selection{
		IDs: []uint64{1, 0x1a1fb0c12c230d41}, Connector: "a b", Account: "ü&", Dest: "+46", Older: 90 * time.Minute, State: operate.StateParked, Text: true, UpTo: 99,
		Delivery: "delivered", Since: time.Unix(7, 9).UTC(), Until: time.Unix(8, 0).UTC(),
	}}
	r, err := http.NewRequest(http.MethodGet, "/admin/v1/queue?"+q.Values().Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := queueQueryOf(r)
	if want := q.Values().Encode(); err != nil || got.Values().Encode() != want {
		t.Errorf("got %s, error %v, want %s", got.Values().Encode(), err, want)
	}
}

// Requests about the store that cannot be served are refused in words. A web page of
// another site may change nothing.
func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), false)
	for _, c := range []struct {
		method, path, origin string
		code                 int
		body                 string
	}{
		{"GET", "/admin/v1/queue?id=7", "", 400, `"7" is not the id of a message`},
		{"GET", "/admin/v1/queue?older=long", "", 400, "cannot list messages: "},
		{"GET", "/admin/v1/queue?limit=x", "", 400, "cannot list messages: "},
		{"GET", "/admin/v1/queue/delete", "", 405, ""},
		{"POST", "/admin/v1/queue/delete", "http://elsewhere.example", 403, ""},
		{"POST", "/admin/v1/queue/burn", "", 404, ""},
		{"GET", "/admin/v1/store/backup", "", 405, ""},
		{"POST", "/admin/v1/store/backup?name=monday", "", 409, "the configuration has no store.backups"},
	} {
		q, err := http.NewRequest(c.method, r.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.origin != "" {
			q.Header.Set("Origin", c.origin)
		}
		a, err := client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		_ = a.Write(&body)
		a.Body.Close()
		if a.StatusCode != c.code || !strings.Contains(body.String(), c.body) {
			t.Errorf("%s %s: got %d %s", c.method, c.path, a.StatusCode, body.String())
		}
	}
}
