package admin

import (
	"strings"
	"testing"
	"time"

	"pmg/connector"
)

// elsewhere has the alerts that a gateway cannot know itself, and why.
var elsewhere = map[string]string{
	"PMGDown":            "a gateway that does not answer shows no list",
	"PMGAbsent":          "it is about Prometheus",
	"PMGRestarts":        "a gateway does not know how often it was started",
	"PMGFileDescriptors": "/readyz tells when clients are refused for want of descriptors",
	"PMGDeliveredFalls":  "it compares with six hours before, and a gateway knows the last hour",
	"PMGAccountSilent":   "the same, and with the day before",
	"PMGConnectorSilent": "the same, and with the day before",
}

// The list of problems and the alert rules know the same: each alert has a rule of the same severity, or a reason why it has none.
func TestProblemsAndAlerts(t *testing.T) {
	t.Parallel()
	rules := map[string]string{}
	for _, r := range problemRules() {
		rules[r.alert] = r.severity
	}
	for _, a := range alerts(t) {
		severity, known := rules[a.Alert]
		switch {
		case known && severity != a.Labels["severity"]:
			t.Errorf("%s: severity %s here, %s in pmg.rules.yaml", a.Alert, severity, a.Labels["severity"])
		case known == (elsewhere[a.Alert] != ""):
			t.Errorf("%s needs a row of problemRules, or a reason in elsewhere", a.Alert)
		}
		delete(rules, a.Alert)
	}
	for name := range rules {
		t.Errorf("pmg.rules.yaml has no alert %s", name)
	}
}

// What two days of trying showed: a webhook that refuses and messages without a route are problems, and so is the rest.
func TestProblems(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	soon, past := start.Add(time.Hour+10*day), start.Add(-time.Minute)
	quiet := func() *Status {
		return &Status{Started: start, Time: start, Store: &Store{Recovered: true, MinFree: 1 << 20, Free: 1 << 40, FreeInodes: 1 << 20},
			Connectors: []Connector{{Name: "telia", Direction: "out", Instances: 1, SessionsReady: 1, SessionsBound: 1, MaxQueue: 100}},
			Accounts:   []Account{{Name: "shop"}}, Webhooks: []Webhook{{Account: "parcel"}}, Stages: []Stage{{Name: "reader"}}}
	}
	for _, c := range []struct {
		alert, text string
		change      func(s *Status)
	}{
		{"", "", func(*Status) {}},
		{"PMGNotReady", "not ready: stopping", func(s *Status) { s.NotReady = []string{"stopping"} }},
		{"PMGRouteDown", "routes[0]", func(s *Status) { s.down = []string{"routes[0] has no target"} }},
		{"PMGPanic", "stage reader", func(s *Status) { s.Stages[0].Panics = 1 }},
		{"PMGAdminCertificateExpires", "expires in 10d", func(s *Status) { s.AdminCertificateExpires = &soon }},
		{"PMGNoSession", "telia: no session to the SMSC for 20m: refused", func(s *Status) {
			s.Connectors[0].SessionsReady, s.Connectors[0].Trouble = 0, &Trouble{Reason: "refused", Since: start}
		}},
		{"PMGSessionsMissing", "telia: 1 of 1", func(s *Status) { s.Connectors[0].Trouble = &Trouble{Reason: "refused", Since: start} }},
		{"PMGHeld", "held by anna", func(s *Status) { s.Connectors[0].Held = &Held{By: "anna", Since: start} }},
		{"PMGConnectorSlow", "50 % of the answers", func(s *Status) {
			s.Connectors[0].Answers = Answers{Count: 100, buckets: map[float64]uint64{1: 10, 8: 50, 16: 100}}
		}},
		{"PMGAnswersLate", "answers a second", func(s *Status) { s.Connectors[0].Late = 1000 }},
		{"PMGCertificateExpires", "telia: its certificate expires in 10d", func(s *Status) { s.Connectors[0].CertificateExpires = &soon }},
		{"PMGCertificateExpiresNow", "has expired on 2026-11-24", func(s *Status) { s.Connectors[0].CertificateExpires = &past }},
		{"PMGQueueOld", "1,200 messages queued, the oldest for 5m 1s", func(s *Status) { s.Connectors[0].OldestSeconds, s.Connectors[0].Queued = 301, 1200 }},
		{"PMGQueueNearlyFull", "81 of its 100", func(s *Status) { s.Connectors[0].Fullest = 81 }},
		{"PMGAccountWaits", "shop: a receipt", func(s *Status) { s.Accounts[0].late = 1000 }},
		{"PMGParked", "parked", func(s *Status) { s.Parked = 1 }},
		{"PMGQuarantined", "quarantined", func(s *Status) { s.Quarantined = 1 }},
		{"PMGUnrouted", "1,094 messages had no route", func(s *Status) { s.Unrouted = 1094 }},
		{"PMGClientsRefused", "shop: 50 %", func(s *Status) { s.Accounts[0].Refused, s.Accounts[0].Accepted = 1000, 1000 }},
		{"PMGRefusalsRise", "telia: 1.7 answers a second are ESME_RTHROTTLED", func(s *Status) {
			s.Connectors[0].PDUs = []PDUCount{{"submit_sm_resp", "received", "ESME_RTHROTTLED", 1000, "too fast"}}
		}},
		{"PMGMessagesFail", "telia: 50 %", func(s *Status) { s.Connectors[0].Failed, s.Connectors[0].Sent = 1000, 1000 }},
		{"PMGMessagesExpire", "expired in the queue", func(s *Status) { s.Connectors[0].Expired = 1000 }},
		{"PMGReceiptsUnmatched", "1,000 of 1,500", func(s *Status) { s.Receipts.Unmatched, s.Receipts.Matched = 1000, 500 }},
		{"PMGReceiptsDropped", "dropped", func(s *Status) { s.Receipts.Homeless = 1 }},
		{"PMGWebhookOld", "parcel: 1,100 webhook events wait, the oldest for 18m: status 503", func(s *Status) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 1100, Oldest: 1080, LastError: "status 503"}
		}},
		{"PMGWebhookResting", "has failed 10 times in a row; 1,100 events wait", func(s *Status) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 1100, Oldest: 1080, Resting: 1, Failures: 10}
		}},
		{"PMGWebhookResting", "refused the connection", func(s *Status) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 8, Failures: 3, LastError: "refused the connection"}
		}},
		{"PMGWebhookDeadLetters", "dead letters", func(s *Status) { s.Webhooks[0].DeadLetters = 3 }},
		{"PMGStoreFailed", "the store has failed", func(s *Status) { s.Store.Failed = true }},
		{"PMGStoreLow", "the disk of the store is full", func(s *Status) { s.Store.Low = true }},
		{"PMGDiskFills", "has 1 MiB left", func(s *Status) { s.Store.Free = 1 << 20 }},
		{"PMGInodes", "only 10 files", func(s *Status) { s.Store.FreeInodes = 10 }},
		{"PMGStoreStalled", "does not follow", func(s *Status) { s.Store.CurrentSeconds = 3 }},
		{"PMGStoreErrors", "could not be written", func(s *Status) { s.Store.CommitsFailed = 1 }},
		{"PMGStoreSlow", "2 times", func(s *Status) { s.Store.Slow = 2 }},
		{"PMGNotRecovered", "earlier runs", func(s *Status) { s.Store.Recovered = false }},
		{"PMGPDULogLost", "pdu log", func(s *Status) { s.Connectors[0].PDULogLost = 1 }},
		{"PMGPDULogShort", "before their time", func(s *Status) { s.Connectors[0].PDULogEarly = 1 }},
		{"PMGEventsWait", "billing", func(s *Status) { s.EventsWaiting, s.EventsErrors = 1, 1 }},
		{"PMGTracesDropped", "spans", func(s *Status) { s.SpansDropped = 1 }},
	} {
		var tr trail
		s := quiet()
		tr.note(s)
		for minute := 1; minute <= 20; minute++ { // twenty minutes without a problem, so that it is known what is usual
			s.Time = start.Add(time.Duration(minute) * time.Minute)
			tr.note(s)
		}
		s.Time = start.Add(20 * time.Minute)
		c.change(s)
		found := problems(problemRules(), s, tr.growth(s))
		if c.alert == "" {
			if len(found) > 0 {
				t.Errorf("a quiet gateway: %+v", found)
			}
			continue
		}
		if len(found) != 1 || found[0].Alert != c.alert || !strings.Contains(found[0].Text, c.text) || found[0].Page == "" {
			t.Errorf("%s: %+v", c.alert, found)
		}
	}
}

// The list stays short, and has what is for somebody to act now at its head.
func TestProblemsAreFew(t *testing.T) {
	t.Parallel()
	s := &Status{Parked: 1}
	for range 100 {
		s.Webhooks = append(s.Webhooks, Webhook{Account: "a", Resting: 1, Calls: connector.Labels{}})
	}
	s.NotReady = []string{"stopping"}
	found := problems(problemRules(), s, new(trail).growth(s))
	if len(found) != mostProblems+3 || found[0].Alert != notReadyAlert || !strings.HasPrefix(found[len(found)-1].Text, "80 more") {
		t.Errorf("%d: %+v", len(found), found)
	}
	if texts := textsOf(found); len(texts) != len(found)-1 {
		t.Errorf("%q", texts)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for seconds, want := range map[float64]string{0: "–", 0.25: "250 ms", 12.4: "12 s", 59.9: "1m", 90: "1m 30s", 1080: "18m", 3600: "1h", 3599.9: "1h", 7384: "2h 3m", 90000: "1d 1h"} {
		if got := Age(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 2048: "2 KiB", 70 << 20: "70 MiB", 3 << 29: "1.5 GiB", 75 << 30: "75 GiB"} {
		if got := Octets(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
