package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pmg/admin/access"
	"pmg/gateway"
	"pmg/gateway/operate"
	"pmg/internal/logfile"
	"pmg/internal/turns"
	"pmg/pdulog/story"
	"pmg/protocols"
)

// A searcher finds messages in the logs of a gateway, for some requests at a time.
type searcher struct {
	gateway *gateway.Gateway
	places  chan struct{} // holds one element for each running search
	sums    *turns.Pauses // for statistics, by caller
	time    time.Duration // time limit of a search
	logs    logfile.Logs  // cached knowledge about the files
}

func newSearcher(g *gateway.Gateway) *searcher {
	return &searcher{gateway: g, places: make(chan struct{}, mostSearches), time: searchTime,
		sums: turns.NewPauses(mostReading, mostWaiting)}
}

// cutOf returns the reason why a search may not have found all.
func (s *searcher) cutOf(f *story.Found) string {
	switch {
	case !s.gateway.Node.Config().PDULog.Enabled:
		return "PDUs are not logged (pdulog.enabled): little is known of messages."
	case f.Late:
		return tooLate(f.From)
	}
	return ""
}

// begin reserves a place for a search until done is called, if a place is free. The context ends after the time limit of a
// search, or when the client disconnects.
func (s *searcher) begin(r *http.Request) (ctx context.Context, done func(), err error) {
	select {
	case s.places <- struct{}{}:
	default:
		return nil, nil, refuse(
			http.StatusServiceUnavailable,
			"cannot search: too many searches are under way; try again in some seconds",
		)
	}
	ctx, stop := context.WithTimeout(r.Context(), s.time)
	return ctx, func() { stop(); <-s.places }, nil
}

// beginSums reserves a place for statistics. Callers take turns, and pause afterwards, so that one caller does not block the
// others.
func (s *searcher) beginSums(r *http.Request) (ctx context.Context, done func(), err error) {
	ctx, stop := context.WithTimeout(r.Context(), s.time)
	give := s.sums.Begin(access.CallerOf(r).Owner(), ctx.Done())
	if give == nil {
		stop()
		return nil, nil, refuse(
			http.StatusServiceUnavailable, "cannot show statistics: others are being read, or you have just read many days: "+
				"try again in some seconds",
		)
	}
	return ctx, func() { stop(); give() }, nil
}

func (s *searcher) find(ctx context.Context, q story.Query, most int, withTexts bool) (*story.Found, error) {
	cfg := s.gateway.Node.Config()
	f := story.Finder{Dir: cfg.PDULog.Dir, Events: cfg.Events.Dir, Most: most, Room: searchRoom, Wide: true, Logs: &s.logs,
		Waiting: func(_ context.Context, ids []uint64) []operate.StoredMessage {
			page, err := s.gateway.Operate.ListStored(operate.Selection{IDs: ids, Text: withTexts}, 0, len(ids))
			if err != nil {
				return nil
			}
			return page.Messages
		}}
	found, err := f.Search(ctx, q)
	if errors.Is(ctx.Err(), context.Canceled) { // the client has disconnected
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot search the logs: %w", err)
	}
	return found, nil
}

// messageOf returns the summary of a story.
func (s *searcher) messageOf(one *story.Story) Message {
	m := Message{
		ID: one.ID, Account: one.Account, Source: one.Source, Destination: one.Destination,
		Last: one.Headline(time.Now(), s.means), State: string(one.Outcome()),
	}
	if w := one.Waits; w != nil {
		m.Account, m.Begun = cmp.Or(m.Account, w.Account), w.Arrived
		m.Source, m.Destination = cmp.Or(m.Source, w.Source), cmp.Or(m.Destination, w.Dest)
	}
	if len(one.Steps) > 0 {
		m.Begun = one.Steps[0].At
	}
	return m
}

// means returns the meaning of a step's status, "" if it is unknown.
func (s *searcher) means(step *story.Step) string {
	driver, err := s.driverOf(step.Command)
	if glossary, ok := driver.(protocols.Glossary); err == nil && ok {
		return glossary.Meaning(step.Status.Value)
	}
	return ""
}

// driverOf returns the driver of a connector whose protocol has a command.
func (s *searcher) driverOf(command string) (protocols.Driver, error) {
	for _, c := range s.gateway.Table.Connectors() {
		if slices.Contains(c.Driver.Commands(), command) {
			return c.Driver, nil
		}
	}
	return nil, errors.New("no connector speaks the protocol of " + command)
}
