package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pmg/admin/access"
	"pmg/config"
	"pmg/connector"
	"pmg/gateway/request"
	"pmg/internal/smstext"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// Tried is the answer to a request to submit a message.
type Tried struct {
	Account   string `json:"account"`
	Connector string `json:"connector"` // connector on which the message was submitted
	ID        string `json:"id,omitempty"`
	Parts     int    `json:"parts,omitempty"`   // number of short messages that the message needs
	Parked    bool   `json:"parked,omitempty"`  // no route leads anywhere, so that the message waits for an operator
	Refused   string `json:"refused,omitempty"` // reason of the refusal; only the audit log contains the reason
}

const (
	mostTried = 10_000           // maximum number of characters in a text
	tryTime   = 10 * time.Second // longest time that the account's rate delays an answer
)

// try submits a message for ?account=, from the address ?from= to ?to= with the text ?message=. The account's rules, routes,
// rate and limits apply, on the first connector that the account may use. ?receipt=1 asks for a receipt, which goes to the
// account's client.
func (s *Server) try(r *http.Request) (any, error) {
	g, name := s.view.gateway, r.FormValue("account")
	cfg := g.Node.Config()
	var on *config.Connector
	if i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.SystemID == name }); i >= 0 {
		on = SubmitsOn(cfg, &cfg.Accounts[i])
	}
	if on == nil {
		return nil, refuse(http.StatusNotFound, "cannot submit: there is no account "+name+" that may submit messages")
	}
	c, a := g.Table.Connector(on.Name), g.Logins.Accounts().Account(name)
	if c == nil || a == nil {
		return nil, refuse(http.StatusConflict, "cannot submit: a reload is under way")
	}
	fill, err := readTried(r, on, c.Protocol)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), tryTime)
	defer cancel()
	from := &connector.Source{Connector: c, Account: a, Origin: g.Node.Origins.Of(a.SystemID, c.Name)}
	result := g.Requests.Submit(ctx, from, []request.Item{{Fill: fill}})[0]
	answer := Tried{Account: name, Connector: c.Name}
	if result.Code != sms.OK {
		answer.Refused = refused(&result)
		access.After(r, answer)
		code := http.StatusUnprocessableEntity
		if result.Code.Retryable() {
			code = http.StatusServiceUnavailable
		}
		return nil, refuse(code, "the message is refused: "+answer.Refused)
	}
	answer.ID, answer.Parts, answer.Parked = sms.FormatID(result.ID), result.Parts, result.Parked
	access.After(r, answer)
	return answer, nil
}

// SubmitsOn returns the connector for an operator's message of an account: the first connector that the
// account may use, as in pmg explain. It returns nil if the account may submit nothing.
func SubmitsOn(cfg *config.Config, a *config.Account) *config.Connector {
	if !a.MaySubmit() {
		return nil
	}
	for i := range cfg.Connectors {
		if a.MayUse(&cfg.Connectors[i]) {
			return &cfg.Connectors[i]
		}
	}
	return nil
}

// readTried reads a message from an operator. The types of its addresses follow from their form; the text is coded as a client
// of the connector would, as in pmg explain.
func readTried(r *http.Request, on *config.Connector, protocol sms.Protocol) (request.Fill, error) {
	from, to, text := r.FormValue("from"), r.FormValue("to"), r.FormValue(access.Text)
	for _, address := range []string{from, to} {
		if len(address) > rewrite.MaxAddress || !utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl) ||
			strings.TrimSpace(address) != address {
			return nil, refuse(
				http.StatusBadRequest,
				fmt.Sprintf(
					"cannot submit: an address has at most %d characters, none that cannot be seen, and no space at its "+
						"ends (the + of a form is %%2B)",
					rewrite.MaxAddress,
				),
			)
		}
	}
	switch {
	case to == "":
		return nil, refuse(http.StatusBadRequest, "cannot submit: to must be given")
	case !utf8.ValidString(text) || utf8.RuneCountInString(text) > mostTried:
		return nil, refuse(
			http.StatusBadRequest,
			fmt.Sprintf("cannot submit: the text must be UTF-8 with at most %d characters", mostTried),
		)
	}
	alphabet, octets := smstext.Encode(on.Form().Default, text)
	var native []byte
	if protocol == protocols.HTTP {
		// with this context, receipts go to the account's endpoint for events, and not to a session
		native = (&sms.Context{}).Append(nil)
	}
	wantsReceipt := r.FormValue("receipt") != ""
	return func(m *sms.Message) sms.Code {
		m.Set(rewrite.Auto([]byte(from)), rewrite.Auto([]byte(to)), octets)
		m.SetNative(protocol, native)
		if m.Alphabet = alphabet; wantsReceipt {
			m.Notify = sms.NotifySuccess | sms.NotifyFailure
		}
		return sms.OK
	}, nil
}

// refusals explain the refusal of a message by a step of intake.
var refusals = map[string]string{
	"rate":       "its account is faster than its rate",
	"open":       "the gateway is stopping, or cannot store more messages",
	"plugins":    "a plugin refuses it",
	"validity":   "its validity has passed",
	"rewrite":    "a rule of rewrite, or a list of addresses, refuses it",
	"plausible":  "its recipient cannot be a number of its country (recipients)",
	"duplicates": "its account has submitted it before, with the same sender, recipient and text (duplicates)",
	"flood":      "its account has reached its limit of messages to this recipient, or to similar numbers (flood)",
	"quiet": "its recipient has quiet hours (quiet), and its validity ends before they do, or too many messages of its " +
		"account wait for their delivery time",
	"keyword": "the first part of the long message, whose keyword decides the route, has not come",
	"route":   "no route leads anywhere",
	"fit": "its text cannot be converted for the peer: too many short messages (max_parts), or characters " +
		"that the peer's alphabet lacks; or it has more parts than its account may schedule (max_scheduled)",
	"room": "there is no room for it in the queue",
}

// refused returns the reason why intake has refused a message.
func refused(r *request.Result) string {
	why := refusals[r.Step]
	switch {
	case why == "" && r.Code == sms.SystemError:
		return "it could not be stored; the gateway's log says why"
	case why == "":
		return r.Code.String() + " at step " + r.Step
	}
	if r.Why != "" {
		why += ": " + r.Why
	}
	return why + " (" + r.Code.String() + " at step " + r.Step + ")"
}
