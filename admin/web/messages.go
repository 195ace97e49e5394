package web

import (
	"net/http"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/gateway/operate"
)

// isSearch reports whether the page reads files of any size. Such a page has no stream, and each request for
// it is in the audit log.
func (p *page) isSearch() bool {
	switch p.Name {
	case "statistics", statementName, whatIfName, registerName:
		return true
	}
	return strings.HasPrefix(p.Name, "messages")
}

// before is how long before a message's first known event the search for its story begins, because the line of a request may
// be older than the line of the answer.
const before = 10 * time.Minute

// A messagesPage is the model of the page that finds messages.
type messagesPage struct {
	*table[admin.Message]
	Q, Account, Connector, State string
	Since, Until                 string
	Latest, Cut                  string
	States                       []string
	Earlier                      string // path of the page with earlier messages; "": there are no earlier messages
	problem
}

// A problem is the reason why a page does not show the requested data.
type problem struct {
	Wrong string // error of the query; "": the query is valid
	code  int
}

func problemOf(err error) problem {
	if err == nil {
		return problem{code: http.StatusOK}
	}
	return problem{strings.ToUpper(err.Error()[:1]) + err.Error()[1:], admin.StatusOf(err)}
}

func (p problem) status() int { return p.code }

func (s *site) messages(r *http.Request) any {
	v := r.URL.Query()
	p := messagesPage{Q: strings.TrimSpace(v.Get("q")), Account: v.Get("account"), Connector: v.Get("connector"),
		State: v.Get("state"), Since: v.Get("since"), Until: v.Get("until"),
		States: admin.States(), problem: problemOf(nil), table: new(table[admin.Message])}
	found, err := s.server.Messages(r)
	if p.problem = problemOf(err); err != nil {
		return p
	}
	p.Cut, p.Latest, p.table = found.Cut, found.Latest, tableOf(r, found.Messages, func(m *admin.Message) string { return m.ID })
	if found.Latest != "" && found.From != nil {
		v.Set("until", found.From.UTC().Format(time.RFC3339Nano))
		p.Earlier = "/ui/messages?" + v.Encode()
	}
	return p
}

// StoryPath returns the path of the story of a message.
func (v *view) StoryPath(m admin.Message) string { return v.StoryOf(m.ID, m.Begun) }

// StoryOf returns the path of the story of the message with an id, about which something is known at a time.
func (v *view) StoryOf(id string, at time.Time) string {
	return v.Link("messages", id) + "?since=" + at.Add(-before).UTC().Format(time.RFC3339)
}

// A storyPage is the model of the page about one message.
type storyPage struct {
	Story        *admin.Story // nil: no message was found
	Since, Until string
	MaySeeTexts  bool
	problem
}

// Waiting returns a list of the message if the message waits.
func (p storyPage) Waiting() []operate.StoredMessage { return []operate.StoredMessage{*p.Story.Waits} }

func (s *site) story(r *http.Request) any {
	v := r.URL.Query()
	p := storyPage{Since: v.Get("since"), Until: v.Get("until"), MaySeeTexts: access.CallerOf(r).SeesTexts()}
	story, err := s.server.Message(r, r.PathValue("name"))
	p.Story, p.problem = story, problemOf(err)
	return p
}

// search answers a request for a page that reads files.
func (s *site) search(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p.Name == statementName || p.Name == whatIfName {
			admin.StatementTakesLong(w)
		} else {
			admin.TakesLong(w)
		}
		v := s.view(p, r)
		v.Notice = s.server.Guard().Sessions.Notice(r)
		s.write(w, v.Model.(interface{ status() int }).status(), p.Template(), v)
	}
}

// Clock writes the time of day, with the date for pages that have room.
func (v *view) Clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// Day writes the day of a time.
func (v *view) Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// UTC writes a time.
func (v *view) UTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }
