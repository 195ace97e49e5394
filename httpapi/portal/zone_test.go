package portal

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/config"
)

// The times of the pages are those of the account's zone, which they name, and so are the times that people write. Those of another
// account are its own.
func TestZoneOfPages(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.SendScope)
	w := b.post("send", "from", "Shop", "to", "+46700000001", "text", "hello")
	page := strings.TrimPrefix(w.header.Get("Location"), Base)
	if w.code != 303 {
		t.Fatalf("%+v", w)
	}
	r.SMSC.Accept("s1")
	r.Settled()
	accepted := func(path, zone string) time.Time {
		t.Helper()
		text := regexp.MustCompile(`<td>(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)</td>`).FindStringSubmatch(b.has(path, "imes are "+zone).body)
		if text == nil {
			t.Fatalf("%s has no time", path)
		}
		at, err := time.Parse(time.DateTime, text[1])
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	inUTC := accepted("messages", "UTC")
	r.Reload(strings.Replace(r.yaml, "{system_id: shop,", "{system_id: shop, timezone: Asia/Kolkata,", 1))
	const ahead = 5*time.Hour + 30*time.Minute
	for _, path := range []string{"messages", page} {
		if at := accepted(path, "Asia/Kolkata"); at.Sub(inUTC) != ahead {
			t.Errorf("%s: %s, in UTC %s", path, at, inUTC)
		}
	}
	at := func(d time.Duration) string {
		return url.QueryEscape(inUTC.Add(ahead + d).Format("2006-01-02 15:04:05"))
	}
	b.has("messages?since="+at(-time.Minute)+"&until="+at(time.Minute), page, "a time in Asia/Kolkata")
	b.has("messages?since="+at(time.Minute), "No message")
	b.has("messages?until="+at(-time.Minute), "No message")
	b.has("messages?since="+url.QueryEscape(inUTC.Add(-time.Minute).Format(time.RFC3339)), page)
	r.user("rival", config.LookScope).has("messages", "a time in UTC")
}
