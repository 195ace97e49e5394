package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pmg/admin/access"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/pdulog"
	"pmg/pdulog/story"
)

// Bounds on searches for messages, which read files that may have many GB.
const (
	mostSearches = 2                // at the same time
	searchTime   = 20 * time.Second // for one
	searchRoom   = 8 << 20          // octets of lines that one keeps
	mostFollowed = 100              // messages that the events and the store are asked for
	mostFound    = 500              // messages and lines in an answer
	searchBack   = 24 * time.Hour   // how far one goes back without since
)

// Messages is the answer to a search.
type Messages struct {
	Messages []Message `json:"messages"`      // those that came last first
	Cut      string    `json:"cut,omitempty"` // why these may not be all, or not all that is known of them
}

// A Message is what a search says of a message.
type Message struct {
	ID          string    `json:"id"`
	Account     string    `json:"account,omitempty"` // that it came from
	Source      string    `json:"source,omitempty"`
	Destination string    `json:"destination,omitempty"`
	Begun       time.Time `json:"begun"` // the time of the first that is known of it
	Last        string    `json:"last"`  // what became of it, in words
}

// Messages finds the messages that ?q= means, of ?account=, in the time from ?since= to ?until=.
func (s *Server) Messages(r *http.Request) (*Messages, error) {
	q, err := storyQueryOf(r, r.FormValue("q"))
	if err != nil {
		return nil, err
	}
	access.Acts(r)
	access.Named(r, "messages")
	ctx, done, err := s.beginSearch(r)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := s.search(ctx, q, false)
	if err != nil {
		return nil, err
	}
	m := &Messages{Messages: []Message{}, Cut: s.cutOf(found)}
	for _, one := range withWaiting(ctx, s.view.gateway.Operate, q, found) {
		if (len(one.Steps) == 0 && one.Waits == nil) || q.Account != "" && one.Account != q.Account {
			continue
		}
		if len(m.Messages) == mostFound {
			m.Cut = cmp.Or(m.Cut, tooMany)
			break
		}
		m.Messages = append(m.Messages, messageOf(one))
	}
	if ctx.Err() != nil {
		m.Cut = cmp.Or(m.Cut, tooLate)
	}
	slices.SortStableFunc(m.Messages, func(a, b Message) int { return b.Begun.Compare(a.Begun) })
	return m, nil
}

// Why an answer may be incomplete.
const (
	tooMany = "There are more messages than are followed: choose a shorter time, or an account."
	tooLate = "Not all files were searched, because that took too long: choose a shorter time."
)

func (s *Server) cutOf(f *story.Found) string {
	switch {
	case !s.view.gateway.Config().PDULog.Enabled:
		return "PDUs are not logged (pdulog.enabled): little is known of messages."
	case f.Late:
		return tooLate
	case f.Cut:
		return tooMany
	}
	return ""
}

// storyQueryOf reads which messages a request asks for.
func storyQueryOf(r *http.Request, what string) (q story.Query, err error) {
	now := time.Now()
	what = strings.TrimSpace(what)
	q = story.Query{What: what, Account: r.FormValue("account"), Since: now.Add(-searchBack)}
	if q.What == "" || len(q.What) > 100 {
		return q, refuse(http.StatusBadRequest, "cannot search: q must be the number or the id of a message, of 100 characters at most")
	}
	for name, to := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if text := r.FormValue(name); text != "" {
			if *to, err = config.ParseTime(text, now); err != nil {
				return q, refuse(http.StatusBadRequest, "cannot search: "+name+": "+err.Error())
			}
		}
	}
	return q, nil
}

// beginSearch lets a request search if not too many do already, until done is called. Its context ends with the time of a search, or when the
// client goes.
func (s *Server) beginSearch(r *http.Request) (ctx context.Context, done func(), err error) {
	select {
	case s.searches <- struct{}{}:
	default:
		return nil, nil, refuse(http.StatusServiceUnavailable, "cannot search: as many searches are under way as may be at the same time; try again in some seconds")
	}
	ctx, stop := context.WithTimeout(r.Context(), s.searchTime)
	return ctx, func() { stop(); <-s.searches }, nil
}

// search finds stories.
func (s *Server) search(ctx context.Context, q story.Query, withTexts bool) (*story.Found, error) {
	cfg := s.view.gateway.Config()
	f := story.Finder{Dir: cfg.PDULog.Dir, Events: cfg.Events.Dir, Most: mostFollowed, Room: searchRoom, Wide: true, Waiting: func(_ context.Context, ids []uint64) []operate.StoredMessage {
		page, err := s.view.gateway.Operate.ListStored(operate.Selection{IDs: ids, Text: withTexts}, 0, len(ids))
		if err != nil {
			return nil
		}
		return page.Messages
	}}
	found, err := f.Search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("cannot search the logs: %w", err)
	}
	return found, nil
}

// TakesLong gives the answer to a request the time of a search, and has its context end when the client goes.
func TakesLong(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // of the request, which has been read: behind it the connection would count as gone
	_ = c.SetWriteDeadline(time.Now().Add(searchTime + timeout))
}

// withWaiting returns the stories that were found, the last one first, and before them those of messages that wait for a number and
// came before the time that was searched.
func withWaiting(ctx context.Context, desk *operate.Desk, q story.Query, found *story.Found) (all []*story.Story) {
	number := strings.TrimPrefix(strings.TrimPrefix(q.What, "+"), "00")
	if !pdulog.MessageID(q.What) {
		known := map[string]bool{}
		for _, one := range found.Stories {
			known[one.ID] = true
		}
		forms := []string{number, "+" + number, "00" + number}
		eachStored(ctx, desk, operate.Selection{Account: q.Account, Has: []byte(number)}, 0, func(m *operate.StoredMessage) {
			if slices.Contains(forms, m.Dest) && m.Kind != "receipt" && !known[m.ID] && len(all) < mostFollowed {
				all = append(all, &story.Story{ID: m.ID, Account: m.Account, Waits: m})
			}
		})
	}
	for _, one := range slices.Backward(found.Stories) {
		all = append(all, one)
	}
	return all
}

// messageOf returns what a search says of a story.
func messageOf(one *story.Story) Message {
	m := Message{ID: one.ID, Account: one.Account, Source: one.Source, Destination: one.Destination, Last: one.Waiting()}
	if w := one.Waits; w != nil {
		m.Account, m.Source, m.Destination, m.Begun = cmp.Or(m.Account, w.Account), cmp.Or(m.Source, w.Source), cmp.Or(m.Destination, w.Dest), w.Arrived
	}
	if n := len(one.Steps); n > 0 {
		m.Begun, m.Last = one.Steps[0].At, cmp.Or(m.Last, says(&one.Steps[n-1]))
	}
	return m
}

// messages answers a search.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	TakesLong(w)
	m, err := s.Messages(r)
	answerFound(w, m, err)
}

// message answers with the story of the message with the id in the path.
func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	TakesLong(w)
	m, err := s.Message(r, r.PathValue("id"))
	answerFound(w, m, err)
}

func answerFound(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), StatusOf(err))
		return
	}
	answerJSON(w, v, nil)
}
