package v1

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// getAccount answers with the options of the account, and its figures since the gateway started.
func (h *handler) getAccount() {
	a, t := h.x.Account.Config(), h.x.Source().Origin.Tally
	h.answerJSON(http.StatusOK, struct {
		Account      string              `json:"account"`
		Rate         int                 `json:"rate"`
		Burst        int                 `json:"burst"`
		MaxParts     int                 `json:"max_parts"`
		MaxSchedule  string              `json:"max_schedule"`
		MaxScheduled int                 `json:"max_scheduled"`
		Balance      *money              `json:"balance,omitempty"` // nil: the account is not charged
		Counters     sms.Counters[int64] `json:"counters"`
	}{a.SystemID, a.Rate, a.Burst, a.MaxParts, a.MaxSchedule.String(), a.MaxScheduled, moneyOf(t), sms.Counters[int64]{
		Scheduled: t.Scheduled.Load(), Parked: t.Parked.Load(), Memory: t.Memory.Load(), Accepted: t.Accepted.Load(),
		Refused: t.Refused.Load(), Sent: t.Sent.Load(), Failed: t.Failed.Load(), Cancelled: t.Cancelled.Load(),
		Expired: t.Expired.Load(),
	}})
}

// money is the balance of an account.
type money struct {
	Balance   string `json:"balance"`
	Reserved  string `json:"reserved"`            // reserved for messages that have not ended
	Available string `json:"available,omitempty"` // amount that further messages may cost; "": the account may owe any sum
}

// moneyOf returns the money of an account, nil if the account is not charged.
func moneyOf(t *sms.Tally) *money {
	if t.Credit.Terms().List == "" {
		return nil
	}
	balance, reserved := t.Credit.Balance()
	m := &money{Balance: balance.String(), Reserved: reserved.String()}
	if left, limited := t.Credit.Available(); limited {
		m.Available = left.String()
	}
	return m
}

// limits writes the rest of the account's rate, if it has one, to the headers of the answer.
func (h *handler) limits() {
	rate := h.x.Account.Config().Rate
	if rate == 0 {
		return
	}
	left, whole := h.x.Account.Left(h.api.rooms.Node.Clock.Now())
	header := h.x.Writer.Header()
	header["RateLimit-Policy"] = []string{fmt.Sprintf(`"account";q=%d;w=1`, rate)}
	header["RateLimit"] = []string{fmt.Sprintf(`"account";r=%d;t=%d`, left, (whole+int64(time.Second)-1)/int64(time.Second))}
}

// unknown answers a request without a handler in m, with the methods of its path, if there are any.
func (h *handler) unknown(m *http.ServeMux) {
	var allowed []string
	for _, method := range [...]string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, pattern := m.Handler(
			&http.Request{Method: method, Host: h.x.Request.Host, URL: h.x.Request.URL},
		); strings.Contains(pattern, " ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		h.problem(own.NewProblem("not-found", "there is no "+h.x.Request.URL.Path))
		return
	}
	h.x.Writer.Header().Set("Allow", strings.Join(allowed, ", "))
	h.problem(own.NewProblem("method-not-allowed", h.x.Request.URL.Path+" knows "+strings.Join(allowed, ", ")))
}
