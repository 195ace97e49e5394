package rewrite

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxAddress is the maximum length of an address that a rule may make, as in the protocols.
const MaxAddress = 64

// Rules are the rules of one direction, compiled.
type Rules struct{ rules []rule }

// A rule is a rule that was checked.
type rule struct {
	number    int  // index of the rule in the configuration
	source    bool // the rule is for the source
	condition *regexp.Regexp
	replace   []piece // replacement of match; nil: no replacement
	prefixes  []prefix
	strip     []byte
	add       []byte
	set       []byte // nil: unchanged
	absent    bool   // set is for messages without an address
	auto      bool   // TON and NPI are chosen by the form
	ton, npi  int16  // new type and plan; -1: unchanged
	allow     *list  // nil: all are allowed
	deny      *list  // nil: none are denied
}

// A piece is a part of a replacement: a text, followed by the match of a group.
type piece struct {
	text  string
	group int // -1: none
}

// Compile checks the rules of a connector or an account. It returns nil for a direction
// without rules.
func Compile(all []Rule) (in, out *Rules, problems []Problem) {
	for i := range all {
		c := compiler{Rule: &all[i], number: i}
		r := c.compile()
		problems = append(problems, c.problems...)
		if all[i].In != "" {
			in = in.with(r)
		} else {
			out = out.with(r)
		}
	}
	return in, out, problems
}

// with returns the rules with another rule at the end.
func (r *Rules) with(next rule) *Rules {
	if r == nil {
		r = &Rules{}
	}
	r.rules = append(r.rules, next)
	return r
}

// A compiler checks one rule.
type compiler struct {
	*Rule
	number   int
	problems []Problem
}

func (c *compiler) problem(option, format string, args ...any) {
	c.problems = append(c.problems, Problem{c.number, option, fmt.Sprintf(format, args...)})
}

func (c *compiler) compile() rule {
	c.combination()
	for _, o := range []struct{ name, text string }{
		{"strip", c.Strip}, {"add", c.Add}, {"set", c.Set}, {"default", c.Default}, {"replace", c.Replace},
	} {
		c.address(o.name, o.text)
	}
	r := rule{
		number: c.number, source: c.In+c.Out == "source",
		prefixes: c.prefixes(), strip: octets(c.Strip), add: octets(c.Add), set: octets(c.Set +
			c.Default), absent: c.Default != "",
		auto: c.TON == "auto" || c.TON == "" && c.Set+c.Default != "", ton: number(c.TON), npi: number(c.NPI),
		allow: c.list("allow", c.Allow), deny: c.list("deny", c.Deny),
	}
	if c.Match != "" {
		c.match(&r)
	}
	return r
}

// combination checks that the rule is for one address and has one effect.
func (c *compiler) combination() {
	changes := c.given(
		"replace", c.Replace, "prefixes", strings.Join(c.Prefixes, ","), "strip", c.Strip, "add", c.Add, "set", c.Set,
		"default", c.Default, "ton", c.TON, "npi", c.NPI,
	)
	lists := len(c.Allow)+len(c.Deny) > 0
	switch {
	case (c.In == "") == (c.Out == ""):
		c.problem("", "must have either in or out: write in: source, in: destination, out: source or out: destination")
	case len(changes) == 0 && !lists:
		c.problem("", "has no effect: give it replace, prefixes, strip, add, set, default, ton, npi, allow or deny")
	case lists && c.Out != "":
		c.problem(
			"",
			"cannot refuse an outgoing message: write in instead of out, for the connector or the account that it comes from",
		)
	case lists && (len(changes) > 0 || c.Match != ""):
		c.problem(
			"", "has a list besides %s: write two rules",
			strings.Join(append(changes, c.given("match", c.Match)...), ", "),
		)
	case c.Replace != "" && c.Match == "":
		c.problem("replace", "needs match: give the expression that the address must match, or write set instead")
	case len(c.Prefixes) > 0 && c.Match != "":
		c.problem("prefixes", "needs no match: an address that begins with none of the prefixes is not changed")
	case c.Default != "" && c.Match != "":
		c.problem(
			"match",
			"never matches: default is for messages without an address: remove match, or write set instead of default",
		)
	}
	if ways := c.given(
		"replace", c.Replace, "set", c.Set, "default", c.Default, "prefixes", strings.Join(c.Prefixes, ","), "strip or add",
		c.Strip+c.Add,
	); len(ways) > 1 {
		c.problem("", "has %s, each of which sets the address: make a rule for each", strings.Join(ways, " and "))
	}
}

// given returns the names with a non-empty value, of a list of names and values.
func (c *compiler) given(pairs ...string) (names []string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			names = append(names, pairs[i])
		}
	}
	return names
}

// address checks an address or a part of one.
func (c *compiler) address(option, text string) {
	if n := utf8.RuneCountInString(text); n > MaxAddress {
		c.problem(option, "must be at most %d characters, not %d", MaxAddress, n)
	}
	switch isSource := c.In == "source" || c.Out == "source"; {
	case isSource && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }):
		c.problem(option, "must be visible characters, not %q", text)
	case !isSource && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		c.problem(option, "must be characters of ASCII, not %q", text)
	}
}

func (c *compiler) match(r *rule) {
	_, err := regexp.Compile(c.Match) // compiled alone, so that the error quotes the text of the file
	if err == nil {
		r.condition, err = regexp.Compile(`\A(?:` + c.Match + `)\z`)
	}
	if err != nil {
		c.problem("match", "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return
	}
	c.replacement(r)
}

func (c *compiler) replacement(r *rule) {
	text := c.Replace
	for text != "" {
		before, after, found := strings.Cut(text, "$")
		if !found {
			r.replace = append(r.replace, piece{before, -1})
			return
		}
		group := -1
		if after != "" && after[0] >= '0' && after[0] <= '9' {
			group = int(after[0] - '0')
		}
		switch groups := r.condition.NumSubexp(); {
		case group < 0:
			c.problem(
				"replace",
				"has a $ without a digit: $1 is the first group of match, and addresses have no $",
			)
			return
		case group > groups:
			c.problem("replace", "has $%d, but match has no such group: put ( ) around the part for $%d", group, group)
			return
		}
		r.replace = append(r.replace, piece{before, group})
		text = after[1:]
	}
}

// list checks the entries of a list.
func (c *compiler) list(option string, entries []string) *list {
	if len(entries) == 0 {
		return nil
	}
	wrong := len(c.problems)
	for i, e := range entries {
		name := fmt.Sprintf("%s[%d]", option, i)
		switch address := strings.TrimPrefix(strings.TrimSuffix(e, "*"), "+"); {
		case address == "":
			c.problem(name, "must be an address, or the beginning of one and '*', not %q", e)
		case strings.Contains(address, "*"):
			c.problem(name, "must have '*' at its end only, not %q", e)
		}
	}
	if len(c.problems) > wrong {
		return nil
	}
	return newList(entries)
}

// octets returns the octets of a text, nil if it is empty.
func octets(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// number returns the value of an option, or -1 if it is not a number.
func number(s string) int16 {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return -1
	}
	return int16(n)
}
