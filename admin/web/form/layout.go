package form

import (
	"pmg/config"
	"pmg/config/managed"
	"pmg/protocols"
)

// An entry is an option in the layout.
type entry struct {
	name, label, when string
	secret            bool
	ofPhrases         bool                        // entries of a list may have blanks
	picks             func(*config.Config) []Pick // names that can be chosen; nil: any text
	none              string                      // text of the choice that is no name; "": several names can be chosen

	doc, facts string // of an option that pmg config describe does not have, which is a number

	columns []entry // options of each entry of a list
	isName  bool    // in columns: an entry needs one of these
	isOff   bool    // in columns: a secret that can only be switched off
}

// A part is a section of the layout.
type part struct {
	title  string
	fields []entry
}

// layout returns the options of a form, in their order, nil for a kind that has no form.
func layout(kind string) []part {
	switch kind {
	case managed.Accounts:
		return accountLayout()
	case managed.Routes:
		return routeLayout()
	case managed.Lists:
		return listLayout()
	}
	return nil
}

func accountLayout() []part {
	return []part{
		{"Login", []entry{
			{name: "password", label: "Password", secret: true},
			{name: "rate", label: "Short messages a second"},
			{name: "max_sessions", label: "Sessions"},
			{name: "networks", label: "Addresses"},
			{name: "timezone", label: "Time zone"},
		}},
		{"Money", []entry{
			{name: "prices", label: "Prices", picks: priceLists, none: "none: its messages cost nothing"},
			{name: "balance.mode", label: "Prepaid or postpaid", when: "prices"},
			{name: "balance.limit", label: "Limit of what it may owe", when: "postpaid"},
			{name: "balance.day", label: "Cap for a day", when: "prices"},
			{name: "balance.month", label: "Cap for a month", when: "prices"},
			{name: "balance.low", label: "Warn below", when: "prices"},
			{name: "mail", label: "Mail when that low", when: "prices"},
			{name: "balance.charge", label: "What is charged", when: "prices"},
		}},
		{"Senders and numbers", []entry{
			{name: "senders", label: "Lists of its senders", picks: lists},
			{name: "block", label: "Lists that block", picks: lists},
			{name: "allow", label: "Lists that allow", picks: lists},
		}},
		{"Webhook", []entry{
			{name: "webhook", label: "URL"},
			{name: "webhook_key", label: "Key that signs", when: "webhook", secret: true},
			{name: "webhook_fallback", label: "Second URL", when: "webhook"},
			{name: "webhook_public", label: "Public addresses alone", when: "webhook"},
			{name: "pull", label: "It fetches events itself"},
		}},
		{"Users of the pages for customers", []entry{{name: "users", label: "Users", columns: []entry{
			{name: "name", label: "Name", isName: true},
			{name: "password", label: "Password", secret: true},
			{name: "scope", label: "May"},
			{name: "mail", label: "Mail"},
			{name: "password_once", label: "Must change the password"},
			{name: "totp_secret", label: "Second factor", isOff: true},
		}}}},
	}
}

func routeLayout() []part {
	return []part{
		{"Place", []entry{{
			name: "order", label: "Order", facts: "number, 0 to 1000000, default 0",
			doc: "Routes are asked by ascending order, those of the same order by their names, and all of these before the " +
				"routes of the file. The buttons of the page Routing set it, too.",
		}}},
		{"Which messages", []entry{
			{name: "account", label: "Account that submits"},
			{name: "from", label: "Connector they arrive on", picks: connectors(true), none: "any"},
			{name: "destination", label: "Destinations begin with"},
			{name: "network", label: "Networks"},
			{name: "source", label: "Source begins with"},
			{name: "keyword", label: "First word"},
			{name: "tag", label: "Tags"},
		}},
		{"Where they go", []entry{
			{name: "policy", label: "Policy"},
			{name: "least_delivered", label: "Least delivered share", when: "cost"},
			{name: "to", label: "Targets", doc: toDoc, columns: []entry{
				{name: "connector", label: "Connector", picks: connectors(false), none: "none", isName: true},
				{name: "account", label: "Account", isName: true},
				{name: "weight", label: "Weight"},
			}},
		}},
	}
}

func listLayout() []part {
	return []part{
		{"Opt-outs by message", []entry{
			{name: "opt_out_from", label: "Connectors whose mobiles change it", picks: connectors(false)},
			{name: "opt_out_to", label: "Numbers that they write to"},
			{name: "stop", label: "Words that add", ofPhrases: true},
			{name: "start", label: "Words that remove", ofPhrases: true},
			{name: "stop_reply", label: "Answer to one that is added"},
			{name: "start_reply", label: "Answer to one that is removed"},
		}},
	}
}

// toDoc describes the targets in rows.
const toDoc = "Connectors, or accounts whose sessions get the messages. The weight is a target's share of them."

func priceLists(c *config.Config) (all []Pick) {
	for i := range c.Prices {
		all = append(all, Pick{c.Prices[i].Name, c.Prices[i].Name + " (" + c.Prices[i].Currency + ")"})
	}
	return all
}

func lists(c *config.Config) (all []Pick) {
	for i := range c.Lists {
		all = append(all, Pick{c.Lists[i].Name, c.Lists[i].Name})
	}
	return all
}

// connectors returns a function that returns the names of all connectors, or of those by which messages leave.
func connectors(all bool) func(*config.Config) []Pick {
	return func(c *config.Config) (picks []Pick) {
		for i := range c.Connectors {
			if one := &c.Connectors[i]; all || one.Role() == protocols.Client {
				picks = append(picks, Pick{one.Name, one.Name})
			}
		}
		return picks
	}
}
