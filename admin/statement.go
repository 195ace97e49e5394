package admin

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"pmg/admin/access"
	"pmg/events/statement"
	"pmg/gateway/credit"
	"pmg/protocols"
	"pmg/sms"
)

// statementTime is the time limit of making a statement: some eighty million events are read in it.
const statementTime = 2 * time.Minute

// StatementTakesLong extends the time limit of a request's answer to that of making a statement.
func StatementTakesLong(w http.ResponseWriter) { Lasts(w, statementTime+timeout) }

// Statement makes the statement of ?account=, or of the SMSC of ?connector=, for ?month=, of the files of this node.
func (s *Server) Statement(r *http.Request) (*statement.Statement, error) {
	access.MarkAudited(r)
	access.Named(r, "statement")
	select {
	case s.statements <- struct{}{}:
		defer func() { <-s.statements }()
	default:
		return nil, refuse(
			http.StatusServiceUnavailable, "cannot make a statement: another one is being made: try again in a moment",
		)
	}
	ctx, cancel := context.WithTimeout(r.Context(), statementTime)
	defer cancel()
	p, l, err := s.ledger(ctx, r)
	if err != nil {
		return nil, err
	}
	g := s.view.gateway
	made, err := statement.Make(ctx, []string{g.Node.Config().Events.Dir}, p, l, g.Intake.Networks.Name)
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, refuse(
			http.StatusServiceUnavailable,
			"cannot make the statement: there are too many events for the gateway: use pmg statement --events DIR",
		)
	case err != nil:
		return nil, refuse(http.StatusConflict, "cannot make the statement: "+err.Error())
	}
	return made, nil
}

// ledger returns the period of a statement, and what the gateway knows of the account or the SMSC. When it returns, the events
// up to its last are written.
func (s *Server) ledger(ctx context.Context, r *http.Request) (statement.Period, *statement.Ledger, error) {
	g := s.view.gateway
	l := &statement.Ledger{
		Account: r.FormValue("account"), Connector: r.FormValue("connector"), Timezone: r.FormValue("timezone"),
	}
	fail := func(code int, text string) (statement.Period, *statement.Ledger, error) {
		return statement.Period{}, nil, refuse(code, "cannot make the statement: "+text)
	}
	w := g.Settler.Writer()
	if w == nil {
		return fail(http.StatusNotFound, "the configuration has no events.dir")
	}
	if (l.Account == "") == (l.Connector == "") {
		return fail(http.StatusBadRequest, "name an account, or a connector to an SMSC")
	}
	if l.Connector != "" {
		c := g.Table.Incoming(l.Connector)
		if c == nil || c.Role() != protocols.Client {
			return fail(http.StatusNotFound, "there is no connector "+l.Connector+" to an SMSC")
		}
		l.Currency = g.Intake.Credit.Currency(c.Costs)
	} else if a := g.Table.Account(l.Account); a != nil {
		l.Currency = g.Intake.Credit.Currency(a.Policies.Prices)
		if l.Timezone == "" {
			l.Timezone = a.Policies.Timezone
		}
	} else if known, err := g.Intake.Credit.IsKnown(l.Account); err != nil || !known {
		return fail(http.StatusNotFound, "there is no account "+l.Account)
	}
	if l.Timezone == "" {
		l.Timezone = "UTC"
	}
	p, err := statement.Month(r.FormValue("month"), l.Timezone, time.Unix(0, g.Node.Clock.WallNow()))
	if err != nil {
		return fail(http.StatusBadRequest, err.Error())
	}
	l.Event = w.Last()
	if l.Payments = []statement.Payment{}; l.Account != "" {
		if err := s.money(l, p, w.Last); err != nil {
			return fail(http.StatusInternalServerError, err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := errors.Join(g.Keeper.Batches.Sync(), w.WaitFor(ctx, l.Event)); err != nil {
		return fail(http.StatusServiceUnavailable, err.Error())
	}
	return p, l, nil
}

// money sets the balance, its last event, and the payments since a period began.
func (s *Server) money(l *statement.Ledger, p statement.Period, last func() uint64) error {
	accountant := s.view.gateway.Intake.Credit
	balance, event, at := accountant.Balance(l.Account, last)
	l.Balance, l.Event = balance, event
	if err := s.view.gateway.Keeper.Batches.Sync(); err != nil {
		return err
	}
	paid, err := accountant.History(l.Account, p.From)
	switch {
	case err != nil:
		return err
	case len(paid) == credit.MaxHistory:
		return fmt.Errorf("the account has %d payments or more since the period began, which are too many", credit.MaxHistory)
	}
	for _, one := range paid {
		if one.At.UnixNano() > at { // it is not in the balance
			break
		}
		amount, ok := sms.ReadMoney(one.Amount)
		if !ok {
			return fmt.Errorf("cannot read the amount %q of a payment", one.Amount)
		}
		p := statement.Payment{At: one.At, Amount: amount, Reference: one.Reference, Comment: one.Comment}
		l.Payments = append(l.Payments, p)
	}
	return nil
}

// Charged returns the accounts with prices, and the connectors with costs.
func (s *Server) Charged() (accounts, connectors []string) {
	cfg := s.view.gateway.Node.Config()
	for i := range cfg.Accounts {
		if cfg.Accounts[i].Policies.Prices != "" {
			accounts = append(accounts, cfg.Accounts[i].SystemID)
		}
	}
	for i := range cfg.Connectors {
		if cfg.Connectors[i].Costs != "" {
			connectors = append(connectors, cfg.Connectors[i].Name)
		}
	}
	return accounts, connectors
}

// showStatement answers with a statement, as JSON or, for ?format=csv, as CSV.
func showStatement(s *Server, w http.ResponseWriter, r *http.Request) {
	StatementTakesLong(w)
	made, err := s.Statement(r)
	if err != nil || r.FormValue("format") != "csv" {
		answerFound(w, made, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	name := "pmg-statement-" + made.Account + made.Connector + "-" + made.From.Format("2006-01") + ".csv"
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	_ = made.WriteCSV(w) // an error means that the client has disconnected
}

// A Ledger is what a statement needs besides events.
type Ledger struct {
	statement.Period
	statement.Ledger
}

// showLedger answers with what a statement needs besides events.
func showLedger(s *Server, w http.ResponseWriter, r *http.Request) {
	p, l, err := s.ledger(r.Context(), r)
	if err != nil {
		l = &statement.Ledger{}
	}
	answerFound(w, Ledger{p, *l}, err)
}
