package problems

import (
	"strings"
	"testing"
	"time"
)

// What two days of trying showed: a webhook that refuses and messages without a route are problems, and so is the rest.
func TestProblems(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	soon, past := start.Add(time.Hour+10*day), start.Add(-time.Minute)
	quiet := func() *Facts {
		return &Facts{Started: start, Time: start, Store: &Store{Recovered: true, MinFree: 1 << 20, Free: 1 << 40, FreeInodes: 1 << 20},
			Connectors: []Connector{{Name: "telia", Out: true, Instances: 1, SessionsReady: 1, SessionsBound: 1, MaxQueue: 100}},
			Accounts:   []Account{{Name: "shop"}}, Webhooks: []Webhook{{Account: "parcel"}}, Stages: []Stage{{Name: "reader"}}}
	}
	for _, c := range []struct {
		alert, text string
		change      func(s *Facts)
	}{
		{"", "", func(*Facts) {}},
		{"PMGNotReady", "not ready: stopping", func(s *Facts) { s.NotReady = []string{"stopping"} }},
		{"PMGRouteDown", "routes[0]", func(s *Facts) { s.Down = []string{"routes[0] has no target"} }},
		{"PMGPanic", "stage reader", func(s *Facts) { s.Stages[0].Panics = 1 }},
		{"PMGAdminCertificateExpires", "expires in 10d", func(s *Facts) { s.AdminCertificateExpires = &soon }},
		{"PMGNoSession", "telia: no session to the SMSC for 20m: refused", func(s *Facts) {
			s.Connectors[0].SessionsReady, s.Connectors[0].Trouble = 0, &Trouble{Reason: "refused", Since: start}
		}},
		{"PMGNoSession", "telia: no session to the SMSC for 43", func(s *Facts) {
			s.Connectors[0].SessionsReady = 0
			s.Connectors[0].Trouble = &Trouble{Reason: "refused", Since: start.Add(13 * time.Second), Down: s.Time.Add(-43 * time.Second)}
		}},
		{"PMGSessionsMissing", "telia: 1 of 1", func(s *Facts) { s.Connectors[0].Trouble = &Trouble{Reason: "refused", Since: start} }},
		{"PMGHeld", "held by anna", func(s *Facts) { s.Connectors[0].Held = &Held{By: "anna", Since: start} }},
		{"PMGConnectorSlow", "50 % of the answers", func(s *Facts) {
			s.Connectors[0].Answers, s.Connectors[0].SlowAnswers = 100, 50
		}},
		{"PMGAnswersLate", "answers a second", func(s *Facts) { s.Connectors[0].Late = 1000 }},
		{"PMGCertificateExpires", "telia: its certificate expires in 10d", func(s *Facts) { s.Connectors[0].CertificateExpires = &soon }},
		{"PMGCertificateExpiresNow", "has expired on 2026-11-24", func(s *Facts) { s.Connectors[0].CertificateExpires = &past }},
		{"PMGQueueOld", "1,200 messages queued, the oldest for 5m 1s", func(s *Facts) { s.Connectors[0].OldestSeconds, s.Connectors[0].Queued = 301, 1200 }},
		{"PMGQueueNearlyFull", "81 of its 100", func(s *Facts) { s.Connectors[0].Fullest = 81 }},
		{"PMGAccountWaits", "shop: a receipt", func(s *Facts) { s.Accounts[0].Late = 1000 }},
		{"PMGParked", "parked", func(s *Facts) { s.Parked = 1 }},
		{"PMGQuarantined", "quarantined", func(s *Facts) { s.Quarantined = 1 }},
		{"PMGUnrouted", "1,094 messages had no route", func(s *Facts) { s.Unrouted = 1094 }},
		{"PMGClientsRefused", "shop: 50 %", func(s *Facts) { s.Accounts[0].Refused, s.Accounts[0].Accepted = 1000, 1000 }},
		{"PMGClientsRefused", "shop: 100 % of its messages are refused, 900 of them for: no credit", func(s *Facts) {
			s.Accounts[0].Refused, s.Accounts[0].Refusals = 1000, []Refusal{{"bad_source", 100}, {"no_credit", 900}}
		}},
		{"PMGPriceMissing", "shop: 1,000 messages were refused", func(s *Facts) {
			s.Accounts[0].Refusals = []Refusal{{"no_price", 1000}}
		}},
		{"PMGMarginNegative", "shop: SMSCs charge 0.90 for messages of ten minutes for which it pays 0.45", func(s *Facts) {
			s.Accounts[0].Price, s.Accounts[0].Cost = 450_000, 900_000
		}},
		{"", "", func(s *Facts) { s.Accounts[0].Price, s.Accounts[0].Cost = 900_000, 900_000 }},
		{"PMGRefusalsRise", "telia: 1.7 answers a second are ESME_RTHROTTLED", func(s *Facts) {
			s.Connectors[0].Refusals = []Refusal{{"ESME_RTHROTTLED", 1000}}
		}},
		{"PMGMessagesFail", "telia: 50 %", func(s *Facts) { s.Connectors[0].Failed, s.Connectors[0].Sent = 1000, 1000 }},
		{"PMGMessagesExpire", "expired in the queue", func(s *Facts) { s.Connectors[0].Expired = 1000 }},
		{"PMGReceiptsUnmatched", "1,000 of 1,500", func(s *Facts) { s.Receipts.Unmatched, s.Receipts.Matched = 1000, 500 }},
		{"PMGReceiptsDropped", "dropped", func(s *Facts) { s.Receipts.Homeless = 1 }},
		{"PMGWebhookOld", "parcel: 1,100 webhook events wait, the oldest for 18m: status 503", func(s *Facts) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 1100, Oldest: 1080, LastError: "status 503"}
		}},
		{"PMGWebhookResting", "has failed 10 times in a row; 1,100 events wait", func(s *Facts) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 1100, Oldest: 1080, Resting: 1, Failures: 10}
		}},
		{"PMGWebhookResting", "refused the connection", func(s *Facts) {
			s.Webhooks[0] = Webhook{Account: "parcel", Waiting: 8, Failures: 3, LastError: "refused the connection"}
		}},
		{"PMGWebhookDeadLetters", "dead letters", func(s *Facts) { s.Webhooks[0].DeadLetters = 3 }},
		{"PMGStoreFailed", "the store has failed", func(s *Facts) { s.Store.Failed = true }},
		{"PMGStoreLow", "the disk of the store is full", func(s *Facts) { s.Store.Low = true }},
		{"PMGDiskFills", "has 1 MiB left", func(s *Facts) { s.Store.Free = 1 << 20 }},
		{"PMGInodes", "only 10 files", func(s *Facts) { s.Store.FreeInodes = 10 }},
		{"PMGStoreStalled", "does not follow", func(s *Facts) { s.Store.CurrentSeconds = 3 }},
		{"PMGStoreErrors", "could not be written", func(s *Facts) { s.Store.CommitsFailed = 1 }},
		{"PMGStoreSlow", "2 times", func(s *Facts) { s.Store.Slow = 2 }},
		{"PMGNotRecovered", "earlier runs", func(s *Facts) { s.Store.Recovered = false }},
		{"PMGPDULogLost", "pdu log", func(s *Facts) { s.Connectors[0].PDULogLost = 1 }},
		{"PMGPDULogShort", "before their time", func(s *Facts) { s.Connectors[0].PDULogEarly = 1 }},
		{"PMGEventsWait", "billing", func(s *Facts) { s.EventsWaiting, s.EventsErrors = 1, 1 }},
		{"PMGTracesDropped", "spans", func(s *Facts) { s.SpansDropped = 1 }},
	} {
		var tr Watch
		s := quiet()
		tr.Look(s)
		for minute := 1; minute <= 20; minute++ { // twenty minutes without a problem, so that it is known what is usual
			s.Time = start.Add(time.Duration(minute) * time.Minute)
			tr.Look(s)
		}
		s.Time = start.Add(20 * time.Minute)
		c.change(s)
		found := tr.Look(s).Problems
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

// The list stays short. At its head is what somebody must do now.
func TestProblemsAreFew(t *testing.T) {
	t.Parallel()
	s := &Facts{Parked: 1}
	for range 100 {
		s.Webhooks = append(s.Webhooks, Webhook{Account: "a", Resting: 1})
	}
	s.NotReady = []string{"stopping"}
	found := new(Watch).Look(s).Problems
	if len(found) != mostProblems+3 || found[0].Alert != notReadyAlert || !strings.HasPrefix(found[len(found)-1].Text, "80 more") {
		t.Errorf("%d: %+v", len(found), found)
	}
	if texts := Texts(found); len(texts) != len(found)-1 {
		t.Errorf("%q", texts)
	}
}
