package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pmg/config/option"
	"pmg/internal/nearest"
	"pmg/internal/sheet"
	"pmg/protocols"
)

// Receivers returns the accounts that may log in on the in connector and receive
// messages there.
func (c *Config) Receivers(connector *Connector) []*Account {
	if !connector.BindType().CanReceive() {
		return nil
	}
	var receivers []*Account
	for i := range c.Accounts {
		if a := &c.Accounts[i]; a.MayReceive() && a.MayUse(connector) {
			receivers = append(receivers, a)
		}
	}
	return receivers
}

// ReceivesBySession reports whether messages can be sent to sessions of the account: it may receive, on a connector that has
// sessions.
func (c *Config) ReceivesBySession(a *Account) bool {
	hasSessions := func(in Connector) bool { return in.Transport() == BySession && a.MayUse(&in) }
	return a.MayReceive() && slices.ContainsFunc(c.Connectors, hasSessions)
}

// An index finds accounts and connectors by name.
type index struct {
	config     *Config
	accounts   map[string]*Account
	connectors map[string]*Connector
	receivers  map[string][]*Account // accounts that may receive, by in connector
}

func newIndex(c *Config) *index {
	x := &index{c, map[string]*Account{}, map[string]*Connector{}, map[string][]*Account{}}
	for i := range c.Accounts {
		x.accounts[c.Accounts[i].SystemID] = &c.Accounts[i]
	}
	for i := range c.Connectors {
		to := &c.Connectors[i]
		x.connectors[to.Name] = to
		if to.Role() == protocols.Server {
			x.receivers[to.Name] = c.Receivers(to)
		}
	}
	return x
}

// noAccount reports a name that no account has.
func (d *decoder) noAccount(x *index, path, name string) {
	d.problem(path, "names no account: %q%s", name, nearest.Hint(name, slices.Sorted(maps.Keys(x.accounts))))
}

// noConnector reports a name that no connector has. The message suggests connectors
// for which want returns true.
func (d *decoder) noConnector(x *index, path, name string, want func(*Connector) bool) {
	var names []string
	for i := range x.config.Connectors {
		if want(&x.config.Connectors[i]) {
			names = append(names, x.config.Connectors[i].Name)
		}
	}
	d.problem(path, "names no connector: %q%s", name, nearest.Hint(name, names))
}

func anyConnector(*Connector) bool { return true }

// checkTargets checks the targets of a route.
func checkTargets(d *decoder, x *index, r *Route, path string) {
	seen := map[Target]bool{}
	for i, t := range r.To {
		item := fmt.Sprintf("%s.to[%d]", path, i)
		switch {
		case t.Connector != "" && t.IsClient():
			d.problem(
				item,
				"names both a connector and an account: name the account alone, its connectors option says where it logs in",
			)
		case t.IsClient():
			checkAccountTarget(d, x, t.Account, item)
		case t.Connector != "":
			checkConnectorTarget(d, x, t.Connector, item)
		default:
			d.problem(item, "must have connector or account: write to: NAME, or to: {account: SYSTEM_ID}")
			continue
		}
		t.Weight = 0
		if seen[t] {
			d.problem(item, "names %s a second time: remove one, or give one a larger weight", t.Connector+t.Account)
		}
		seen[t] = true
	}
}

// checkAccountTarget checks that messages can reach the account.
func checkAccountTarget(d *decoder, x *index, systemID, path string) {
	a := x.accounts[systemID]
	if a == nil {
		d.noAccount(x, path, systemID)
		return
	}
	switch {
	case !slices.ContainsFunc(x.config.Connectors, func(c Connector) bool { return a.MayUse(&c) }):
		d.problem(path, "leads to account %s, which may log in on no in connector: name one in its connectors option", systemID)
	case x.config.ReceivesBySession(a) || a.MobilesTo() != "":
	case !a.MayReceive():
		d.problem(
			path,
			"leads to account %s, which may only bind as transmitter: add receiver or transceiver to its bind option, "+
				"or give it a webhook, pull: true or an inbox",
			systemID,
		)
	default:
		d.problem(
			path,
			"leads to account %s, which may use no in connector with sessions: give it a webhook, pull: true or an inbox",
			systemID,
		)
	}
}

// checkConnectorTarget checks that messages can be sent on the connector and, if it is an
// in connector, that each message belongs to one account.
func checkConnectorTarget(d *decoder, x *index, name, path string) {
	to := x.connectors[name]
	if to == nil {
		d.noConnector(x, path, name, anyConnector)
		return
	}
	if to.Role() != protocols.Server {
		if !to.BindType().CanSubmit() {
			d.problem(
				path,
				"leads to connector %s, which binds as receiver and so cannot be sent messages: set its bind to "+
					"transceiver or transmitter",
				name,
			)
		}
		return
	}
	receivers := x.receivers[name]
	if slices.ContainsFunc(receivers, func(a *Account) bool { return len(a.Receives) > 0 }) {
		return
	}
	switch {
	case len(x.config.Accounts) == 0: // unlikely warns of this case
	case len(receivers) == 0:
		d.problem(
			path, "leads to connector %s, where no account may receive: let one bind there as receiver or transceiver", name,
		)
	case len(receivers) > 1:
		d.problem(path,
			"leads to connector %s, where accounts %s may receive: name one of them, with to: {account: %s}, or share "+
				"the messages out with the accounts' receives option",
			name, receiverNames(receivers), receivers[0].SystemID)
	}
}

// receiverNames lists accounts for a message, the first three of them by name.
func receiverNames(accounts []*Account) string {
	var names []string
	for _, a := range accounts[:min(len(accounts), 3)] {
		names = append(names, a.SystemID)
	}
	if more := len(accounts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// checkLogins checks the connectors that accounts may log in on.
func checkLogins(d *decoder, x *index) {
	for i := range x.config.Accounts {
		for j, name := range x.config.Accounts[i].Connectors {
			item := fmt.Sprintf("accounts[%d].connectors[%d]", i, j)
			switch to := x.connectors[name]; {
			case to == nil:
				d.noConnector(x, item, name, (*Connector).Listens)
			case to.Role() != protocols.Server:
				d.problem(
					item,
					"names connector %s, which is an out connector: name an in connector, because accounts log in on those",
					name,
				)
			}
		}
	}
}

// checkReceives checks that no prefix belongs to two accounts on one connector.
func checkReceives(d *decoder, c *Config) {
	owners := map[[2]string]string{} // system_ids, by connector and prefix
	for i := range c.Accounts {
		a := &c.Accounts[i]
		for j, prefix := range a.Receives {
			for k := range c.Connectors {
				if !a.MayUse(&c.Connectors[k]) {
					continue
				}
				at := [2]string{c.Connectors[k].Name, strings.Replace(strings.TrimPrefix(prefix, "+"), "=+", "=", 1)}
				if owner, taken := owners[at]; taken && owner != a.SystemID {
					d.problem(
						fmt.Sprintf("accounts[%d].receives[%d]", i, j),
						"%q already belongs to account %s: remove it from one of the two", prefix, owner,
					)
					break
				}
				owners[at] = a.SystemID
			}
		}
	}
}

// mostNamed is how many values of a condition are named.
const mostNamed = 3

// RouteName names a route by its conditions and its line in the file, as an operator looks for it.
func (c *Config) RouteName(i int) string {
	r := &c.Routes[i]
	var all []string
	for _, o := range []struct {
		name   string
		values []string
	}{
		{"account", []string{r.Account}}, {"from", []string{r.From}}, {"destination", r.Destination}, {
			"destination_file", []string{r.DestinationFile},
		},
		{"source", []string{r.Source}}, {"keyword", r.Keyword}, {"tag", r.Tag}, {"network", r.Network},
	} {
		text := strings.Join(o.values[:min(len(o.values), mostNamed)], ", ")
		if more := len(o.values) - mostNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if text != "" {
			all = append(all, o.name+" "+text)
		}
	}
	name := "route of " + strings.Join(all, ", ")
	if len(all) == 0 {
		name = "route of all messages"
	}
	if line := c.RouteLine(i); line > 0 {
		name += fmt.Sprintf(" (line %d)", line)
	}
	return name
}

// RouteLine returns the line of the file in which a route begins, 0 if the line is unknown.
func (c *Config) RouteLine(i int) int {
	if i < len(c.found.routes) {
		return c.found.routes[i]
	}
	return 0
}

// ManagedRoute returns the name of the managed file that defines a route, "" for a route of the main file.
func (c *Config) ManagedRoute(i int) string {
	if i < len(c.Routes) {
		return c.Routes[i].managed
	}
	return ""
}

// Prefixes returns the prefixes of destinations that the route takes, without a
// leading '+': those of destination and of destination_file. An empty prefix takes any
// destination.
func (r *Route) Prefixes() []string {
	if len(r.Destination)+len(r.fromFile) == 0 {
		return []string{""}
	}
	all := make([]string, 0, len(r.Destination)+len(r.fromFile))
	for _, p := range r.Destination {
		all = append(all, strings.TrimPrefix(p, "+"))
	}
	return append(all, r.fromFile...)
}

// takesAny reports whether the route takes every message.
func (r *Route) takesAny() bool {
	return r.Account+r.From+r.Source+r.DestinationFile == "" && len(r.Keyword)+len(r.Tag)+len(r.Network) == 0 &&
		strings.Join(r.Prefixes(), "") == ""
}

// isUnread reports whether the prefixes of the file that the route names are not known.
func (r *Route) isUnread() bool { return r.DestinationFile != "" && len(r.fromFile) == 0 }

// conditions returns a text that is equal for two routes with the same conditions, in any order and case.
func (r *Route) conditions() string {
	sets := [][]string{r.Prefixes(), lowered(r.Keyword), slices.Clone(r.Tag), slices.Clone(r.Network)}
	for i, set := range sets {
		slices.Sort(set)
		sets[i] = slices.Compact(set)
	}
	if r.isUnread() {
		sets[0] = []string{"a file", r.DestinationFile}
	}
	return fmt.Sprintf("%q %q %q %q", r.Account, r.From, strings.TrimPrefix(r.Source, "+"), sets)
}

// mostCompared is the number of prefixes up to which two routes are compared to find whether one covers the other.
const mostCompared = 100

// covers reports whether the route takes all messages that another route takes. With more prefixes than
// mostCompared it returns false.
func (r *Route) covers(other *Route) bool {
	prefixes := len(r.Destination) + len(other.Destination) + len(r.fromFile) + len(other.fromFile)
	if r.isUnread() || other.isUnread() || prefixes > mostCompared {
		return false
	}
	all := func(own, others []string, fits func(own, other string) bool) bool {
		return len(own) == 0 || len(others) > 0 && !slices.ContainsFunc(others, func(o string) bool {
			return !slices.ContainsFunc(own, func(mine string) bool { return fits(mine, o) })
		})
	}
	begins := func(own, other string) bool { return strings.HasPrefix(other, own) }
	same := func(own, other string) bool { return own == other }
	return (r.Account == "" || r.Account == other.Account) && (r.From == "" || r.From == other.From) &&
		begins(strings.TrimPrefix(r.Source, "+"), strings.TrimPrefix(other.Source, "+")) &&
		all(r.Prefixes(), other.Prefixes(), begins) && all(lowered(r.Keyword), lowered(other.Keyword), same) &&
		all(r.Tag, other.Tag, same) && all(r.Network, other.Network, same)
}

func lowered(all []string) (lower []string) {
	for _, one := range all {
		lower = append(lower, strings.ToLower(one))
	}
	return lower
}

// readPrefixFiles reads the files of prefixes that routes name.
func readPrefixFiles(d *decoder, c *Config) {
	for i := range c.Routes {
		r := &c.Routes[i]
		if r.DestinationFile == "" {
			continue
		}
		name := r.DestinationFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(d.dir, name)
		}
		var err error
		if r.fromFile, err = sheet.ReadPrefixes(name); err != nil {
			d.problem(fmt.Sprintf("routes[%d].destination_file", i), "cannot be used: %v", err)
		}
	}
}

// isDigits reports whether s contains nothing but digits.
func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// readFile reads a file of at most limit octets. It accepts regular files only, because
// a pipe or a terminal could block forever.
func readFile(name string, limit int64) (string, error) {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist: make the file, or name another", name)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file: name a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(data)) > limit {
		return "", fmt.Errorf("it is larger than %v: name a smaller file", option.Size(limit))
	}
	return string(data), nil
}

// fillPolicy sets the policy and the weights of a route that does not give them.
func (r *Route) fillPolicy() {
	policy := Failover
	for i := range r.To {
		if r.To[i].Weight != 0 {
			policy = Weighted
		}
		r.To[i].Weight = max(r.To[i].Weight, 1)
	}
	if r.Policy == "" {
		r.Policy = policy
	}
}
