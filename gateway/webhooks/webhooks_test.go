package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

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
	one.Rests(s.Webhooks.node.Clock.Now() + int64(time.Hour))
	one.Rests(s.Webhooks.node.Clock.Now() + int64(time.Minute))
	r := s.Rows("shop")[0]
	if r.UnderWay != 1 || r.Failures != 1 || r.Failed != 2 || r.LastFailure == nil || r.LastSuccess != nil || r.LastError != "has a URL that cannot be called" {
		t.Errorf("%+v", r)
	}
	if r.RestsUntil == nil || r.RestsUntil.UnixNano() < s.Webhooks.node.Clock.Wall(s.Webhooks.node.Clock.Now()+int64(30*time.Minute)) {
		t.Errorf("rests until %v", r.RestsUntil)
	}
	one.End(Result{Taken: true})
	if r = s.Rows("")[0]; r.Failures != 0 || r.Succeeded != 1 || r.UnderWay != 0 {
		t.Errorf("%+v", r)
	}
	one.Rests(0)
	if got := s.Rows("other"); len(got) != 0 {
		t.Errorf("%+v", got)
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
