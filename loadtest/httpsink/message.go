package httpsink

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A message is what a request submits.
type message struct {
	username, password string

	From      string `json:"from,omitempty"`
	To        string `json:"to"`
	Text      string `json:"text"` // or octets, where they are no text
	Reference string `json:"client_reference,omitempty"`

	deduplicate bool
	asks        asked
	url         string // URL that is called with receipts
	fills       bool   // the URL has Kannel's escapes, and its call is GET
}

// The events that a message asks for: before its end, while its network tries; at its end if it is delivered; and if it
// is not. An empty word is no event.
type asked struct{ before, buffered, delivered, failed string }

// ends are the words of the gateway's own API for SMPP's words of a message that has ended without being delivered.
var ends = map[string]string{
	"UNDELIV": "undelivered", "EXPIRED": "expired", "DELETED": "deleted", "REJECTD": "rejected", "UNKNOWN": "unknown",
}

// end returns the last event of a message whose state is SMPP's word.
func (a *asked) end(word string) string {
	switch {
	case word == "DELIVRD":
		return a.delivered
	case word == "ENROUTE" || word == "ACCEPTD":
		return a.buffered
	case a.failed == "undelivered":
		return ends[word]
	}
	return a.failed
}

// states returns the events of a message, in their order.
func (a *asked) states(word string) (states []string) {
	for _, state := range []string{a.before, a.end(word)} {
		if state != "" {
			states = append(states, state)
		}
	}
	return states
}

// A shownMessage is a message as GET /messages shows it.
type shownMessage struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	message
}

// maxShownText is how much of a text is shown, in octets.
const maxShownText = 1000

func (m *message) shown(id string) shownMessage {
	one := shownMessage{id, time.Now().UTC(), *m}
	one.Text = string([]byte(m.Text[:min(len(m.Text), maxShownText)])) // the rest is not kept
	return one
}

// api is the gateway's own API.
type api struct{}

func (api) read(w http.ResponseWriter, r *http.Request) (*message, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSubmit))
	if err != nil {
		return nil, err
	}
	m, err := readMessage(body)
	if err != nil {
		return nil, err
	}
	m.username, m.password, _ = r.BasicAuth()
	if len(m.username) > maxName {
		return nil, errors.New("the name of the account is too long")
	}
	return m, nil
}

// readMessage reads a message as POST /v1/messages has it.
func readMessage(body []byte) (*message, error) {
	var j struct {
		message
		Binary      *string
		Receipt     string
		CallbackURL string `json:"callback_url"`
		Deduplicate bool
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, err
	}
	m := j.message
	if j.Binary != nil {
		octets, err := base64.StdEncoding.DecodeString(*j.Binary)
		if err != nil {
			return nil, err
		}
		m.Text = string(octets)
	}
	m.deduplicate, m.url = j.Deduplicate, j.CallbackURL
	switch {
	case m.To == "" || len(m.To) > maxName || len(m.From) > maxName || len(m.Reference) > maxName:
		return nil, errors.New("an address or a reference is missing or too long")
	case j.Receipt == "none" || m.url == "":
	case j.Receipt == "all":
		m.asks = asked{"sent", "buffered", "delivered", "undelivered"}
	case j.Receipt == "final" || j.Receipt == "":
		m.asks = asked{"", "", "delivered", "undelivered"}
	default:
		return nil, fmt.Errorf("no receipt is %q", j.Receipt)
	}
	return &m, nil
}

func (api) accepted(m *message, id string) answer {
	b, _ := json.Marshal(struct {
		ID    string `json:"id"`
		State string `json:"state"`
		*message
		Text       string    `json:"text,omitempty"` // answers have none
		AcceptedAt time.Time `json:"accepted_at"`
	}{id, "queued", m, "", time.Now().UTC()})
	return answer{http.StatusAccepted, "application/json", string(b)}
}

func (api) refused(f fate) answer {
	problem := func(status int, name, title string) answer {
		return answer{status, "application/problem+json", fmt.Sprintf(`{"type":"/problems/%s","title":%q,"status":%d}`, name, title, status)}
	}
	switch f {
	case throttled:
		return problem(http.StatusTooManyRequests, "rate-limited", "The account sends too fast")
	case full:
		return problem(http.StatusServiceUnavailable, "queue-full", "Too many messages wait")
	case malformed:
		return problem(http.StatusBadRequest, "malformed-json", "The body is not JSON that can be read")
	case unauthenticated:
		return problem(http.StatusUnauthorized, "unauthenticated", "User name, password or key is missing or wrong")
	}
	return problem(http.StatusUnprocessableEntity, "invalid-message", "The message is not valid")
}
