package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/roomtest"
)

// A site is Webhooks and what reaches the servers of its clients.
type site struct {
	*Webhooks
	now time.Time
}

func newSite(t *testing.T) *site {
	s := &site{Webhooks: New(roomtest.New(t, roomtest.Operator("")).Node), now: time.Unix(1_700_000_000, 0)}
	s.Webhooks.node.Clock.WallClock = func() time.Time { return s.now }
	return s
}

// server returns a server that was not known yet.
func (s *site) server(account, endpoint string) *Server {
	return s.Server(&connector.Lane{Client: connector.Client{Account: account, Endpoint: endpoint}})
}

// Of each server the last hundred attempts are remembered, the newest first.
func TestAttempts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.server("shop", "https://a"), s.server("shop", "https://b")
	for i := range 250 {
		s.now = s.now.Add(time.Second)
		a.Tried(Attempt{Event: fmt.Sprint("e", i), ID: fmt.Sprint(i % 10), Reply: "private"})
	}
	s.now = s.now.Add(time.Second)
	b.Tried(Attempt{Event: "of b", ID: "3"})
	for _, c := range []struct {
		name  string
		f     Filter
		n     int
		first string
	}{
		{"all", Filter{Limit: 1000}, 101, "of b"},
		{"those of a server", Filter{Account: "shop", Endpoint: "https://a", Limit: 1000}, 100, "e249"},
		{"of a message", Filter{ID: "3", Limit: 1000}, 11, "of b"},
		{"of an event", Filter{ID: "e160", Limit: 1000}, 1, "e160"},
		{"of one that was forgotten", Filter{ID: "e149", Limit: 1000}, 0, ""},
		{"of another account", Filter{Account: "other", Limit: 1000}, 0, ""},
		{"a few", Filter{Limit: 3}, 3, "of b"},
	} {
		got := s.Attempts(c.f)
		if len(got) != c.n || c.n > 0 && got[0].Event != c.first {
			t.Errorf("%s: got %d %+v", c.name, len(got), got[:min(1, len(got))])
		}
		for i := range got {
			if i > 0 && got[i].At.After(got[i-1].At) || got[i].Reply != "" {
				t.Fatalf("%s: %+v", c.name, got[i])
			}
		}
	}
	if got := s.Attempts(Filter{Limit: 2, Replies: true}); got[1].Reply != "private" {
		t.Errorf("%+v", got)
	}
	got := s.Attempts(Filter{Endpoint: "https://a", Limit: 3})
	if len(got) != 3 || got[0].Event != "e249" || got[1].Event != "e248" || got[2].Event != "e247" {
		t.Errorf("the last three are %+v", got)
	}
	if got[0].Account != "shop" || got[0].Endpoint != "https://a" || !got[0].At.Equal(s.now.Add(-time.Second)) {
		t.Errorf("%+v", got[0])
	}
	for _, limit := range []int{0, -1} {
		if got := s.Attempts(Filter{Limit: limit}); len(got) != 0 {
			t.Errorf("limit %d: %d attempts", limit, len(got))
		}
	}
}

// However many servers there are, those that were called last alone have attempts, and all of them are listed.
func TestServersAreMany(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stays := s.server("shop", "https://stays")
	for i := range 3 * mostRemembered {
		s.server("shop", fmt.Sprint("https://h", i)).Tried(Attempt{ID: "1"})
		stays.Tried(Attempt{ID: "2"})
	}
	if got := len(s.Attempts(Filter{ID: "1", Limit: 1 << 20})); got != mostRemembered-1 {
		t.Errorf("%d attempts", got)
	}
	if got := len(s.Attempts(Filter{ID: "2", Limit: 1 << 20})); got != mostAttempts {
		t.Errorf("%d attempts", got)
	}
	if got := len(s.Rows("")); got != 3*mostRemembered+1 {
		t.Errorf("%d servers", got)
	}
	for i := range 3 * mostRemembered {
		if got, last := len(s.Attempts(Filter{ID: "1", Endpoint: fmt.Sprint("https://h", i), Limit: 1})), i > 2*mostRemembered; last != (got == 1) {
			t.Errorf("server %d has %d attempts", i, got)
		}
	}
	again := s.all("shop", "https://h0")[0] // its attempts were dropped
	for i := range 3 {
		again.Tried(Attempt{ID: "3", Event: fmt.Sprint("again ", i)})
	}
	if got := s.Attempts(Filter{ID: "3", Limit: 1}); len(got) != 1 || got[0].Event != "again 2" {
		t.Errorf("the last attempt is %+v", got)
	}
}

// A server that is called again keeps its attempts, also if it was the next to lose them.
func TestCalledAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.server("shop", "https://first")
	first.Tried(Attempt{ID: "1"})
	for i := range mostRemembered - 1 {
		s.server("shop", fmt.Sprint("https://h", i)).Tried(Attempt{ID: "2"})
	}
	first.Tried(Attempt{ID: "1"})
	s.server("shop", "https://new").Tried(Attempt{ID: "3"})
	for id, want := range map[string]int{"1": 2, "2": mostRemembered - 2, "3": 1} {
		if got := len(s.Attempts(Filter{ID: id, Limit: 1 << 20})); got != want {
			t.Errorf("%s: %d attempts, want %d", id, got, want)
		}
	}
}

// What an attempt shows of an answer can be printed, and is short.
func TestHostileAttempt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.server("shop", "https://a").Tried(Attempt{Error: "a\x1b[2J", Reply: strings.Repeat("\x00", 1<<20)})
	if a := s.Attempts(Filter{Limit: 1, Replies: true})[0]; a.Error != "a.[2J" || a.Reply != strings.Repeat(".", mostReply) {
		t.Errorf("%q, %d octets", a.Error, len(a.Reply))
	}
}

// A row shows how a webhook answers.
func TestRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.server("shop", "https://a")
	one.Begin()
	one.Begin()
	one.End(Result{Error: "refused\nthe connection", Counted: true})
	one.Begin()
	one.End(Result{Error: "has a URL that cannot be called"})
	rest := s.Webhooks.node.Clock.Now() + int64(time.Hour)
	one.Rests(rest)
	one.Rests(s.Webhooks.node.Clock.Now() + int64(time.Minute))
	r := s.Rows("shop")[0]
	if r.UnderWay != 1 || r.Failures != 1 || r.Failed != 2 || r.LastFailure == nil || r.LastSuccess != nil || r.LastError != "has a URL that cannot be called" {
		t.Errorf("%+v", r)
	}
	if r.RestsUntil == nil || !r.RestsUntil.Equal(time.Unix(0, s.Webhooks.node.Clock.Wall(rest))) {
		t.Errorf("rests until %v", r.RestsUntil)
	}
	one.End(Result{Taken: true})
	if r = s.Rows("")[0]; r.Failures != 0 || r.Succeeded != 1 || r.UnderWay != 0 {
		t.Errorf("%+v", r)
	}
	if r.Oldest != nil || !r.LastSuccess.Equal(s.now) || r.Fallback {
		t.Errorf("%+v", r)
	}
	one.Begin()
	one.End(Result{Counted: true})
	one.Begin()
	one.End(Result{Counted: true, Fallback: true})
	one.Begin()
	one.End(Result{Taken: true, Fallback: true})
	if r = s.Rows("")[0]; r.Failures != 1 || one.Failures() != 1 || r.Succeeded != 2 || r.Failed != 4 || !r.Fallback || r.LastError != "" {
		t.Errorf("what the fallback answers: %+v", r)
	}
	past := s.server("past", "https://a")
	past.Rests(1)
	if r = s.Rows("past")[0]; r.RestsUntil != nil {
		t.Errorf("a rest that is over: %v", r.RestsUntil)
	}
	if got := s.Rows("other"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A caller counts what it is called for.
type caller struct{ follows, retries int }

func (c *caller) Follow() { c.follows++ }
func (c *caller) Retry()  { c.retries++ }

// A server that is disabled is not called until an operator enables it, whatever waits. Problems say what to do.
func TestDisable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var log strings.Builder
	s.node.Log = zerolog.New(&log)
	a, b := s.server("shop", "https://a"), s.server("shop", "https://b")
	var c caller
	a.CalledBy(&c)
	a.lane.Queued.Add(3)
	a.End(Result{Counted: true})
	if got := s.Enable("", "ann"); len(got) > 0 || len(s.Problems()) > 0 || a.Failures() != 1 {
		t.Errorf("enabled %q, %q, %d failures", got, s.Problems(), a.Failures())
	}
	if !a.Disable() || a.Disable() || !a.IsDisabled() || b.IsDisabled() {
		t.Error("the one server is not disabled, or twice, or the other is too")
	}
	disabled := s.now
	s.now = s.now.Add(time.Hour)
	a.Disable()
	if r := s.Rows("shop")[0]; r.Disabled == nil || !r.Disabled.Equal(disabled) {
		t.Errorf("%+v", r)
	}
	want := "the webhook of account shop at https://a is not called any more, because it has answered 410 Gone: 3 events wait; pmg webhooks enable shop has it called again"
	if got := s.Problems(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	if got := s.Retry("shop", "ann"); len(got) > 0 || c.retries > 0 {
		t.Errorf("called %q", got)
	}
	if got := s.Enable("other", "ann"); len(got) > 0 {
		t.Errorf("enabled %q", got)
	}
	b.Disable() // nothing calls it now
	if got := s.Enable("shop", "ann"); !slices.Equal(got, []string{"https://a", "https://b"}) || c.follows != 1 || a.Failures() != 0 || a.IsDisabled() || b.IsDisabled() {
		t.Errorf("enabled %q, %+v, %d failures", got, c, a.Failures())
	}
	if text := log.String(); strings.Count(text, `"operator":"ann"`) != 2 || !strings.Contains(text, `"endpoint":"https://a"`) {
		t.Error(text)
	}
}

// An operator's wish for a call ends the rest of the servers for which events wait.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b, c := s.server("shop", "https://a"), s.server("shop", "https://b"), s.server("other", "https://c")
	var calls caller
	for _, one := range []*Server{a, b, c} {
		one.CalledBy(&calls)
		one.Rests(s.node.Clock.Now() + int64(time.Hour))
	}
	a.lane.Queued.Add(1)
	c.lane.Queued.Add(1)
	s.server("shop", "https://d").lane.Queued.Add(1) // nothing calls it
	if got := s.Retry("shop", "ann"); !slices.Equal(got, []string{"https://a"}) || calls.retries != 1 || calls.follows != 0 {
		t.Errorf("called %q, %+v", got, calls)
	}
	for _, r := range s.Rows("") {
		if rests := r.Endpoint == "https://b" || r.Endpoint == "https://c"; rests != (r.RestsUntil != nil) {
			t.Errorf("%+v", r)
		}
	}
}

// A service counts the lanes that it serves, and tests as the test says.
type service struct {
	served []*connector.Lane
	err    error
}

func (s *service) Serve(l *connector.Lane) { s.served = append(s.served, l) }

func (s *service) Test(context.Context, string, bool) (Attempt, error) {
	return Attempt{Status: 204, Error: "a\nb", Reply: "c\x00"}, s.err
}

// Lanes are served, also those that were made before the service began. A test is made by the service, if there is one.
func TestService(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, second := &connector.Lane{}, &connector.Lane{}
	s.Serve(first)
	if _, err := s.Test(t.Context(), "shop", false); err == nil || err.Error() != "cannot test webhook: nothing calls webhooks here" {
		t.Error(err)
	}
	var v service
	s.Begin(&v)
	s.Serve(second)
	if !slices.Equal(v.served, []*connector.Lane{first, second}) {
		t.Errorf("%d lanes are served", len(v.served))
	}
	a, err := s.Test(t.Context(), "shop", true)
	if want := (Attempt{At: s.now.UTC(), Account: "shop", Status: 204, Fallback: true, Error: "a.b", Reply: "c."}); err != nil || a != want {
		t.Errorf("%+v, %v; want %+v", a, err, want)
	}
	v.err = errors.New("no such account")
	if _, err := s.Test(t.Context(), "shop", true); !errors.Is(err, v.err) || !strings.HasPrefix(err.Error(), "cannot test webhook: ") {
		t.Error(err)
	}
}

// What servers answer may be hostile.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"ok", "ok"},
		{"a\x1b[2J\r\n\x00b", "a.[2J...b"},
		{"\xff\xfe\u202eå", "...å"},
		{strings.Repeat("å", 5) + "x", "åååå"},
		{"1234567😀", "1234567"},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "......"},
	} {
		if got := printable(c.text, 9); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2J", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most &= 0xff
		got := printable(text, most)
		if len(got) > most || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
