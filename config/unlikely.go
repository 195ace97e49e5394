package config

import (
	"fmt"
	"slices"
	"strings"

	"pmg/protocols"
)

// checkUnlikely warns of options that are allowed but probably a mistake.
func checkUnlikely(d *decoder, c *Config, thorough bool) {
	serves := slices.ContainsFunc(c.Connectors, func(c Connector) bool { return c.Role() == protocols.Server })
	if serves && len(c.Accounts) == 0 {
		d.warn("", "has no accounts, so that no client can log in")
	}
	if serves && len(c.Routes) == 0 {
		d.warn("", "has no routes, so that every message is refused")
	}
	unreached(d, c)
	if len(c.Routes) == 0 {
		return
	}
	if unused(d, c); thorough {
		unrouted(d, c)
	}
}

// unreached warns of routes after a route that takes every message, or all of their messages.
func unreached(d *decoder, c *Config) {
	const most = 1000 // limit of routes that are compared pairwise: a configuration may have a hundred thousand routes
	warn := func(i, first int, takes string) {
		d.warn(
			fmt.Sprintf("routes[%d]", i), "is never reached: the route in %s takes %s",
			where(d, fmt.Sprintf("routes[%d]", first)), takes,
		)
	}
	first := slices.IndexFunc(c.Routes, func(r Route) bool { return r.takesAny() })
	same := map[string]int{} // the first route with conditions
	for i := range c.Routes {
		r := &c.Routes[i]
		if first >= 0 && i > first {
			warn(i, first, "every message")
			continue
		}
		conditions := r.conditions()
		if before, ok := same[conditions]; ok {
			warn(i, before, "the same messages")
			continue
		}
		same[conditions] = i
		for before := 0; before < i && len(c.Routes) <= most; before++ {
			if c.Routes[before].covers(r) {
				warn(i, before, "all of its messages")
				break
			}
		}
	}
}

// unused warns of out connectors by which nothing is sent.
func unused(d *decoder, c *Config) {
	for i := range c.Connectors {
		one := &c.Connectors[i]
		leads := func(r Route) bool {
			return slices.ContainsFunc(r.To, func(t Target) bool { return t.Connector == one.Name })
		}
		replies := func(l List) bool {
			return l.StopReply+l.StartReply != "" && slices.Contains(l.OptOutFrom, one.Name)
		}
		if one.Direction == Out && one.BindType().CanSubmit() && !slices.ContainsFunc(c.Routes, leads) &&
			!slices.ContainsFunc(c.Lists, replies) {
			d.warn(
				fmt.Sprintf("connectors[%d]", i),
				"is named by no route, so that nothing is sent by it: add a route with to: %s, or remove it", one.Name,
			)
		}
	}
}

// unrouted warns of out connectors whose messages from mobiles have no route. Many gateways only send.
func unrouted(d *decoder, c *Config) {
	receives := slices.ContainsFunc(c.Accounts, func(a Account) bool { return len(a.Receives) > 0 })
	if c.NoRoute == Park || receives {
		return
	}
	var names []string
	for i := range c.Connectors {
		one := &c.Connectors[i]
		takes := func(r Route) bool {
			return r.Account == "" && (r.From == "" || r.From == one.Name) &&
				slices.ContainsFunc(r.To, func(t Target) bool { return t.Connector != one.Name })
		}
		if one.Direction == Out && one.brings() && !slices.ContainsFunc(c.Routes, takes) {
			names = append(names, one.Name)
		}
	}
	if len(names) > 0 {
		d.warn(
			"routes",
			"has none for messages from mobiles that %s may bring, so that they are refused: add one with from: %s and "+
				"to: {account: …}, unless there are none",
			strings.Join(names, ", "), names[0],
		)
	}
}

// brings reports whether messages from mobiles come by an out connector.
func (c *Connector) brings() bool {
	if c.Transport() == BySession {
		return c.BindType().CanReceive()
	}
	return c.HTTP.Callbacks.Listener != ""
}
