package portal

import (
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/protocols/httpsms/own"
)

// A message and a mailing leave at the time of the form, which is in the zone of the account. A time that has passed, or is none,
// sends nothing.
func TestSendLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(", timezone: Asia/Kolkata"), "", "")
	b := r.user("shop", config.SendScope)
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().In(zone).Add(3 * time.Hour).Truncate(time.Minute)
	typed, shown := at.Format("2006-01-02T15:04"), at.Format("2006-01-02 15:04:05")
	form := func(at string, more ...string) []string {
		return append([]string{"from", "Shop", "to", "+46700000001", "text", "later", "at", at}, more...)
	}
	for _, wrong := range []string{"tomorrow", "10m", time.Now().In(zone).Add(-time.Hour).Format("2006-01-02T15:04")} {
		if w := b.post("send", form(wrong)...); w.code != 422 || !strings.Contains(w.body, "The time must be") {
			t.Errorf("%s: %+v", wrong, w)
		}
		if w := b.mailAt(wrong, "to\n+46700000002", "later"); w.code != 422 || !strings.Contains(w.body, "The time must be") {
			t.Errorf("%s: %+v", wrong, w)
		}
	}
	if w := b.post("send", form(typed, "preview", "1")...); w.code != 200 || !strings.Contains(w.body, "not before "+shown+" (Asia/Kolkata)") ||
		!strings.Contains(w.body, `name="at" value="`+typed+`"`) {
		t.Errorf("%+v", w)
	}
	w := b.post("send", form(typed)...)
	page := strings.TrimPrefix(w.header.Get("Location"), Base)
	if w.code != 303 {
		t.Fatalf("%+v", w)
	}
	b.has(page, own.Scheduled)
	w = b.mailAt(typed, "to\n+46700000002\n+46700000003", "later")
	page = strings.TrimPrefix(w.header.Get("Location"), Base)
	if body := b.until(page, "Send to 2 recipients"); !strings.Contains(body, shown) {
		t.Errorf("without %s: %s", shown, body)
	}
	b.post(page, "send", "1")
	b.until(page, "<dd>ended</dd>")
	b.has(page, "<dt>accepted</dt><dd>2</dd>")
	if n := strings.Count(b.get("messages").body, "<td>"+own.Scheduled+"</td>"); n != 3 {
		t.Errorf("%d messages are scheduled: %s", n, b.get("messages").body)
	}
	if !r.SMSC.Idle() {
		t.Error("a message has left before its time")
	}
}

// Rows of a mailing whose turn comes after its time leave immediately. A user who presses Send long after it sends nothing.
func TestMailingLate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := newMailing("shop", "", "a", now, nil, recipients{})
	if at := m.readAt(now.Add(time.Hour)); !at.Equal(now) {
		t.Errorf("it counts as read at %s", at)
	}
	if at := m.readAt(now.Add(-time.Hour)); !at.Equal(now.Add(-time.Hour)) {
		t.Errorf("it counts as read at %s", at)
	}
	for _, c := range []struct {
		after time.Duration
		late  bool
	}{{-time.Hour, false}, {lateTime, false}, {lateTime + 1, true}} {
		if m.isLate(now.Add(c.after)) != c.late {
			t.Errorf("after %s it is late: %v", c.after, !c.late)
		}
	}
	if newMailing("shop", "", "a", time.Time{}, nil, recipients{}).isLate(now) {
		t.Error("a mailing without a time is late")
	}
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.SendScope)
	w := b.mailAt(now.Add(time.Hour).UTC().Format("2006-01-02T15:04"), "to\n+46700000002", "later")
	page := strings.TrimPrefix(w.header.Get("Location"), Base)
	b.until(page, "Send to 1 recipient")
	one := r.site.portal.mailings.find("shop", strings.TrimPrefix(page, "mailing/"))
	one.at = now.Add(-time.Hour)
	b.post(page, "send", "1")
	b.has(page, "the time of the mailing has passed", "<dd>checked</dd>")
}

// A mailing that the gateway has forgotten goes on at another time with those who have not got it: nobody gets it twice. One that
// waits for its user is not taken for the same at another time.
func TestMailingAtAnotherTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.SendScope)
	const file, text = "to\n+46700000002\n+46700000003", "later"
	at := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("2006-01-02T15:04") }
	send := func(at string) string {
		t.Helper()
		w := b.mailAt(at, file, text)
		page := strings.TrimPrefix(w.header.Get("Location"), Base)
		b.until(page, "Send to 2 recipients")
		return page
	}
	page := send(at(3 * time.Hour))
	if w := b.mailAt(at(5*time.Hour), file, text); w.code != 422 || !strings.Contains(w.body, "has not ended") {
		t.Errorf("%+v", w)
	}
	for range 3 { // the same one, later, and without a time
		b.post(page, "send", "1")
		b.until(page, "<dd>ended</dd>")
		b.has(page, "<dt>accepted</dt><dd>2</dd>", "<dt>refused</dt><dd>0</dd>")
		if n := strings.Count(b.get("messages").body, "<td>"+own.Scheduled+"</td>"); n != 2 {
			t.Fatalf("%d messages are scheduled", n)
		}
		r.site.portal.mailings = mailings{of: map[string]*mailing{}} // as after a restart
		page = send(at(7 * time.Hour))
	}
	b.post(page, "stop", "1")
	if send(""); !r.SMSC.Idle() {
		t.Error("a message was sent")
	}
}
