package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pmg/config"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// A Question describes a message to explain.
type Question struct {
	From, To  string
	Account   string        // account of the client; "": the only account of the configuration
	Connector string        // connector on which the message arrives; "": the first connector that the account may use
	Text      string        // "": the answer does not include the text
	DeliverIn time.Duration // time until the message's delivery time
	Validity  time.Duration // validity that the sender gives the message; 0: none
	Quality   Quality       // nil: there is no gateway that knows it
	PDU       string        // PDU with the message, as in the pdu log; "": the fields above are the whole message
}

// Quality returns how many of a thousand recent messages to a network a connector has delivered, and whether that is known.
type Quality func(connector string, n sms.Network) (thousandths int, known bool)

// Drivers makes the driver of a protocol.
type Drivers func(protocol string, c *config.Config) (protocols.Driver, error)

// Ask answers a question in English. The configuration must have been checked.
func Ask(c *config.Config, drivers Drivers, q Question) (string, error) {
	e := &asked{config: c, drivers: drivers, question: q, answer: &answer{}}
	if err := e.origin(q); err != nil {
		return "", err
	}
	if err := q.check(); err != nil {
		return "", err
	}
	if q.PDU != "" && e.from.Transport() != config.BySession {
		return "", fmt.Errorf(
			"cannot explain a PDU of connector %s, which has no sessions: describe the message with --from, --to and --text",
			e.from.Name,
		)
	}
	for targets := 1; e.target < targets; e.target++ {
		n, err := e.run()
		if err != nil {
			return "", err
		}
		targets = n
	}
	e.answer.conclude()
	e.answer.sortWays()
	return e.answer.String(), nil
}

// check returns an error for a message that cannot exist.
func (q *Question) check() error {
	switch {
	case q.PDU != "" && (q.From != "" || q.To != "" || q.Text != "" || q.DeliverIn != 0 || q.Validity != 0):
		return errors.New(
			"cannot explain a PDU and other fields: leave out --from, --to, --text, --deliver-in and --validity, " +
				"because the PDU has them",
		)
	case q.PDU == "" && q.To == "":
		return errors.New("cannot explain a message without a destination: name one with --to")
	case !utf8.ValidString(q.Text):
		return errors.New("cannot explain a text that is not UTF-8")
	}
	for _, address := range []string{q.From, q.To} {
		if len(address) > rewrite.MaxAddress {
			return fmt.Errorf("cannot explain address %q: it must have at most %d characters", address, rewrite.MaxAddress)
		}
	}
	return nil
}

// An asked is a question, with its answer so far.
type asked struct {
	config   *config.Config
	drivers  Drivers
	question Question
	from     *config.Connector
	account  *config.Account // nil: the message comes from an SMSC
	answer   *answer
	target   int // number of the target that the message takes in this run
}

// origin finds the connector and the account that the message comes from.
func (e *asked) origin(q Question) error {
	if q.Connector != "" {
		i := slices.IndexFunc(e.config.Connectors, func(c config.Connector) bool { return c.Name == q.Connector })
		if i < 0 {
			return fmt.Errorf("cannot explain: the configuration has no connector %q", q.Connector)
		}
		e.from = &e.config.Connectors[i]
	}
	if e.answer.connector = q.Connector; e.from != nil && e.from.Role() == protocols.Client {
		if q.Account != "" {
			return fmt.Errorf(
				"cannot explain: messages that arrive on connector %s come from an SMSC and have no account: leave out "+
					"--account, or name an in connector",
				q.Connector,
			)
		}
		return nil
	}
	if err := e.client(q.Account); err != nil {
		return err
	}
	i := slices.IndexFunc(e.config.Connectors, func(c config.Connector) bool {
		return e.account.MayUse(&c) && (q.Connector == "" || c.Name == q.Connector)
	})
	switch {
	case i < 0 && q.Connector == "":
		return fmt.Errorf("cannot explain: account %s may log in on no connector", e.account.SystemID)
	case i < 0:
		return fmt.Errorf("cannot explain: account %s may not log in on connector %s", e.account.SystemID, q.Connector)
	}
	e.from = &e.config.Connectors[i]
	e.answer.connector, e.answer.account = e.from.Name, e.account.SystemID
	return nil
}

// client finds the account that submits the message.
func (e *asked) client(name string) error {
	var names []string
	for i := range e.config.Accounts {
		a := &e.config.Accounts[i]
		if a.SystemID == name || name == "" && len(e.config.Accounts) == 1 {
			e.account = a
			return nil
		}
		names = append(names, a.SystemID)
	}
	if name == "" {
		return fmt.Errorf(
			"cannot explain a message without its origin: name the client with --account (there are: %s), or an SMSC "+
				"with --connector",
			strings.Join(names, ", "),
		)
	}
	return fmt.Errorf("cannot explain: the configuration has no account %q", name)
}
