package admin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/admin/access"
	"pmg/config"
	"pmg/events/stats"
	"pmg/internal/token"
	"pmg/internal/turns"
)

// Sums are answered as JSON and as CSV, to those who may look, and a question that makes no sense is refused.
func TestStatistics(t *testing.T) {
	t.Parallel()
	cfg := parse(t, clientsOnly, t.TempDir())
	cfg.Events.Dir, cfg.Stats.Dir = filepath.Join(t.TempDir(), "events"), t.TempDir()
	c, err := stats.Open(cfg.Stats.Dir, 0, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().UTC().Format(time.DateOnly)
	for n, account := range []string{"acme", "acme", "<b>"} {
		line := fmt.Sprintf(
			`{"number":%d,"kind":"submit","state":"failed","reason":"throttled","account":%q,"to_connector":"smsc","ended_at":"%sT00:00:00.000000Z"}`+"\n",
			n+1, account, today,
		)
		if err := c.Count([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Save(true); err != nil {
		t.Fatal(err)
	}
	r := start(t, cfg, false)
	r.setTokens([]config.Token{{Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope}})
	for _, q := range []struct {
		path string
		code int
		has  string
	}{
		{"stats", 200, `"day":"` + today + `"`},
		{"stats?by=account,connector&day=today", 200, `"account":"acme","charged":"0.00","connector":"smsc"`},
		{"stats?account=acme", 200, `"reasons":{"throttled":2}`},
		{"stats?account=nobody", 200, "[]"},
		{"stats?by=account&format=csv", 200, "account,messages,accepted,sent"},
		{"stats?day=yesterday", 200, "[]"},
		{"stats?by=color", 400, "cannot group by"},
		{"stats?day=soon", 400, "cannot read the day"},
		{"stats?day=today&month=2026-11", 400, "only one of these"},
		{"stats?from=2026-11-02&to=2026-11-01", 400, "before the first"},
	} {
		if code, body := r.ask("pmg_look", q.path); code != q.code || !strings.Contains(body, q.has) {
			t.Errorf("%s: %d %s", q.path, code, body)
		}
	}
}

// Statistics and searches have places of their own. Those of statistics are shared by callers, wherever they ask from.
func TestStatisticsPlaces(t *testing.T) {
	t.Parallel()
	cfg := parse(t, clientsOnly, t.TempDir())
	cfg.Stats.Dir = t.TempDir()
	r := start(t, cfg, false)
	s := r.admin.searcher
	want := func(path string, code int) {
		t.Helper()
		if got, body := r.ask(testToken, path); got != code {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	for range mostSearches {
		s.places <- struct{}{}
	}
	want("messages", 503)
	want("stats", 200)
	<-s.places
	s.sums = turns.NewPauses(0, 0)
	want("messages", 200)
	want("stats", 503)
	want("stats?format=csv", 503)
	c := access.Caller{Token: "looker", From: "192.0.2.1:1"}
	if other := (access.Caller{Login: "looker", From: c.From}); c.Owner() != (access.Caller{Token: "looker"}).Owner() || c.Owner() == other.Owner() {
		t.Error(c.Owner(), other.Owner())
	}
}
