package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/pdulog/story"
)

// Limits of the number of messages that are traced; a phone number may have many.
const (
	mostTraced = 100
	mostFates  = 50 // maximum number of messages in a list of the latest
)

// askStore returns a function that asks a running gateway for waiting messages. It returns none if the gateway does
// not answer, because it may use the store without listening for operators.
func askStore(cfg *config.Config) func(context.Context, []uint64) []operate.StoredMessage {
	return func(ctx context.Context, ids []uint64) []operate.StoredMessage {
		running := new(ask.Gateway)
		if running.Find(cfg, "") != nil {
			return nil
		}
		var q admin.QueueQuery
		q.IDs, q.Limit = ids, len(ids)
		page, err := runningStore{running}.list(ctx, q)
		if err != nil {
			return nil
		}
		return page.Messages
	}
}

// fatesOf returns the outcome of each message: for a single one a line with its steps in the next lines; for several
// a list with times and addresses, the latest first.
func (o *traceOptions) fatesOf(found *story.Found, what string) (lines []string) {
	now, protocols := time.Now(), newLogProtocols()
	means := func(s *story.Step) string {
		driver, err := protocols.find(s.Command)
		if glossary, ok := driver.(interface{ Meaning(uint32) string }); err == nil && ok {
			return glossary.Meaning(s.Status.Value)
		}
		return ""
	}
	if what == "" {
		for _, s := range slices.Backward(found.Stories) {
			if len(s.Steps) > 0 && (o.account == "" || s.Account == o.account) {
				lines = append(
					lines,
					fmt.Sprintf(
						"%s %s %s %s > %s: %s", s.Steps[0].At.UTC().Format(time.DateTime), s.ID, s.Account, s.Source,
						s.Destination, s.Headline(now, means),
					),
				)
			}
		}
		return lines
	}
	for _, s := range found.Stories {
		var steps []string
		for i := range s.Steps {
			// the next step says so
			if one := &s.Steps[i]; one.What != story.Sent && one.What != story.Accepted ||
				one.What == story.Accepted && one.Account != "" {
				steps = append(steps, one.String())
			}
		}
		waits := s.Waiting() != ""
		if len(s.Steps) == 0 && !waits {
			continue
		}
		headline := s.Headline(now, means)
		if waits {
			headline += " pmg queue show " + s.ID
		} else if s.IsOpen() {
			headline += " What followed is neither in the pdu logs nor in the events."
		}
		if lines = append(lines, strings.TrimPrefix(s.ID+": "+headline, ": ")); len(steps) > 0 {
			lines = append(lines, "  "+strings.Join(steps, "; "))
		}
		if money := o.moneyOf(s); money != "" {
			lines = append(lines, "  "+money)
		}
	}
	return lines
}

// moneyOf returns what a message costs as text, with the currencies of the configuration.
func (o *traceOptions) moneyOf(s *story.Story) string {
	if o.cfg == nil {
		return s.Money("", "")
	}
	return s.Money(o.cfg.Currencies(s.Account, s.By))
}
