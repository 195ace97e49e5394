package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pmg/account"
	"pmg/config"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// A Question is about one message.
type Question struct {
	From, To  string
	Account   string // the client; "": the only account that there is
	Connector string // that the message arrives on; "": the first that the account may use
	Text      string // "": the answer says nothing of the text
}

// An Answer is what a gateway does with a message.
type Answer struct {
	Connector string  `json:"connector"`         // that the message arrives on
	Account   string  `json:"account,omitempty"` // empty for a message from an SMSC
	From      Address `json:"from"`
	To        Address `json:"to"`
	In        []Step  `json:"in,omitempty"`
	Route     *Route  `json:"route,omitempty"` // nil: there is none
	Ways      []Way   `json:"ways,omitempty"`  // in the order of the route's targets
	Parked    bool    `json:"parked,omitempty"`
	Refused   string  `json:"refused,omitempty"` // why; "": it is accepted
	Code      string  `json:"code,omitempty"`    // of the refusal
}

// An Address is an address of the message.
type Address struct {
	Address string `json:"address"`
	TON     uint8  `json:"ton"`
	NPI     uint8  `json:"npi"`
}

// A Step is a rule that did something, or a list.
type Step struct {
	Of      string  `json:"of"`      // "connector NAME" or "account SYSTEM_ID"
	Rule    int     `json:"rule"`    // its index
	Text    string  `json:"text"`    // the rule itself
	Address string  `json:"address"` // "source" or "destination"
	Before  Address `json:"before"`
	After   Address `json:"after"`
	List    bool    `json:"list,omitempty"`
	Refuses bool    `json:"refuses,omitempty"`
}

// A Route is the route that matches.
type Route struct {
	Index  int    `json:"index"`
	Text   string `json:"text"`
	Policy string `json:"policy"`
}

// A Way is a connector that the message may leave by. Those of an account that may log in on
// several are ways to one target, whose sessions share the messages.
type Way struct {
	Target    int     `json:"target"` // its index in the route
	Connector string  `json:"connector"`
	Account   string  `json:"account,omitempty"`
	Weight    int     `json:"weight,omitempty"` // of a weighted route
	Back      bool    `json:"back,omitempty"`   // it leads to where the message comes from, so it is not taken
	Out       []Step  `json:"out,omitempty"`
	From      Address `json:"from"`
	To        Address `json:"to"`
	Text      *Text   `json:"text,omitempty"`
}

// Ask answers a question about a configuration that has been checked.
func Ask(c *config.Config, q Question) (*Answer, error) {
	e := &asked{config: c, text: q.Text, answer: &Answer{}}
	if err := e.origin(q); err != nil {
		return nil, err
	}
	if q.To == "" {
		return nil, errors.New("cannot explain a message without a destination: name one with --to")
	}
	for _, address := range []string{q.From, q.To} {
		if len(address) > rewrite.MaxAddress {
			return nil, fmt.Errorf("cannot explain address %q: it must have at most %d characters", address, rewrite.MaxAddress)
		}
	}
	a := e.answer
	addresses := assumed(q)
	a.From, a.To = addressOf(addresses.Source), addressOf(addresses.Dest)
	code := e.apply(&a.In, addresses, ofConnector(e.from, e.from.RewriteIn()), e.ofAccount((*config.Account).RewriteIn))
	if code != sms.OK {
		last := a.In[len(a.In)-1]
		a.refuse(code, fmt.Sprintf("rewrite[%d] of %s does not let the %s pass", last.Rule, last.Of, last.Address))
		return a, nil
	}
	e.route(addresses)
	return a, nil
}

// assumed returns the addresses of the question, with the types that follow from their
// form.
func assumed(q Question) *rewrite.Addresses {
	source, dest := rewrite.Auto([]byte(q.From)), rewrite.Auto([]byte(q.To))
	source.Addr, dest.Addr = []byte(q.From), []byte(q.To)
	a := &rewrite.Addresses{}
	a.Set(source, dest)
	return a
}

func addressOf(a sms.Address) Address { return Address{string(a.Addr), a.TON, a.NPI} }

func (a *Answer) refuse(code sms.Code, why string) { a.Code, a.Refused = code.String(), why }

// An asked is a question that is being answered.
type asked struct {
	config  *config.Config
	from    *config.Connector
	account *config.Account // nil: the message comes from an SMSC
	text    string
	answer  *Answer
}

// origin finds where the message comes from.
func (e *asked) origin(q Question) error {
	if q.Connector != "" {
		if e.from = e.connector(q.Connector); e.from == nil {
			return fmt.Errorf("cannot explain: the configuration has no connector %q", q.Connector)
		}
	}
	if e.from != nil && e.from.Role() == protocols.Client {
		if q.Account != "" {
			return fmt.Errorf("cannot explain: messages that arrive on connector %s come from an SMSC and have no account: leave out --account, or name an in connector", q.Connector)
		}
		e.answer.Connector = e.from.Name
		return nil
	}
	if err := e.client(q.Account); err != nil {
		return err
	}
	if e.from == nil {
		i := slices.IndexFunc(e.config.Connectors, func(c config.Connector) bool { return e.account.MayUse(&c) })
		if i < 0 {
			return fmt.Errorf("cannot explain: account %s may log in on no connector", e.account.SystemID)
		}
		e.from = &e.config.Connectors[i]
	}
	if !e.account.MayUse(e.from) {
		return fmt.Errorf("cannot explain: account %s may not log in on connector %s", e.account.SystemID, e.from.Name)
	}
	e.answer.Connector, e.answer.Account = e.from.Name, e.account.SystemID
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
		return fmt.Errorf("cannot explain a message without its origin: name the client with --account (there are: %s), or an SMSC with --connector", strings.Join(names, ", "))
	}
	return fmt.Errorf("cannot explain: the configuration has no account %q", name)
}

func (e *asked) connector(name string) *config.Connector {
	for i := range e.config.Connectors {
		if e.config.Connectors[i].Name == name {
			return &e.config.Connectors[i]
		}
	}
	return nil
}

// owned are the rules of one direction with those they were made of.
type owned struct {
	of    string
	rules *rewrite.Rules // nil: there are none
	texts []rewrite.Rule
}

func ofConnector(c *config.Connector, rules *rewrite.Rules) owned {
	return owned{"connector " + c.Name, rules, c.Rewrite}
}

// ofAccount returns rules of the account that submits the message.
func (e *asked) ofAccount(rules func(*config.Account) *rewrite.Rules) owned {
	if e.account == nil {
		return owned{}
	}
	return owned{"account " + e.account.SystemID, rules(e.account), e.account.Rewrite}
}

// apply applies rules and appends what they did.
func (e *asked) apply(to *[]Step, a *rewrite.Addresses, all ...owned) sms.Code {
	for _, o := range all {
		if o.rules == nil {
			continue
		}
		code := o.rules.Explain(a, func(s rewrite.Step) {
			address := "destination"
			if s.Source {
				address = "source"
			}
			*to = append(*to, Step{
				Of: o.of, Rule: s.Rule, Text: o.texts[s.Rule].String(), Address: address,
				Before: addressOf(s.Before), After: addressOf(s.After), List: s.List, Refuses: s.Code != sms.OK,
			})
		})
		if code != sms.OK {
			return code
		}
	}
	return sms.OK
}

// route finds the route of the message, and what becomes of it without one.
func (e *asked) route(a *rewrite.Addresses) {
	table := route.NewIndex(e.config.Routes, func(t config.Target) config.Target { return t })
	r, found := table.RouteKeyword(e.answer.Account, e.from.Name, a.Dest.Addr, a.Source.Addr, route.Keyword(e.text))
	if !found {
		e.unrouted("no route matches")
		return
	}
	c := &e.config.Routes[r.Index]
	e.answer.Route = &Route{Index: r.Index, Text: routeText(c), Policy: c.Policy}
	for i, t := range r.Targets {
		e.target(i, t.To, a)
	}
	if !slices.ContainsFunc(e.answer.Ways, func(w Way) bool { return !w.Back }) {
		e.unrouted(fmt.Sprintf("routes[%d] leads nowhere for this destination", r.Index))
	}
}

// unrouted says what becomes of a message that no route leads anywhere.
func (e *asked) unrouted(why string) {
	code := sms.BadDestination
	switch {
	case e.config.NoRoute == config.Park && e.config.Store.Engine != config.MemoryStore:
		e.answer.Parked = true
		return
	case e.account == nil:
		code = sms.Rejected
	}
	e.answer.refuse(code, why)
}

// target appends the ways of a target: one for an out connector, and one for each in
// connector that an account may have sessions on.
func (e *asked) target(index int, t config.Target, a *rewrite.Addresses) {
	w := Way{Target: index, Connector: t.Connector, Account: t.Account}
	if e.answer.Route.Policy == config.Weighted {
		w.Weight = t.Weight
	}
	to := e.connector(t.Connector)
	if t.Account == "" && to.Role() == protocols.Client {
		w.Back = e.account == nil && to == e.from
		e.way(w, a, ofConnector(to, to.RewriteOut()))
		return
	}
	if t.Account == "" {
		receivers := account.NewTable(e.config, account.NewRegistry()).Receivers(to.Name)
		receiver := receivers.Find(a.Dest.Addr)
		if receiver == nil {
			return
		}
		w.Account = receiver.SystemID
	}
	i := slices.IndexFunc(e.config.Accounts, func(c config.Account) bool { return c.SystemID == w.Account })
	client := &e.config.Accounts[i]
	for i := range e.config.Connectors {
		if on := &e.config.Connectors[i]; client.MayUse(on) {
			w.Connector = on.Name
			e.way(w, a, owned{"account " + w.Account, client.RewriteOut(), client.Rewrite}, ofConnector(on, on.RewriteOut()))
		}
	}
}

// way appends a way with what its rules do.
func (e *asked) way(w Way, a *rewrite.Addresses, rules ...owned) {
	var own rewrite.Addresses
	own.Set(a.Source, a.Dest)
	if e.apply(&w.Out, &own, rules...) != sms.OK {
		own.Dest.Addr = nil
	}
	w.From, w.To = addressOf(own.Source), addressOf(own.Dest)
	if e.text != "" {
		w.Text = plan(e.from.Form(), e.connector(w.Connector).Form(), e.text)
	}
	e.answer.Ways = append(e.answer.Ways, w)
}

// maxListed is how many prefixes or keywords of a route are shown.
const maxListed = 5

// routeText writes the conditions of a route, nearly as the configuration does.
func routeText(r *config.Route) string {
	var b strings.Builder
	for _, o := range []struct{ key, value string }{
		{"account", r.Account}, {"from", r.From}, {"destination", list(r.Prefixes())}, {"source", r.Source}, {"keyword", list(r.Keyword)},
	} {
		if o.value != "" {
			fmt.Fprintf(&b, ", %s: %s", o.key, o.value)
		}
	}
	if b.Len() == 0 {
		return "for any message"
	}
	return "{" + strings.TrimPrefix(b.String(), ", ") + "}"
}

// list writes a list as the configuration does; a list of one needs no brackets.
func list(all []string) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	shown := strings.Join(all[:min(len(all), maxListed)], ", ")
	if more := len(all) - maxListed; more > 0 {
		shown += fmt.Sprintf(", and %d more", more)
	}
	return "[" + shown + "]"
}
