package problems

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"pmg/internal/figuretext"
	"pmg/sms"
)

// notReadyAlert is the alert for a gateway that is not ready.
const notReadyAlert = "PMGNotReady"

// rules returns a row for each alert of docs/monitoring/pmg.rules.yaml that a gateway can find itself. A test compares names
// and severities with the file, and has a reason for each alert without a row.
func rules() []rule {
	return slices.Concat(
		gatewayRules(), linkRules(), answerRules(), waitingRules(), refusalRules(), moneyRules(), clientRules(), storeRules(),
		fileRules(),
	)
}

func gatewayRules() []rule {
	return []rule{
		{notReadyAlert, severityPage, func(f *Facts, _ *growth, add addFunc) {
			for _, line := range f.NotReady {
				add("gateway", "not ready: %s", line)
			}
		}},
		{"PMGRouteDown", severityPage, func(f *Facts, _ *growth, add addFunc) {
			for _, line := range f.Down {
				add("routing", "%s", line)
			}
		}},
		{"PMGPanic", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Stages {
				if n := g.by("panics", f.Stages[i].Name); n > 0 {
					add(
						"gateway", "a fault in the stage %s: %s in ten minutes; the gateway's log says where",
						f.Stages[i].Name, figuretext.Number(n),
					)
				}
			}
		}},
		{"PMGAdminCertificateExpires", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			if at := f.AdminCertificateExpires; at != nil && at.Sub(f.Time) < 14*day {
				add("configuration", "the certificate of the admin address %s", expiry(*at, f.Time))
			}
		}},
	}
}

const day = 24 * time.Hour

// expiry returns a text about a certificate's expiry.
func expiry(at, now time.Time) string {
	if !at.After(now) {
		return "has expired on " + at.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	return "expires in " + figuretext.Age(at.Sub(now).Seconds())
}

// each calls f for each connector that leads to an SMSC.
func (f *Facts) each(do func(c *Connector, page string)) {
	for i := range f.Connectors {
		if c := &f.Connectors[i]; c.Out {
			do(c, pageOf("connectors", c.Name))
		}
	}
}

// pageOf returns the path of the page about an object of a list.
func pageOf(list, name string) string { return list + "/" + url.PathEscape(name) }

func linkRules() []rule {
	return []rule{
		{"PMGNoSession", severityPage, func(f *Facts, _ *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				if c.Trouble != nil && c.SessionsReady == 0 {
					next := ""
					if wait := c.Trouble.Next.Sub(f.Time).Seconds(); wait > 0 {
						next = "; next attempt in " + figuretext.Age(wait)
					}
					since := c.Trouble.Since // start of the present trouble; the session may have been lost earlier
					if !c.Trouble.Down.IsZero() {
						since = c.Trouble.Down
					}
					add(
						page, "%s: no session to the SMSC for %s: %s%s", c.Name,
						figuretext.Age(f.Time.Sub(since).Seconds()), c.Trouble.Reason, next,
					)
				}
			})
		}},
		{"PMGSessionsMissing", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				if c.Trouble != nil && c.SessionsReady > 0 {
					add(page, "%s: %d of %d sessions to the SMSC: %s", c.Name, c.SessionsBound, c.Instances, c.Trouble.Reason)
				}
			})
		}},
		{"PMGHeld", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				if h := c.Held; h != nil {
					until := "until it is released"
					if !h.Until.IsZero() {
						until = "for another " + figuretext.Age(h.Until.Sub(f.Time).Seconds())
					}
					add(
						page, "%s: held by %s for %s, %s; %s queued", c.Name, h.By,
						figuretext.Age(f.Time.Sub(h.Since).Seconds()), until, figuretext.Number(c.Queued),
					)
				}
			})
		}},
		{"PMGCertificateExpires", severityTicket, expiring(2*day, 14*day)},
		{"PMGCertificateExpiresNow", severityPage, expiring(0, 2*day)},
	}
}

func answerRules() []rule {
	return []rule{
		{"PMGConnectorSlow", severityTicket, func(f *Facts, g *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				all, slow := g.by("answers", c.Name), g.by("slow answers", c.Name)
				if all > 0 && slow*20 > all {
					add(
						page, "%s: %.0f %% of the answers take longer than %d s", c.Name, 100*float64(slow)/float64(all),
						SlowAnswer,
					)
				}
			})
		}},
		{"PMGAnswersLate", severityTicket, func(f *Facts, g *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				if n := g.rate("late", c.Name); n > 0.1 {
					add(
						page, "%s: %.1f answers a second come after the response timeout; such messages may be sent twice",
						c.Name, n,
					)
				}
			})
		}},
	}
}

// expiring finds the connectors with certificates that expire within a period. Certificates that expire earlier belong to
// another rule.
func expiring(from, to time.Duration) func(*Facts, *growth, addFunc) {
	return func(f *Facts, _ *growth, add addFunc) {
		for i := range f.Connectors {
			c := &f.Connectors[i]
			if c.CertificateExpires == nil {
				continue
			}
			if left := c.CertificateExpires.Sub(f.Time); left < to && (left >= from || from == 0) {
				add(pageOf("connectors", c.Name), "%s: its certificate %s", c.Name, expiry(*c.CertificateExpires, f.Time))
			}
		}
	}
}

// oldSeconds is the age above which waiting messages are a problem.
const oldSeconds = 300

func waitingRules() []rule {
	return []rule{
		{"PMGQueueOld", severityPage, func(f *Facts, _ *growth, add addFunc) {
			f.each(func(c *Connector, page string) {
				if c.OldestSeconds > oldSeconds && c.Held == nil {
					add(
						page, "%s: %s messages queued, the oldest for %s", c.Name, figuretext.Number(c.Queued),
						figuretext.Age(c.OldestSeconds),
					)
				}
			})
		}},
		{"PMGQueueNearlyFull", severityPage, func(f *Facts, _ *growth, add addFunc) {
			for i := range f.Connectors {
				if c := &f.Connectors[i]; c.MaxQueue > 0 && float64(c.Fullest) > 0.8*float64(c.MaxQueue) {
					add(
						"queues", "%s: a queue has %s of its %s places taken; when it is full, messages are refused", c.Name,
						figuretext.Number(c.Fullest), figuretext.Number(int64(c.MaxQueue)),
					)
				}
			}
		}},
		{"PMGAccountWaits", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			for i := range f.Accounts {
				if a := &f.Accounts[i]; a.Late > 900 {
					add(
						pageOf("accounts", a.Name),
						"%s: a receipt or message for its sessions has waited for %s; it has %d sessions", a.Name,
						figuretext.Age(a.Late), a.Sessions,
					)
				}
			}
		}},
		{"PMGParked", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			if f.Parked > 0 {
				add("queues", "%s messages are parked, because no route takes them", figuretext.Number(f.Parked))
			}
		}},
		{"PMGQuarantined", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			if f.Quarantined > 0 {
				add(
					"queues", "%s messages are quarantined, because the gateway fails at them; its log says where",
					figuretext.Number(f.Quarantined),
				)
			}
		}},
	}
}

func refusalRules() []rule {
	return []rule{
		{"PMGUnrouted", severityTicket, func(_ *Facts, g *growth, add addFunc) {
			if g.rate("unrouted", "") > 0.1 {
				add("routing", "%s messages had no route in ten minutes", figuretext.Number(g.by("unrouted", "")))
			}
		}},
		{"PMGClientsRefused", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Accounts {
				name := f.Accounts[i].Name
				if part := g.share(name, "account refused", "account accepted"); part > 0.2 {
					add(
						pageOf("accounts", name), "%s: %.0f %% of its messages are refused%s", name, 100*part,
						g.mostRefused(&f.Accounts[i]),
					)
				}
			}
		}},
		{"PMGRefusalsRise", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for key := range g.now {
				if key.what != "status" {
					continue
				}
				rate := g.rate(key.what, key.name)
				if usual, known := g.usual(key.what, key.name); known && rate > 0.1 && rate > 3*usual {
					name, status, _ := strings.Cut(key.name, "\n")
					add(
						pageOf("connectors", name), "%s: %.1f answers a second are %s, before that it was %.1f", name, rate,
						status, usual,
					)
				}
			}
		}},
		{"PMGMessagesFail", severityPage, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Connectors {
				name := f.Connectors[i].Name
				if part := g.share(name, "failed", "sent"); part > 0.1 {
					add(pageOf("connectors", name), "%s: %.0f %% of its messages fail", name, 100*part)
				}
			}
		}},
		{"PMGMessagesExpire", severityPage, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Connectors {
				name := f.Connectors[i].Name
				if rate := g.rate("expired", name); rate > 0.1 {
					add(
						pageOf("connectors", name), "%s: %s messages expired in the queue in ten minutes", name,
						figuretext.Number(g.by("expired", name)),
					)
				}
			}
		}},
	}
}

func moneyRules() []rule {
	return []rule{
		{"PMGPriceMissing", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Accounts {
				name := f.Accounts[i].Name
				if n := g.by("account refused for", name+"\n"+sms.NoPrice.String()); n > 0 {
					add(
						pageOf("accounts", name),
						"%s: %s messages were refused in ten minutes, because its list of prices has no price for their network",
						name, figuretext.Number(n),
					)
				}
			}
		}},
		{"PMGMarginNegative", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Accounts {
				name := f.Accounts[i].Name
				price, cost := sms.Money(g.by("account price", name)), sms.Money(g.by("account cost", name))
				if cost > price {
					add(
						pageOf("accounts", name),
						"%s: SMSCs charge %s for messages of ten minutes for which it pays %s", name, cost, price,
					)
				}
			}
		}},
	}
}

func clientRules() []rule {
	return []rule{
		{"PMGReceiptsUnmatched", severityTicket, func(_ *Facts, g *growth, add addFunc) {
			n, matched := g.by("unmatched", ""), g.by("matched", "")
			if g.rate("unmatched", "") > 0.01 && n*20 > n+matched {
				add(
					"receipts", "%s of %s receipts in ten minutes match no message", figuretext.Number(n),
					figuretext.Number(n+matched),
				)
			}
		}},
		{"PMGReceiptsDropped", severityTicket, func(_ *Facts, g *growth, add addFunc) {
			if n := g.by("homeless", ""); n > 0 {
				add(
					"receipts", "%s receipts were dropped in ten minutes, because their account may not receive or is gone",
					figuretext.Number(n),
				)
			}
		}},
		{"PMGWebhookOld", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			for i := range f.Webhooks {
				if w := &f.Webhooks[i]; w.Oldest > oldSeconds && !w.isDown() {
					add(
						pageOf("webhooks", w.Account), "%s: %s webhook events wait, the oldest for %s%s", w.Account,
						figuretext.Number(w.Waiting), figuretext.Age(w.Oldest), reason(w.LastError),
					)
				}
			}
		}},
		{"PMGWebhookResting", severityTicket, func(f *Facts, _ *growth, add addFunc) {
			for i := range f.Webhooks {
				if w := &f.Webhooks[i]; w.isDown() {
					add(
						pageOf("webhooks", w.Account), "%s: its webhook has failed %s times in a row; %s events wait%s",
						w.Account, figuretext.Number(int64(w.Failures)), figuretext.Number(w.Waiting), reason(w.LastError),
					)
				}
			}
		}},
		{"PMGWebhookDeadLetters", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Webhooks {
				w := &f.Webhooks[i]
				if n := g.by("dead letters", w.Account); n > 0 {
					add(
						pageOf("webhooks", w.Account), "%s: %s events became dead letters in ten minutes; %s in all",
						w.Account, figuretext.Number(n), figuretext.Number(w.DeadLetters),
					)
				}
			}
		}},
	}
}

// isDown reports whether calls of the account's servers fail repeatedly.
func (w *Webhook) isDown() bool { return w.Resting > 0 || w.Failures >= 3 && w.Waiting > 0 }

// reason returns a colon and a text, or "" if the text is empty.
func reason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// stored makes a rule about the store. It finds nothing if messages are in memory.
func stored(find func(st *Store, g *growth, add addFunc)) func(*Facts, *growth, addFunc) {
	return func(f *Facts, g *growth, add addFunc) {
		if f.Store != nil {
			find(f.Store, g, add)
		}
	}
}

func storeRules() []rule {
	return []rule{
		{"PMGStoreFailed", severityPage, stored(func(st *Store, _ *growth, add addFunc) {
			if st.Failed {
				add("gateway", "the store has failed, and nothing is accepted: %s", st.Problem)
			}
		})},
		{"PMGStoreLow", severityPage, stored(func(st *Store, _ *growth, add addFunc) {
			if st.Low {
				add("gateway", "the disk of the store is full, and messages are refused: %s", st.Refuses)
			}
		})},
		{"PMGDiskFills", severityTicket, stored(func(st *Store, _ *growth, add addFunc) {
			if st.MinFree > 0 && st.Free < 2*st.MinFree && !st.Low {
				add(
					"gateway", "the disk of the store has %s left; below %s (store.min_free) messages are refused",
					figuretext.Octets(st.Free), figuretext.Octets(st.MinFree),
				)
			}
		})},
		{"PMGInodes", severityPage, stored(func(st *Store, _ *growth, add addFunc) {
			if st.MinFree > 0 && st.FreeInodes < 1000 {
				add("gateway", "only %s files can still be made on the disk of the store", figuretext.Number(st.FreeInodes))
			}
		})},
		{"PMGStoreStalled", severityPage, stored(func(st *Store, _ *growth, add addFunc) {
			if st.Stalled || st.CurrentSeconds > 2 {
				add(
					"gateway", "the disk of the store does not follow; a commit has taken %s so far",
					figuretext.Age(st.CurrentSeconds),
				)
			}
		})},
		{"PMGStoreErrors", severityPage, stored(func(st *Store, g *growth, add addFunc) {
			if n := g.by("commits failed", ""); n > 0 {
				add(
					"gateway", "the store could not be written %s times in ten minutes%s", figuretext.Number(n),
					reason(st.Problem),
				)
			}
		})},
		{"PMGStoreSlow", severityTicket, stored(func(_ *Store, g *growth, add addFunc) {
			if n := g.by("slow", ""); n > 1 {
				add("gateway", "the disk of the store took longer than 2 s %s times in ten minutes", figuretext.Number(n))
			}
		})},
		{"PMGNotRecovered", severityPage, stored(func(st *Store, g *growth, add addFunc) {
			if !st.Recovered && g.before+g.seconds > 60 {
				add("gateway", "messages of earlier runs are not all in their queues yet")
			}
		})},
	}
}

func fileRules() []rule {
	return []rule{
		{"PMGPDULogLost", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Connectors {
				if n := g.by("log lost", f.Connectors[i].Name); n > 0 {
					add(
						pageOf("connectors", f.Connectors[i].Name),
						"%s: lines of the pdu log were lost or late %s times in ten minutes", f.Connectors[i].Name,
						figuretext.Number(n),
					)
				}
			}
		}},
		{"PMGPDULogShort", severityTicket, func(f *Facts, g *growth, add addFunc) {
			for i := range f.Connectors {
				if n := g.by("log short", f.Connectors[i].Name); n > 0 {
					add(
						pageOf("connectors", f.Connectors[i].Name),
						"%s: files of the pdu log are removed before their time, because the disk is nearly full",
						f.Connectors[i].Name,
					)
				}
			}
		}},
		{"PMGEventsWait", severityPage, func(f *Facts, g *growth, add addFunc) {
			if f.EventsWaiting > 0 && g.by("event errors", "") > 0 {
				add(
					"gateway", "%s lines for billing cannot be written to events.dir; they are in the store",
					figuretext.Number(int64(f.EventsWaiting)),
				)
			}
		}},
		{"PMGTracesDropped", severityTicket, func(_ *Facts, g *growth, add addFunc) {
			if n := g.by("spans dropped", ""); n > 0 {
				add(
					"gateway", "%s spans of traces were dropped in ten minutes; the collector does not take them",
					figuretext.Number(n),
				)
			}
		}},
	}
}
