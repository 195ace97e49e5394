package explain

import (
	"fmt"

	"pmg/sms"
)

// An Answer is what a gateway does with a message.
type Answer struct {
	Connector string   `json:"connector"`         // that the message arrives on
	Account   string   `json:"account,omitempty"` // empty for a message from an SMSC
	From      Address  `json:"from"`
	To        Address  `json:"to"`
	In        []Rule   `json:"in,omitempty"`
	Changes   []string `json:"changes,omitempty"` // what steps do to the message besides its addresses and its text
	Route     *Route   `json:"route,omitempty"`   // nil: there is none
	Ways      []Way    `json:"ways,omitempty"`    // in the order of the route's targets
	Parked    bool     `json:"parked,omitempty"`
	Refusal
}

// A Refusal is why a message is refused; "": it is not.
type Refusal struct {
	Refused string `json:"refused,omitempty"`
	Code    string `json:"code,omitempty"`
	Step    string `json:"step,omitempty"` // that refuses it
}

// An Address is an address of the message.
type Address struct {
	Address string `json:"address"`
	TON     uint8  `json:"ton"`
	NPI     uint8  `json:"npi"`
}

func addressOf(a sms.Address) Address { return Address{string(a.Addr), a.TON, a.NPI} }

// A Rule is a rule of rewrite that did something, or a list.
type Rule struct {
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
	Target    int      `json:"target"` // its index in the route
	Connector string   `json:"connector"`
	Account   string   `json:"account,omitempty"`
	Weight    int      `json:"weight,omitempty"` // of a weighted route
	Back      bool     `json:"back,omitempty"`   // it leads to where the message comes from, so it is not taken
	Out       []Rule   `json:"out,omitempty"`
	From      Address  `json:"from"`
	To        Address  `json:"to"`
	Text      *Text    `json:"text,omitempty"`
	Loses     []string `json:"loses,omitempty"` // fields that the protocol lacks
	Refusal            // of the message if the route chooses the target
}

// conclude refuses the message if each target does, or if none is open. The step "route" has refused it then, or parked it.
func (a *Answer) conclude() {
	var refused *Refusal
	for i := range a.Ways {
		switch w := &a.Ways[i]; {
		case w.Back:
		case w.Refused == "":
			a.Refusal, a.Parked = Refusal{}, false
			return
		case refused == nil:
			refused = &w.Refusal
		}
	}
	switch {
	case refused != nil:
		a.Refusal, a.Parked = *refused, false
	case a.Route != nil && a.Refused != "":
		a.Refused = fmt.Sprintf("routes[%d] leads nowhere for this destination", a.Route.Index)
	}
}
