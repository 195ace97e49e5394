package web

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"pmg/admin"
	"pmg/admin/history"
	"pmg/config"
	"pmg/internal/testkit/chrome"
)

// busy counts some traffic on connectors, and makes samples of it. It returns the time of the last.
func busy(s *admin.Server, at time.Time, samples int) time.Time {
	in, out := s.Gateway().Table.Connector("clients").Stats, s.Gateway().Table.Connector("operator").Stats
	for i := range samples {
		in.Accepted.Add(int64(1000 + 10*(i%60)))
		out.Sent.Add(int64(900 + 12*(i%60)))
		out.Queued.Store(int64(i % 100))
		for range 20 {
			out.Answer.Observe(int64(3*time.Millisecond) + int64(i)*int64(50*time.Microsecond))
		}
		at = at.Add(history.Period)
		s.History().Sample(at)
	}
	return at
}

// The charts of the last hour are drawn, move with the page's stream, name their latest values, and take on the colors that the
// browser asks for. Nothing of that is refused by the policy of the pages.
func TestCharts(t *testing.T) {
	t.Parallel()
	b := chrome.Start(t)
	s := startServer(t)
	at := busy(s, time.Now(), 30)
	run := b.Do
	var drawn, moved string
	picture := func(to *string) chromedp.Action {
		return chromedp.Evaluate(`document.querySelector('.charts canvas').toDataURL()`, to)
	}
	run(chromedp.Navigate("http://" + s.Addr() + "/ui/"))
	b.LogIn(config.LookScope, password)
	run(chromedp.WaitVisible(`.charts [role=img][aria-label*="Now: in 129, out 125, receipts 0"]`), picture(&drawn))
	busy(s, at, 10)
	run(chromedp.WaitVisible(`.charts [role=img][aria-label*="Now: in 109, out 101, receipts 0"]`), chromedp.WaitVisible(`.charts [aria-label*="Now: queued 9, for clients 0."]`), picture(&moved))
	run(inColors("dark"),
		chromedp.Poll(`document.querySelector('.charts canvas')?.toDataURL() !== "`+moved+`"`, nil), chromedp.WaitVisible(`.charts [role=img][aria-label*="Now: in 109"]`))
	if len(drawn) < 1000 || drawn == moved {
		t.Errorf("pictures of %d and %d octets", len(drawn), len(moved))
	}
	b.Silent()
}
