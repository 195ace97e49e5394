package portal

import (
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
}

// messagesOf lists the messages that the request selects: those to a number, or the message with an id.
func messagesOf(v *visit) (any, *own.Problem) {
	values := v.x.Request.URL.Query()
	m := messages{
		Q: strings.TrimSpace(values.Get("q")), State: values.Get("state"), Since: values.Get("since"), Until: values.Get("until"),
		States: own.States(),
	}
	if _, err := httpsms.ParseID(m.Q); err == nil {
		if k, p := v.rooms().Messages.Find(v.x, m.Q); p == nil {
			m.Rows = []own.Known{*k}
			return m, nil
		}
	}
	query := url.Values{"limit": {strconv.Itoa(mostListed)}}
	for name, value := range map[string]string{"to": m.Q, "state": m.State, "cursor": values.Get("cursor")} {
		if value != "" {
			query.Set(name, value)
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
			return m, nil
		}
		query.Set(name, at.UTC().Format(time.RFC3339))
	}
	l, p := own.ReadList(query.Encode())
	if p != nil {
		m.Wrong = textOf(p)
		return m, nil
	}
	rows, last, p := v.rooms().Messages.List(v.x, l)
	if p != nil {
		m.Wrong = textOf(p)
		return m, nil
	}
	if m.Rows = rows; last != 0 {
		next := url.Values{"cursor": {l.Cursor(last)}} // the cursor refers to the same absolute times, even if the query has ages
		asked := map[string]string{"q": m.Q, "state": m.State, "since": query.Get("since"), "until": query.Get("until")}
		for name, value := range asked {
			if value != "" {
				next.Set(name, value)
			}
		}
		m.Next = "?" + next.Encode()
	}
	return m, nil
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
