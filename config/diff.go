package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pmg/config/managed"
	"pmg/config/option"
	"pmg/internal/nearest"
)

// A Change is an option that differs between two configurations.
type Change struct {
	Path     string // "connectors[operator].window"
	Old, New string // as in the file, secrets masked; of an entry of a list "absent" and "added", or "present" and "removed"
	Live     bool   // a reload applies the change; false: a restart is necessary
	Rebind   bool   // a reload applies the change to sessions that begin after the reload
}

// String writes the change for the log.
func (c Change) String() string {
	s := fmt.Sprintf("%s: %s -> %s", c.Path, c.Old, c.New)
	switch {
	case !c.Live:
		s += " (at the next restart)"
	case c.Rebind:
		s += " (for new sessions)"
	}
	return s
}

// Diff returns the changes from c to next. Accounts and connectors are compared by
// name, so that an entry inserted at the top is one change. Routes are compared as a
// whole, because their order matters.
func (c *Config) Diff(next *Config) []Change {
	return diff(reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem(), "", nil)
}

// Rebinds reports whether sessions of an out connector must be closed and bound again to put the
// options of next in force.
func (c *Connector) Rebinds(next *Connector) bool {
	changes := diff(reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem(), "", nil)
	return !c.Listens() && slices.ContainsFunc(changes, func(c Change) bool { return c.Rebind })
}

// Losses describes the removals of a reload from c to next that are probably a mistake: more than half of the
// in connectors, the out connectors or the accounts, or all routes. The removal of meant, such as
// accounts/acme, is intended and does not count; "" means that no removal is intended.
func (c *Config) Losses(next *Config, meant string) (losses []string) {
	for _, direction := range []string{In, Out} {
		losses = appendLoss(losses, direction+" connectors", names(c.Connectors, direction), names(next.Connectors, direction))
	}
	accounts := systemIDs(next.Accounts)
	if kind, name, _ := strings.Cut(meant, "/"); kind == managed.Accounts {
		accounts = append(accounts, name)
	}
	losses = appendLoss(losses, "accounts", systemIDs(c.Accounts), accounts)
	if len(c.Routes) > 0 && len(next.Routes) == 0 && !strings.HasPrefix(meant, managed.Routes+"/") {
		losses = append(losses, fmt.Sprintf("all %d routes", len(c.Routes)))
	}
	return losses
}

// appendLoss appends a loss if more than half of the names are not among next's.
func appendLoss(losses []string, kind string, names, next []string) []string {
	var lost []string
	stay := make(map[string]bool, len(next))
	for _, name := range next {
		stay[name] = true
	}
	for _, name := range names {
		if !stay[name] {
			lost = append(lost, name)
		}
	}
	if len(lost)*2 <= len(names) {
		return losses
	}
	return append(losses, fmt.Sprintf("%d of %d %s (%s)", len(lost), len(names), kind, nearest.List(lost)))
}

func names(all []Connector, direction string) (names []string) {
	for i := range all {
		if all[i].Direction == direction {
			names = append(names, all[i].Name)
		}
	}
	return names
}

func systemIDs(accounts []Account) (ids []string) {
	for i := range accounts {
		ids = append(ids, accounts[i].SystemID)
	}
	return ids
}

func diff(old, next reflect.Value, path string, to []Change) []Change {
	for f := range option.All(old.Type()) {
		a, b := old.FieldByIndex(f.Index), next.FieldByIndex(f.Index)
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			continue
		}
		at := option.Join(path, option.Key(f))
		live, rebind := f.Tag.Get("live") != "no", f.Tag.Get("live") == "rebind"
		switch {
		case option.IsSingle(f.Type):
			to = append(to, Change{at, show(old, f), show(next, f), live, rebind})
		case f.Type.Kind() == reflect.Struct:
			to = diff(a, b, at, to)
		case option.IsSingle(f.Type.Elem()):
			to = append(to, Change{at, showList(a), showList(b), live, rebind})
		case isNamedList(f.Type):
			to = diffNamed(a, b, at, live, to)
		case f.Type == reflect.TypeFor[[]Route]():
			to = diffRoutes(old.Addr().Interface().(*Config), next.Addr().Interface().(*Config), at, live, to)
		default:
			to = append(to, Change{at, fmt.Sprint(a.Len(), " ", at), fmt.Sprint(b.Len(), " ", at), live, rebind})
		}
	}
	return to
}

// diffRoutes compares routes one by one, or shows those between the equal ones at both ends if their number has changed. Two
// routes may look equal although a destination_file has changed.
func diffRoutes(from, to *Config, path string, live bool, changes []Change) []Change {
	old, next := from.Routes, to.Routes
	if len(old) != len(next) {
		n := 0
		for n < min(len(old), len(next)) && reflect.DeepEqual(old[n], next[n]) {
			n++
		}
		last, now := len(old), len(next)
		for last > n && now > n && reflect.DeepEqual(old[last-1], next[now-1]) {
			last, now = last-1, now-1
		}
		if last-n > mostRoutes || now-n > mostRoutes {
			return append(changes, Change{path, fmt.Sprint(len(old), " ", path), fmt.Sprint(len(next), " ", path), live, false})
		}
		for i := n; i < last; i++ {
			changes = append(changes, Change{Path: from.RouteAs(i), Old: old[i].line(), New: "removed", Live: live})
		}
		for i := n; i < now; i++ {
			changes = append(changes, Change{Path: to.RouteAs(i), Old: "absent", New: next[i].line(), Live: live})
		}
		return changes
	}
	for i := range old {
		a, b := &old[i], &next[i]
		if reflect.DeepEqual(a, b) {
			continue
		}
		c := Change{Path: fmt.Sprintf("%s[%d]", path, i), Old: a.line(), New: b.line(), Live: live}
		if a.managed == b.managed {
			c.Path = to.RouteAs(i)
		}
		if c.Old == c.New && a.managed == b.managed {
			c.Path += ".destination_file"
			c.Old, c.New = fmt.Sprint(len(a.fromFile), " prefixes"), fmt.Sprint(len(b.fromFile), " prefixes")
		}
		changes = append(changes, c)
	}
	return changes
}

// mostRoutes is how many routes are shown that were added or removed.
const mostRoutes = 20

// line writes a route as a line of its options and targets.
func (r *Route) line() string {
	plain := *r
	plain.To, plain.Policy = nil, ""
	var words []string
	for line := range strings.Lines(showOne(&plain)) {
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc([]string{`: ""`, ": []", ": 0"}, func(none string) bool { return strings.HasSuffix(line, none) }) {
			words = append(words, line)
		}
	}
	var targets []string
	for _, t := range r.To {
		name := t.Connector
		if t.IsClient() {
			name = strings.TrimSpace(name + " account " + t.Account)
		}
		if t.Weight != 1 {
			name += fmt.Sprint(" weight ", t.Weight)
		}
		targets = append(targets, name)
	}
	words = append(words, "to: "+strings.Join(targets, ", "))
	if r.Policy != Failover {
		words = append(words, "policy: "+r.Policy)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// isNamedList reports whether the rows of a list have names: accounts, connectors,
// lists, profiles, tokens and keys, but not routes.
func isNamedList(t reflect.Type) bool {
	return t == reflect.TypeFor[[]Account]() || t == reflect.TypeFor[[]Connector]() || t == reflect.TypeFor[[]Token]() ||
		t == reflect.TypeFor[[]Key]() || t == reflect.TypeFor[[]List]() || t == reflect.TypeFor[[]Profile]() ||
		t == reflect.TypeFor[[]Prices]()
}

// diffNamed compares lists whose entries are named by their first option.
func diffNamed(old, next reflect.Value, path string, live bool, to []Change) []Change {
	before, after := byName(old), byName(next)
	for i := range old.Len() {
		name := old.Index(i).Field(0).String()
		at := fmt.Sprintf("%s[%s]", path, name)
		b, ok := after[name]
		switch {
		case ok && reflect.DeepEqual(old.Index(i).Addr().Interface(), b.Addr().Interface()):
			// only few of very many accounts change, and a comparison by option takes long
		case ok:
			to = diff(old.Index(i), b, at, to)
		default:
			to = append(to, Change{Path: at, Old: "present", New: "removed", Live: live})
		}
	}
	for i := range next.Len() {
		name := next.Index(i).Field(0).String()
		if _, ok := before[name]; !ok {
			to = append(to, Change{Path: fmt.Sprintf("%s[%s]", path, name), Old: "absent", New: "added", Live: live})
		}
	}
	return to
}

func byName(list reflect.Value) map[string]reflect.Value {
	m := make(map[string]reflect.Value, list.Len())
	for i := range list.Len() {
		m[list.Index(i).Field(0).String()] = list.Index(i)
	}
	return m
}

// LiveFrom returns the configuration in force after a reload from old to c: the
// options of c that take effect without a restart, and the other options of old. The
// accounts, connectors and routes are those of c.
func (c *Config) LiveFrom(old *Config) *Config {
	merged := *old
	takeLive(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(c).Elem())
	merged.found = c.found
	return &merged
}

// Check returns an error if options do not fit together. The options that LiveFrom returns may conflict, even
// if both configurations were valid.
func (c *Config) Check() error {
	d := newDecoder("configuration", "", nil)
	nameAll(d, c)
	d.check(c, Options{})
	if len(d.problems) > 0 {
		return fmt.Errorf("cannot use configuration: %w", d.problems)
	}
	return nil
}

// takeLive sets the live options of the struct to, from the struct from.
func takeLive(to, from reflect.Value) {
	for f := range option.All(to.Type()) {
		a, b := to.FieldByIndex(f.Index), from.FieldByIndex(f.Index)
		switch {
		case f.Type.Kind() == reflect.Struct && !option.IsSingle(f.Type):
			takeLive(a, b)
		case f.Tag.Get("live") == "no":
		case isNamedList(f.Type):
			a.Set(takeRows(a, b))
		default:
			a.Set(b)
		}
	}
}

// takeRows returns the rows of next. A row that is also in old keeps old's options that are not live.
func takeRows(old, next reflect.Value) reflect.Value {
	if next.Len() == 0 || isLive(next.Type().Elem()) {
		return next
	}
	rows := reflect.MakeSlice(next.Type(), next.Len(), next.Len())
	before := byName(old)
	for i := range next.Len() {
		row := rows.Index(i)
		if o, ok := before[next.Index(i).Field(0).String()]; ok {
			row.Set(o)
			takeLive(row, next.Index(i))
		} else {
			row.Set(next.Index(i))
		}
	}
	return rows
}

// isLive reports whether a reload puts all options of a struct in force.
func isLive(t reflect.Type) bool {
	for f := range option.All(t) {
		if f.Type.Kind() == reflect.Struct && !option.IsSingle(f.Type) && !isLive(f.Type) || f.Tag.Get("live") == "no" {
			return false
		}
	}
	return true
}
