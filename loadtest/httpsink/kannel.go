package httpsink

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// kannel is sendsms of Kannel's smsbox. Its answers have no ids.
type kannel struct{}

// Events of a dlr-mask, which are the types of reports as well.
const (
	dlrDelivered   = 1
	dlrUndelivered = 2
	dlrBuffered    = 4
	dlrAccepted    = 8
)

func (kannel) read(w http.ResponseWriter, r *http.Request) (*message, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxSubmit)
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	return readSendsms(r.Form)
}

// readSendsms reads the parameters of a request.
func readSendsms(q url.Values) (*message, error) {
	m := &message{
		username: q.Get("username"), password: q.Get("password"), From: q.Get("from"), To: q.Get("to"), Text: q.Get("text"),
		fills: true,
	}
	if m.username == "" {
		m.username = q.Get("user")
	}
	if m.password == "" {
		m.password = q.Get("pass")
	}
	for _, name := range []string{m.username, m.From, m.To} {
		if len(name) > maxName {
			return nil, strconv.ErrRange
		}
	}
	if m.To == "" {
		return nil, strconv.ErrSyntax
	}
	mask := 0
	if text := q.Get("dlr-mask"); text != "" {
		var err error
		if mask, err = strconv.Atoi(text); err != nil {
			return nil, err
		}
	}
	if m.url = q.Get("dlr-url"); m.url == "" {
		return m, nil
	}
	of := func(event int) string {
		if mask&event == 0 {
			return ""
		}
		return strconv.Itoa(event)
	}
	m.asks = asked{of(dlrAccepted), of(dlrBuffered), of(dlrDelivered), of(dlrUndelivered)}
	return m, nil
}

func (kannel) accepted(*message, string) answer {
	return answer{http.StatusAccepted, "text/html", "0: Accepted for delivery"}
}

func (kannel) refused(f fate) answer {
	switch f {
	case throttled, full:
		return answer{http.StatusServiceUnavailable, "text/html", "Temporal failure, try again later."}
	case unauthenticated:
		return answer{http.StatusForbidden, "text/html", "Authorization failed for sendsms"}
	case malformed:
		return answer{http.StatusBadRequest, "text/html", "Missing receiver number, rejected"}
	}
	return answer{http.StatusBadRequest, "text/html", "Number(s) has/have been denied by white- and/or black-lists."}
}

// fill fills in Kannel's escapes in a URL: of the report, its type, its text and what it is about. Others stay as they are.
func fill(template, kind, text, id string, m *message, at time.Time) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest == "" {
			return b.String() + "%"
		}
		value := "%" + rest[:1]
		switch rest[0] {
		case 'd':
			value = kind
		case 'p':
			value = url.QueryEscape(m.To)
		case 'P':
			value = url.QueryEscape(m.From)
		case 'F':
			value = id
		case 'T':
			value = strconv.FormatInt(at.Unix(), 10)
		case 't':
			value = at.UTC().Format("2006-01-02+15:04:05")
		case 'A', 'a':
			value = url.QueryEscape(text)
		}
		b.WriteString(value)
		template = rest[1:]
	}
}
