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
	"pmg/gateway/operate"
	"pmg/internal/timetext"
	"pmg/pdulog"
	"pmg/pdulog/story"
	"pmg/sms/number"
)

// Limits of searches for messages, which read files that may have many GB.
const (
	mostSearches = 2                // searches for messages that run at the same time
	mostReading  = 2                // requests for statistics that run at the same time
	mostWaiting  = 4                // further requests for statistics that may wait; callers take turns, each in order of arrival
	searchTime   = 20 * time.Second // time limit of a search
	searchRoom   = 8 << 20          // octets of lines that a search keeps in memory
	mostListed   = 50               // messages in an answer, the latest ones
	mostFollowed = 100              // messages that are read from the store, or shown beside another message
	mostFound    = 500              // lines in an answer
	searchBack   = 24 * time.Hour   // how far a search without since goes back
)

// Messages is the answer to a search.
type Messages struct {
	Messages []Message  `json:"messages"`         // messages, the latest first
	Latest   string     `json:"latest,omitempty"` // reports that more messages exist, and how to find them
	From     *time.Time `json:"from,omitempty"`   // start of the period that was searched
	Cut      string     `json:"cut,omitempty"`    // the reason why messages, or facts about them, may be missing
}

// A Message is the summary of a message in the result of a search.
type Message struct {
	ID          string    `json:"id"`                // id of the message; "": the gateway has refused the message
	Account     string    `json:"account,omitempty"` // account that submitted the message
	Source      string    `json:"source,omitempty"`
	Destination string    `json:"destination,omitempty"`
	Begun       time.Time `json:"begun"` // time of the first known event of the message
	Last        string    `json:"last"`  // outcome of the message, as text
	State       string    `json:"state"` // outcome of the message: one of the outcomes of package story
}

// Messages finds the messages that the request selects: by ?q=, or the latest messages; by ?account=,
// ?connector= and ?state=, and from ?since= to ?until=.
func (s *Server) Messages(r *http.Request) (*Messages, error) {
	q, err := storyQueryOf(r, r.FormValue("q"))
	if err != nil {
		return nil, err
	}
	state := story.Outcome(r.FormValue("state"))
	if state != "" && !slices.Contains(States(), string(state)) {
		return nil, refuse(http.StatusBadRequest, "cannot search: state must be one of "+strings.Join(States(), ", "))
	}
	if name := r.FormValue("connector"); name != "" {
		q.Connectors = []string{name}
	}
	q.Failed = state == story.Failed && q.What == ""
	access.MarkAudited(r)
	access.Named(r, "messages")
	ctx, done, err := s.searcher.begin(r)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := s.searcher.find(ctx, q, mostListed, false)
	if err != nil {
		return nil, err
	}
	m := &Messages{Messages: []Message{}, Cut: s.searcher.cutOf(found)}
	for _, one := range withWaiting(ctx, s.view.gateway.Operate, q, found) {
		isOf := (q.Account == "" || one.Account == q.Account) &&
			(state == "" || one.Outcome() == state || state == story.Failed && one.Outcome().Failed())
		if isOf && (len(one.Steps) > 0 || one.Waits != nil) {
			m.Messages = append(m.Messages, s.searcher.messageOf(one))
		}
	}
	slices.SortStableFunc(m.Messages, func(a, b Message) int { return b.Begun.Compare(a.Begun) })
	m.Messages = m.Messages[:min(len(m.Messages), mostListed)]
	if m.From = &found.From; ctx.Err() != nil {
		m.Cut = cmp.Or(m.Cut, tooLate(found.From))
	} else if found.Cut {
		m.Latest = fmt.Sprintf(
			"The latest %d messages, back to %s UTC; those before it are found with that time as until.", len(m.Messages),
			found.From.UTC().Format(time.DateTime),
		)
	}
	return m, nil
}

// States returns the states that a search can select; failed includes undelivered.
func States() []string {
	return []string{
		string(story.Queued), string(story.OnItsWay), string(story.Delivered), string(story.Undelivered),
		string(story.Failed),
	}
}

// tooLate returns the note that a search has ended before all files were read.
func tooLate(from time.Time) string {
	if from.IsZero() {
		return "Not all files were searched, because that took too long: choose a shorter time."
	}
	return "Not all files were searched, because that took too long: only those back to " + from.UTC().Format(time.DateTime) +
		" UTC."
}

// storyQueryOf reads the query in a request.
func storyQueryOf(r *http.Request, what string) (q story.Query, err error) {
	now := time.Now()
	what = strings.TrimSpace(what)
	q = story.Query{What: what, Account: r.FormValue("account"), Since: now.Add(-searchBack)}
	if len(q.What) > 100 {
		return q, refuse(
			http.StatusBadRequest, "cannot search: q must be the number or the id of a message, of 100 characters at most",
		)
	}
	for name, to := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if text := r.FormValue(name); text != "" {
			if *to, err = timetext.ParseTime(text, now); err != nil {
				return q, refuse(http.StatusBadRequest, "cannot search: "+name+": "+err.Error())
			}
		}
	}
	return q, nil
}

// TakesLong extends the time limit of a request's answer to that of a search. The request's context ends when the client
// disconnects.
func TakesLong(w http.ResponseWriter) { Lasts(w, searchTime+timeout) }

// Lasts extends the time limit of a request's answer. The request's context ends when the client disconnects.
func Lasts(w http.ResponseWriter, most time.Duration) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // the request has been read: at a read deadline the client would count as disconnected
	_ = c.SetWriteDeadline(time.Now().Add(most))
}

// withWaiting returns the stories that were found, the latest first. In front of them it puts messages to the number
// that still wait and were not found, such as those received before the period of the search.
func withWaiting(ctx context.Context, operations *operate.Operations, q story.Query, found *story.Found) (all []*story.Story) {
	if q.What != "" && !pdulog.MessageID(q.What) {
		known := map[string]bool{}
		for _, one := range found.Stories {
			known[one.ID] = true
		}
		wanted := number.Read(q.What)
		digits := wanted.String()
		of := operate.Selection{Account: q.Account, Has: []byte(pdulog.ComparedEnd(digits))}
		eachStored(ctx, operations, of, 0, func(m *operate.StoredMessage) {
			if wanted.MayBe(number.Read(m.Dest)) && m.Kind != "receipt" && !known[m.ID] && len(all) < mostFollowed {
				all = append(all, &story.Story{ID: m.ID, Account: m.Account, Waits: m})
			}
		})
	}
	for _, one := range slices.Backward(found.Stories) {
		all = append(all, one)
	}
	return all
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
