package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/gateway/operate"
	"pmg/gateway/privacy"
	"pmg/gateway/webhooks"
	"pmg/internal/browser"
	"pmg/internal/figuretext"
	"pmg/sms"
)

// carryOut performs an action, and redirects to the page, which shows the result.
func (s *site) carryOut(a *admin.Action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		limit := 2 * patience
		if a.Name == "forget" {
			limit = time.Hour // the request reads all logs
		}
		admin.Lasts(w, limit)
		v, err := s.do(a, r)
		n := browser.Notice{Text: told(a, v)}
		if attempt, ok := v.(webhooks.Attempt); ok {
			n.Failed = !attempt.Taken
		}
		if err != nil {
			n = browser.Notice{Failed: true, Text: err.Error()}
		}
		s.server.Guard().Sessions.Notify(r, n)
		http.Redirect(w, r, s.OwnPath(r.PostFormValue("back")), http.StatusSeeOther)
	}
}

// do performs an action. An action that changes messages stops after patience.
func (s *site) do(a *admin.Action, r *http.Request) (any, error) {
	if strings.HasPrefix(a.Name, "queue/") {
		return s.changeAll(a, r)
	}
	return s.server.Do(a, r)
}

// told returns the result of an action as text.
func told(a *admin.Action, v any) string {
	switch done := v.(type) {
	case admin.Ordered:
		state := "sends its messages"
		if done.Held != nil {
			state = "is held"
		}
		return fmt.Sprintf(
			"Connector %s %s; %s queued, %d of %d sessions are open.", done.Connector, state, figuretext.Number(done.Queued),
			done.Sessions, done.Instances,
		)
	case admin.Kicked:
		return "These sessions end: " + strings.Join(done.Sessions, ", ")
	case changed:
		return done.String()
	case webhooks.Attempt:
		return attempted(&done)
	case admin.Called:
		switch servers := strings.Join(done.Servers, ", "); {
		case servers == "" && a.Name == "webhooks/enable":
			return "No server of " + done.Account + " was disabled."
		case servers == "":
			return "No events wait for a server of " + done.Account + " that may be called."
		case a.Name == "webhooks/enable":
			return "Called again: " + servers
		default:
			return "Called now: " + servers
		}
	case admin.Tried:
		return triedText(&done)
	case admin.Paid:
		return fmt.Sprintf(
			"%s: %s %s added, the balance is %s.", done.Account, done.Payment.Amount, done.Currency, done.Payment.Balance,
		)
	case admin.ChangedList:
		return listChanged(a, done.Changed)
	case *privacy.Report:
		return done.String()
	case admin.Reloaded:
		return strings.Join(done.Report, "\n")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return a.Name
	}
	return a.Name + ": " + string(b)
}

// listChanged returns the result of a change of a list as text.
func listChanged(a *admin.Action, n int) string {
	switch added := a.Name == "lists/add"; {
	case added && n == 0:
		return "The number was on the list before."
	case added:
		return "The number is on the list now."
	case n == 0:
		return "The number was not on the list."
	}
	return "The number is not on the list any more."
}

// patience is the time after which a change of many messages stops, and the page reports that messages remain.
const patience = 10 * time.Second

// changeAll changes the messages that a form selects, page by page. If patience ends first, the result
// reports that messages remain.
func (s *site) changeAll(a *admin.Action, r *http.Request) (any, error) {
	sum, until := changed{Results: map[string]int{}}, time.Now().Add(patience)
	r.Form.Set("limit", strconv.Itoa(operate.PageMatches))
	for {
		v, err := s.server.Do(a, r)
		page, ok := v.(operate.QueuePage)
		for i := range page.Messages {
			sum.Results[page.Messages[i].Result]++
		}
		if err != nil || !ok || page.Next == 0 || time.Now().After(until) || r.Context().Err() != nil {
			sum.More = err == nil && page.Next != 0
			access.After(r, sum.Results)
			return sum, err
		}
		r.Form.Set("from", sms.FormatID(page.Next))
		r.Form.Set("up_to", sms.FormatID(page.UpTo))
	}
}

// A changed is the result of an operator's change of messages.
type changed struct {
	Results map[string]int
	More    bool
}

// String returns the number of messages with each result.
func (c changed) String() string {
	var all []string
	for _, result := range slices.Sorted(maps.Keys(c.Results)) {
		all = append(all, fmt.Sprintf("%d %s", c.Results[result], result))
	}
	text := "Messages: " + cmp.Or(strings.Join(all, ", "), "none is selected") + "."
	if c.More {
		text += " More messages remain: repeat this."
	}
	return text
}

// attempted returns the result of a test call as text.
func attempted(a *webhooks.Attempt) string {
	if a.Taken {
		return fmt.Sprintf("Test succeeded: status %d after %d ms (%s).", a.Status, a.Milliseconds, a.Endpoint)
	}
	why := cmp.Or(a.Error, fmt.Sprintf("status %d", a.Status))
	return fmt.Sprintf("Test failed: %s (%s, after %d ms).", why, a.Endpoint, a.Milliseconds)
}
