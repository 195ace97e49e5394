package config

import (
	"fmt"
	"slices"
	"strings"

	"pmg/internal/timetext"
	"pmg/sms"
	"pmg/sms/prices"
)

// Prices is a list of prices in a file.
type Prices struct {
	Name     string   `yaml:"name" required:"yes" live:"yes" doc:"Its name in prices of accounts: letters, digits, '-' and '_'."`
	Currency string   `yaml:"currency" required:"yes" live:"yes" doc:"The currency, three capitals of ISO 4217 such as EUR. An account with a balance must not change to another one."`
	File     string   `yaml:"file" required:"yes" live:"yes" doc:"Its file, CSV with the columns for (a network, a country, a prefix such as +4670 or *), price (up to six digits behind the point) and valid_from (docs/prices.md)."`
	Columns  []string `yaml:"columns" enum:"for|network|mcc|mnc|prefix|price|valid_from|currency|ignore" live:"yes" doc:"What its columns are, in order, such as [mcc, mnc, ignore, price]; its first line says so when not given."`
	Charset  string   `yaml:"charset" default:"utf-8" enum:"utf-8|latin1" live:"yes" doc:"In which it is written: utf-8, or latin1."`
	Dates    string   `yaml:"dates" enum:"YYYY-MM-DD|DD.MM.YYYY|DD/MM/YYYY|MM/DD/YYYY|DD-MM-YYYY|YYYY/MM/DD|YYYYMMDD" live:"yes" doc:"How the days in the file are written. When empty, 2026-12-01 and 01.12.2026 are read."`
	Round    bool     `yaml:"round" default:"false" live:"yes" doc:"Whether prices with more than six digits behind the point are rounded. Otherwise the list is refused."`
}

// Reading returns how the list is read.
func (p *Prices) Reading() prices.Options {
	return prices.Options{Currency: p.Currency, Columns: p.Columns, Charset: p.Charset, Dates: p.Dates, Round: p.Round}
}

// Balance limits by an account's money what the account may submit.
type Balance struct {
	Mode  string `yaml:"mode" default:"none" enum:"none|prepaid|postpaid" live:"yes" doc:"prepaid: a message is refused if the account has not paid for it before (pmg credit add). postpaid: if it would owe more than limit. none: it may owe any sum. Refused: SMPP ESME_RTHROTTLED, HTTP 402."`
	Limit string `yaml:"limit" live:"yes" doc:"What an account with postpaid may owe, such as 500 or 99.50, in the currency of its list."`
	Day   string `yaml:"day" live:"yes" doc:"What its messages of a day of UTC may cost, whatever mode is; any sum when empty. More are refused as without money."`
	Month string `yaml:"month" live:"yes" doc:"The same in a calendar month of UTC."`
	Low   string `yaml:"low" live:"yes" doc:"A balance below this is reported once until it has risen again, by the log, an event, and the account's webhook (balance.low); never when empty."`

	Charge string `yaml:"charge" default:"accepted" enum:"accepted|delivered" live:"yes" doc:"accepted: a message that an SMSC has accepted is charged. delivered: the price is given back when the message's receipt, for which each message asks, says that it was not delivered."`
}

// Terms returns the terms of the account. The amounts are valid, because Check has read them.
func (a *Account) Terms() sms.Terms {
	b := &a.Policies.Balance
	t := sms.Terms{Limited: b.Mode == "prepaid" || b.Mode == "postpaid", Undo: b.Charge == "delivered", List: a.Policies.Prices}
	t.Limit, _ = sms.ReadMoney(b.Limit)
	t.Day, _ = sms.ReadMoney(b.Day)
	t.Month, _ = sms.ReadMoney(b.Month)
	t.Low, _ = sms.ReadMoney(b.Low)
	return t
}

// resolvePrices makes the names of the files of prices absolute, and reports those that cannot be read.
func resolvePrices(d *decoder, c *Config) {
	for i := range c.Prices {
		p := &c.Prices[i]
		if p.File = resolve(d.dir, p.File); p.File == "" {
			continue
		}
		checkRows(d, fmt.Sprintf("prices[%d].file", i), "prices/"+p.Name, p.File)
	}
}

// checkPrices checks lists of prices, and the accounts that name them.
func checkPrices(d *decoder, c *Config) {
	names := map[string]int{}
	for i := range c.Prices {
		p := &c.Prices[i]
		if p.Name != "" && !nameForm.MatchString(p.Name) {
			d.problem(fmt.Sprintf("prices[%d].name", i), "must be letters, digits, '-' and '_', at most 64, not %q", p.Name)
		}
		if p.Currency != "" && (len(p.Currency) != 3 || strings.Trim(p.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
			d.problem(fmt.Sprintf("prices[%d].currency", i), "must be three capitals, such as EUR, not %q", p.Currency)
		}
		d.unique(names, p.Name, "prices[%d].name", i)
	}
	for i := range c.Accounts {
		checkBalance(d, c, &c.Accounts[i], fmt.Sprintf("accounts[%d].", i), names)
	}
	for i := range c.Connectors {
		if one := c.Connectors[i].Costs; one != "" {
			if _, ok := names[one]; !ok {
				at := fmt.Sprintf("connectors[%d].costs", i)
				d.problem(at, "names no list of prices: %q: write it below prices, or change the name", one)
			}
		}
	}
	for i := range c.Routes {
		checkCosts(d, c, &c.Routes[i], fmt.Sprintf("routes[%d]", i), names)
	}
}

// Currency returns the currency of a list of prices, "" if there is no such list.
func (c *Config) Currency(list string) string {
	if i := slices.IndexFunc(c.Prices, func(p Prices) bool { return p.Name == list }); i >= 0 {
		return c.Prices[i].Currency
	}
	return ""
}

// Currencies returns the currency of the prices of an account, and that of the costs of a connector; "" if there are none.
func (c *Config) Currencies(account, connector string) (price, cost string) {
	if i := slices.IndexFunc(c.Accounts, func(a Account) bool { return a.SystemID == account }); i >= 0 {
		price = c.Currency(c.Accounts[i].Policies.Prices)
	}
	if i := slices.IndexFunc(c.Connectors, func(c Connector) bool { return c.Name == connector }); i >= 0 {
		cost = c.Currency(c.Connectors[i].Costs)
	}
	return price, cost
}

// CostCurrency returns the currency in which the SMSCs of all connectors charge, as far as costs says so. It returns "" if there
// are several, or none.
func (c *Config) CostCurrency() (currency string) {
	for i := range c.Connectors {
		switch one := c.Currency(c.Connectors[i].Costs); {
		case one == "":
		case currency != "" && currency != one:
			return ""
		default:
			currency = one
		}
	}
	return currency
}

// checkCosts checks whether a route can choose by costs.
func checkCosts(d *decoder, c *Config, r *Route, path string, lists map[string]int) {
	if r.Policy != Cost {
		if r.LeastDelivered > 0 {
			d.problem(path+".least_delivered", "has no effect without policy: cost: remove it, or write that")
		}
		return
	}
	if r.LeastDelivered > 0 && c.Networks.File == "" && len(c.Plugins) == 0 {
		d.problem(path+".least_delivered", "must not be given without networks, by which messages are counted")
	}
	currency := ""
	for i, to := range r.To {
		at := fmt.Sprintf("%s.to[%d]", path, i)
		j := slices.IndexFunc(c.Connectors, func(one Connector) bool { return one.Name == to.Connector })
		if j < 0 {
			if to.IsClient() {
				d.warn(at, "has no costs, so that policy: cost takes it when nothing else is up")
			}
			continue // the error was already reported
		}
		k, ok := lists[c.Connectors[j].Costs]
		if !ok {
			d.warn(at, "has no costs, so that policy: cost takes it when nothing else is up: write costs: LIST at the connector")
			continue
		}
		of := c.Prices[k].Currency
		if currency == "" {
			currency = of
		}
		if of != currency {
			d.problem(
				at, "must have costs in %s like the connectors in front, because %s cannot be compared with that", currency, of,
			)
		}
	}
}

// checkBalance checks the prices and the money of an account.
func checkBalance(d *decoder, c *Config, a *Account, path string, lists map[string]int) {
	b := &a.Policies.Balance
	if _, ok := lists[a.Policies.Prices]; !ok && a.Policies.Prices != "" {
		d.problem(path+"prices", "names no list of prices: %q: write it below prices, or change the name", a.Policies.Prices)
	}
	for _, o := range []struct{ name, text string }{{"limit", b.Limit}, {"low", b.Low}, {"day", b.Day}, {"month", b.Month}} {
		if m, ok := sms.ReadMoney(o.text); o.text != "" && (!ok || m < 0) {
			d.problem(
				path+"balance."+o.name, "must be an amount of 0 or more with at most six digits behind the point, not %q", o.text,
			)
		}
	}
	if _, ok := timetext.LoadZone(a.Policies.Timezone); !ok && a.Policies.Timezone != "" {
		d.problem(path+"timezone", "must be a time zone as Europe/Stockholm or UTC, not %q", a.Policies.Timezone)
	}
	switch {
	case b.Mode != "prepaid" && b.Mode != "postpaid":
	case a.Policies.Prices == "":
		d.problem(path+"balance.mode", "has no effect without prices: name a list, or remove it")
	case c.Store.Engine == MemoryStore:
		d.problem(path+"balance.mode", "must not be %s with store.engine: memory, which forgets balances: use pebble", b.Mode)
	case b.Mode == "postpaid" && b.Limit == "":
		d.problem(path+"balance.limit", "must be given with mode: postpaid")
	case b.Mode == "prepaid" && b.Limit != "":
		d.problem(path+"balance.limit", "must not be given with mode: prepaid, which is a limit of 0: remove it, or use postpaid")
	}
}

// AmountsIn says in which currency the amounts of a gateway are, "" if it has no prices.
func (c *Config) AmountsIn() string {
	var all []string
	for i := range c.Prices {
		all = append(all, c.Prices[i].Currency)
	}
	slices.Sort(all)
	switch all = slices.Compact(all); len(all) {
	case 0:
		return ""
	case 1:
		return "amounts are in " + all[0]
	}
	return "amounts are in the currency of each account and SMSC (" + strings.Join(all, ", ") + "): sums of several mean nothing"
}
