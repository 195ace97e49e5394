package portal

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmg/gateway/webhooks"
	"pmg/internal/timetext"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// mostListed is the number of messages on a page.
const mostListed = 50

// A messages is the model of the page that lists messages.
type messages struct {
	Q, State, Since, Until string
	States                 []string
	Wrong                  string
	Rows                   []own.Known
	Next                   string // the query of the next page; "": this page is the last
	CSV                    template.URL
}

// messagesOf lists the messages that the request selects: those to a number, or the message with an id.
func messagesOf(v *visit) (any, *own.Problem) {
	m, q := selectedMessages(v)
	if m.Wrong != "" || len(m.Rows) > 0 {
		return m, nil
	}
	q.Set("limit", strconv.Itoa(mostListed))
	l, p := own.ReadList(q.Encode())
	if p != nil {
		m.Wrong = v.textOf(p)
		return m, nil
	}
	rows, last, p := v.rooms().Messages.List(v.x, l)
	if p != nil {
		m.Wrong = v.textOf(p)
		return m, nil
	}
	if m.Rows = rows; last != 0 { // the cursor refers to the same absolute times, even if the query has ages
		m.Next = "?" + m.query(q, "cursor", l.Cursor(last))
	}
	m.CSV = template.URL(messagesFile + "?" + m.query(q))
	return m, nil
}

// selectedMessages reads which messages the request selects: a list, whose query it returns, or the message with an id.
func selectedMessages(v *visit) (m messages, list url.Values) {
	values := v.x.Request.URL.Query()
	m = messages{
		Q: strings.TrimSpace(values.Get("q")), State: values.Get("state"), Since: values.Get("since"), Until: values.Get("until"),
		States: own.States(),
	}
	list = url.Values{}
	if _, err := httpsms.ParseID(m.Q); err == nil {
		if k, p := v.rooms().Messages.Find(v.x, m.Q); p == nil {
			m.Rows = []own.Known{*k}
			return m, list
		}
	}
	for name, value := range map[string]string{"to": m.Q, "state": m.State, "cursor": values.Get("cursor")} {
		if value != "" {
			list.Set(name, value)
		}
	}
	now := time.Now()
	for name, text := range map[string]string{"since": m.Since, "until": m.Until} {
		if text == "" {
			continue
		}
		at, err := timetext.ParseTimeIn(text, now, v.zone())
		if err != nil {
			m.Wrong = name + ": " + err.Error()
			return m, list
		}
		list.Set(name, at.UTC().Format(time.RFC3339))
	}
	return m, list
}

// query returns the query of a page with the same search, and further parameters.
func (m *messages) query(list url.Values, more ...string) string {
	asked := url.Values{}
	search := map[string]string{"q": m.Q, "state": m.State, "since": list.Get("since"), "until": list.Get("until")}
	for name, value := range search {
		if value != "" {
			asked.Set(name, value)
		}
	}
	for i := 0; i < len(more); i += 2 {
		asked.Set(more[i], more[i+1])
	}
	return asked.Encode()
}

// A message is the model of the page about one message.
type message struct {
	Known      own.Known
	Deliveries []webhooks.Attempt
}

func messageOf(v *visit) (any, *own.Problem) {
	k, p := v.rooms().Messages.Find(v.x, v.x.Request.PathValue("id"))
	if p != nil {
		return nil, p
	}
	return message{*k, v.deliveries(k.ID)}, nil
}
