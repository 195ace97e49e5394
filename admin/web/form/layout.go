package form

import (
	"encoding/json"
	"strconv"

	"pmg/config"
)

// An entry is a field of the layout.
type entry struct {
	name, label, when string
	secret            bool
	lists             func(*config.Config) []Pick // names that can be chosen
}

// A part is a section of the layout.
type part struct {
	title  string
	fields []entry
}

// layout returns the fields of the form, in their order.
func layout() []part {
	return []part{
		{"Login", []entry{
			{name: "password", label: "Password", secret: true},
			{name: "rate", label: "Short messages a second"},
			{name: "max_sessions", label: "Sessions"},
			{name: "networks", label: "Addresses"},
		}},
		{"Money", []entry{
			{name: "prices", label: "Prices", lists: priceLists},
			{name: "balance.mode", label: "Prepaid or postpaid", when: "prices"},
			{name: "balance.limit", label: "Limit of what it may owe", when: "postpaid"},
			{name: "balance.day", label: "Cap for a day", when: "prices"},
			{name: "balance.month", label: "Cap for a month", when: "prices"},
			{name: "balance.low", label: "Warn below", when: "prices"},
			{name: "balance.charge", label: "What is charged", when: "prices"},
		}},
		{"Senders and numbers", []entry{
			{name: "senders", label: "Lists of its senders", lists: lists},
			{name: "block", label: "Lists that block", lists: lists},
			{name: "allow", label: "Lists that allow", lists: lists},
		}},
		{"Webhook", []entry{
			{name: "webhook", label: "URL"},
			{name: "webhook_key", label: "Key that signs", when: "webhook", secret: true},
			{name: "webhook_fallback", label: "Second URL", when: "webhook"},
			{name: "pull", label: "It fetches events itself"},
		}},
	}
}

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

// numberOf returns a whole number as a number, and another text as it is, which is refused later.
func numberOf(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return json.Number(strconv.Itoa(n))
	}
	return text
}
