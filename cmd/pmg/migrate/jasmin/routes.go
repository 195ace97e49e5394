package jasmin

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A route is a line of a list of routes.
type route struct {
	Row
	order   int64
	kind    string
	price   string
	targets [][2]string // sort and id of connectors
	filters []string
}

// A condition is the meaning of a route's filters: words of each sort, all of which must match.
type condition struct {
	accounts, from      []string
	destination, source []string
	whole               []string // addresses that Jasmin matches as a whole; routes of PMG match prefixes
}

var target = regexp.MustCompile(`\b(smppc|smpps|http)\(([^()\s]+)\)`)

// routes returns the routes of a list in the order in which Jasmin tries them: the highest number first.
func (t *translator) routes(rows []Row) (all []route) {
	for _, row := range rows {
		head, filters, _ := strings.Cut(row.Text, "<")
		fields := strings.Fields(head)
		r := route{Row: row}
		if len(fields) > 2 {
			r.kind, r.price = fields[1], fields[2]
			r.order, _ = strconv.ParseInt(fields[0], 10, 64)
		}
		for _, m := range target.FindAllStringSubmatch(head, -1) {
			r.targets = append(r.targets, [2]string{m[1], m[2]})
		}
		if filters != "" {
			r.filters = strings.Split(strings.TrimSuffix(strings.TrimSpace(filters), ">"), ">, <")
		}
		if len(r.targets) == 0 {
			t.draft.Decide("route, line %d (%s): it cannot be read, and is left out", row.Line, r.text())
			continue
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b route) int { return cmp.Compare(b.order, a.order) })
	return all
}

// text returns the line for a comment.
func (r *route) text() string { return strings.Join(strings.Fields(r.Text), " ") }

// leaveOut comments that a route has no equal.
func (t *translator) leaveOut(r *route, why string) {
	t.draft.Decide(
		"route, line %d (%s): %s. It is left out, so that its messages take the routes behind it", r.Line, r.text(), why,
	)
}

// addMT writes the routes of messages from clients.
func (t *translator) addMT() {
	for _, r := range t.routes(t.dump.MT) {
		c, why := t.condition(&r)
		to, also := t.smscs(&r)
		if why = cmp.Or(why, also); why != "" {
			t.leaveOut(&r, why)
			continue
		}
		var remarks []draft.Remark
		if price := strings.Trim(r.price, "0."); price != "" && r.price[0] >= '0' && r.price[0] <= '9' {
			remarks = append(remarks, draft.Remark{Text: fmt.Sprintf("rate %s: %s", r.price, money), Decide: true})
		}
		if c.accounts == nil {
			for _, from := range []string{serverSMPP, serverHTTP} {
				t.write(&r, remarks, &c, draft.Field{Key: "from", Value: from}, to)
				remarks = nil
			}
		}
		for _, a := range c.accounts {
			t.write(&r, remarks, &c, draft.Field{Key: "account", Value: a}, to)
			remarks = nil
		}
	}
}

// addMO writes the routes of messages from SMSCs.
func (t *translator) addMO() {
	for _, r := range t.routes(t.dump.MO) {
		c, why := t.condition(&r)
		to, also := t.clients(&r)
		if why = cmp.Or(why, also); why != "" {
			t.leaveOut(&r, why)
			continue
		}
		if c.from == nil {
			for _, one := range t.order {
				if one.receives {
					c.from = append(c.from, one.name)
				}
			}
		}
		for _, from := range c.from {
			t.write(&r, nil, &c, draft.Field{Key: "from", Value: from}, to)
		}
	}
}

func (t *translator) write(r *route, remarks []draft.Remark, c *condition, first draft.Field, to []draft.Flow) {
	e := &draft.Entry{From: fmt.Sprintf("From %s %d, line %d.", r.kind, r.order, r.Line), Remarks: remarks}
	if len(c.whole) > 0 {
		e.Decide(
			"the filter is of a whole address, %s, and a route of PMG is of prefixes: it takes longer ones, too, unless "+
				"a route before it does",
			strings.Join(c.whole, " and "),
		)
	}
	e.Fields = append(e.Fields, first)
	if c.destination != nil {
		e.Set("destination", c.destination)
	}
	if c.source != nil {
		e.Set("source", c.source[0])
	}
	e.Set("to", to)
	t.draft.Routes = append(t.draft.Routes, e)
}

// condition returns the meaning of a route's filters, or the reason why they cannot be translated.
func (t *translator) condition(r *route) (c condition, why string) {
	for _, f := range r.filters {
		kind, value, _ := strings.Cut(f, " ")
		_, value, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"), "=")
		if inner, ok := strings.CutPrefix(value, "re.compile("); ok {
			value = strings.Trim(strings.TrimSuffix(inner, ")"), `'"`)
		}
		switch kind {
		case "T":
		case "U":
			why = cmp.Or(
				why, c.only(&c.accounts, t.named(func(uid string, _ *account) bool { return uid == value }), "user "+value),
			)
		case "G":
			why = cmp.Or(
				why,
				c.only(&c.accounts, t.named(func(_ string, a *account) bool { return a.group == value }), "group "+value),
			)
		case "C":
			var from []string
			if one := t.connectors[value]; one != nil && one.receives {
				from = []string{one.name}
			}
			why = cmp.Or(why, c.only(&c.from, from, "connector "+value))
		case "DA":
			why = cmp.Or(why, c.address(&c.destination, value, true))
		case "SA":
			why = cmp.Or(why, c.address(&c.source, value, false))
		default:
			why = cmp.Or(why, "routes of PMG have no filter <"+f+">")
		}
	}
	return c, why
}

// only adds a condition that a message has one of some names.
func (c *condition) only(to *[]string, names []string, what string) string {
	switch {
	case len(names) == 0:
		return "there is no " + what
	case *to != nil:
		return "it has two filters of one sort"
	}
	*to = names
	return ""
}

// address adds a condition of an address: prefixes of numbers, or one prefix of any address.
func (c *condition) address(to *[]string, pattern string, number bool) string {
	words, ok := prefixes(pattern)
	if ok && words == nil {
		return ""
	}
	var begins []string
	for _, word := range words {
		prefix, open := strings.CutSuffix(word, "*")
		if ok = ok && (!number || strings.Trim(prefix, "0123456789") == ""); !open {
			c.whole = append(c.whole, prefix)
		}
		begins = append(begins, prefix)
	}
	if !ok || !number && len(begins) > 1 {
		return fmt.Sprintf("routes of PMG have prefixes, and no %q", pattern)
	}
	return c.only(to, begins, "address")
}

func (t *translator) named(want func(uid string, a *account) bool) (names []string) {
	for _, a := range t.users {
		for uid, of := range t.accounts {
			if of == a && want(uid, a) {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// smscs returns the targets of a route of messages from clients, or the reason why there are none.
func (t *translator) smscs(r *route) (to []draft.Flow, why string) {
	for _, id := range r.targets {
		c := t.connectors[id[1]]
		if c == nil || !c.sends {
			return nil, fmt.Sprintf("connector %s is not in the dump, or binds as receiver", id[1])
		}
		to = append(to, draft.Flow{{Key: "connector", Value: c.name}})
	}
	return shared(r, to), ""
}

// shared adds weights to the targets of a random route. The targets of other routes are tried in their order.
func shared(r *route, to []draft.Flow) []draft.Flow {
	if strings.HasPrefix(r.kind, "Random") {
		for i := range to {
			to[i] = append(to[i], draft.Field{Key: "weight", Value: 1})
		}
	}
	return to
}

// clients returns the targets of a route of messages from SMSCs, or the reason why there are none.
func (t *translator) clients(r *route) (to []draft.Flow, why string) {
	for _, id := range r.targets {
		name := ""
		if id[0] == "http" {
			name = t.hook(id[1])
		} else if i := slices.IndexFunc(t.users, func(a *account) bool { return a.name == id[1] }); i >= 0 {
			name = id[1]
			t.users[i].receives()
		}
		if name == "" {
			return nil, fmt.Sprintf("%s(%s) is not in the dump", id[0], id[1])
		}
		to = append(to, draft.Flow{{Key: "account", Value: name}})
	}
	return shared(r, to), ""
}

// hook returns the account whose webhook replaces an HTTP connector.
func (t *translator) hook(cid string) string {
	if name := t.hooks[cid]; name != "" {
		return name
	}
	for _, row := range t.dump.HTTP {
		fields := strings.Fields(row.Text)
		if len(fields) != 4 || fields[0] != cid {
			continue
		}
		e := &draft.Entry{From: fmt.Sprintf("From httpccm -l, line %d.", row.Line)}
		name := "mo-" + cid
		e.Set("system_id", name)
		e.Set("password", t.password())
		e.Set("bind", []string{"transmitter"})
		e.Set("connectors", []string{serverHTTP})
		e.Set("webhook", fields[3])
		form := "jasmin-get"
		if strings.EqualFold(fields[2], "post") {
			form = "jasmin-post"
		}
		e.Set("webhook_form", draft.Word(form))
		t.draft.Accounts = append(t.draft.Accounts, e)
		t.hooks[cid] = name
		return name
	}
	return ""
}
