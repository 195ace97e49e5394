package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"pmg/protocols"
)

// IsHash reports whether a password is a bcrypt hash.
func IsHash(password string) bool { return strings.HasPrefix(password, "$2") }

// maxCost is the highest cost of a bcrypt hash. Each step doubles the time: cost
// 10 takes about 50 ms of CPU, cost 14 about 1 s (2026).
const maxCost = 14

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// check finds what is wrong between options that are right by themselves.
func (d *decoder) check(c *Config, o Options) {
	if c.Admin.Address != "" {
		d.address("admin.address", c.Admin.Address, true)
	}
	if p := &c.PDULog; p.MaxTotal != 0 && p.MaxTotal < p.MaxSize {
		d.problem("pdulog.max_total", "must be at least max_size, which is %v, or 0 for no limit, not %v", p.MaxSize, p.MaxTotal)
	}
	accounts := map[string]int{}
	for i := range c.Accounts {
		d.account(&c.Accounts[i], fmt.Sprintf("accounts[%d]", i), c.Connectors)
		d.unique(accounts, c.Accounts[i].SystemID, "accounts[%d].system_id", i)
	}
	names, listens := map[string]int{}, map[string]string{}
	for i := range c.Connectors {
		d.connector(&c.Connectors[i], fmt.Sprintf("connectors[%d]", i), o, listens)
		d.unique(names, c.Connectors[i].Name, "connectors[%d].name", i)
	}
	x := newIndex(c)
	for i := range c.Routes {
		d.route(x, &c.Routes[i], fmt.Sprintf("routes[%d]", i))
	}
	d.logins(x)
	d.receives(c)
	d.limits(&c.Limits)
	d.together(c)
}

// unique notes that row i has the name, which no row before it may have.
func (d *decoder) unique(seen map[string]int, name, format string, i int) {
	if name == "" {
		return
	}
	path := fmt.Sprintf(format, i)
	if first, ok := seen[name]; ok {
		d.problem(path, "%q is already used in line %d", name, d.at[fmt.Sprintf(format, first)].Position.Line)
		return
	}
	seen[name] = i
}

func (d *decoder) account(a *Account, path string, connectors []Connector) {
	d.loginFits(a, path, connectors)
	if !IsHash(a.Password) {
		return
	}
	cost, err := bcrypt.Cost([]byte(a.Password))
	switch {
	case err != nil:
		d.problem(path+".password", "begins as a bcrypt hash but is none: %v", err)
	case cost > maxCost:
		d.problem(path+".password", "is a bcrypt hash of cost %d, which takes too long to check: make one of cost %d or less (htpasswd -nB -C 10)", cost, maxCost)
	}
}

// loginFits checks that there is a connector whose protocol lets the account log in.
// How long a password is does not show in its hash.
func (d *decoder) loginFits(a *Account, path string, connectors []Connector) {
	password := a.Password
	if IsHash(password) {
		password = ""
	}
	var problems []protocols.Problem
	for i := range connectors {
		c := &connectors[i]
		o := c.ProtocolOptions()
		if !a.MayUse(c) || o == nil {
			continue
		}
		if problems = o.CheckAccount(a.SystemID, password); problems == nil {
			return
		}
	}
	d.report(path, problems)
}

// report adds what a protocol finds wrong with the options at path.
func (d *decoder) report(path string, problems []protocols.Problem) {
	for _, p := range problems {
		if p.Warning {
			d.warn(join(path, p.Option), "%s", p.Text)
		} else {
			d.problem(join(path, p.Option), "%s", p.Text)
		}
	}
}

func (d *decoder) connector(c *Connector, path string, o Options, listens map[string]string) {
	if c.Name != "" && !nameForm.MatchString(c.Name) {
		d.problem(path+".name", "must be letters, digits, '-' and '_', at most 64, not %q", c.Name)
	}
	if o.Protocols != nil && !slices.Contains(o.Protocols, c.Protocol) {
		d.problem(path+".protocol", "must be %s, not %q", oneOf(o.Protocols), c.Protocol)
	}
	d.protocol(c, path)
	d.addresses(c, path, listens)
	if c.Direction != "" && c.Role() == protocols.Client && c.SystemID == "" {
		d.problem(path, "must have system_id: an out connector logs in with it")
	}
}

// protocol checks what a connector's protocol limits.
func (d *decoder) protocol(c *Connector, path string) {
	o := c.ProtocolOptions()
	if o == nil {
		return
	}
	if most := o.MaxWindow(); c.Window > most {
		d.problem(path+".window", "must be at most %d, the most that %s can pair with answers, not %d", most, c.Protocol, c.Window)
	}
	password := c.Password
	if c.Role() == protocols.Server {
		password = "" // it has no effect, and was warned of
	}
	d.report(path, o.CheckLogin(c.SystemID, password))
}

// addresses checks where a connector listens or connects to.
func (d *decoder) addresses(c *Connector, path string, listens map[string]string) {
	if len(c.AllAddresses()) == 0 {
		d.problem(path, "must have address")
	}
	if c.Address != "" {
		d.address(path+".address", c.Address, c.Listens())
		d.listenOnce(c, path+".address", c.Address, listens)
	}
	for i, a := range c.Addresses {
		item := fmt.Sprintf("%s.addresses[%d]", path, i)
		d.address(item, a, c.Listens())
		d.listenOnce(c, item, a, listens)
	}
}

// listenOnce says when an address is already listened on.
func (d *decoder) listenOnce(c *Connector, path, address string, listens map[string]string) {
	if !c.Listens() || strings.HasSuffix(address, ":0") {
		return // port 0 is a new port each time
	}
	if other, ok := listens[address]; ok {
		d.problem(path, "%s is already listened on by connector %s", address, other)
		return
	}
	listens[address] = c.Name
}

// address checks a host:port; one to listen on may be without host, and have
// port 0 to be given a free one.
func (d *decoder) address(path, address string, listen bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		d.problem(path, "must be host:port, not %q", address)
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !listen {
		d.problem(path, "must have a port from 1 to 65535, not %q", port)
	}
	if host == "" && !listen {
		d.problem(path, "must have a host before the port, not %q", address)
	}
}

func (d *decoder) route(x *index, r *Route, path string) {
	if r.Account != "" && x.accounts[r.Account] == nil {
		d.problem(path+".account", "names no account: %q", r.Account)
	}
	if r.From != "" && x.connectors[r.From] == nil {
		d.problem(path+".from", "names no connector: %q", r.From)
	}
	if strings.Trim(strings.TrimPrefix(r.Destination, "+"), "0123456789") != "" {
		d.problem(path+".destination", "must be digits, not %q", r.Destination)
	}
	d.targets(x, r, path)
	r.settle()
}

// minMemory is the least that the gateway can work with.
const minMemory = Size(64 << 20)

func (d *decoder) limits(l *Limits) {
	if l.Memory != 0 && l.Memory < minMemory {
		d.problem("limits.memory", "must be at least %s, or 0B for half of the machine's memory, not %s", minMemory, l.Memory)
	}
}

// together warns of what is allowed but can hardly be meant.
func (d *decoder) together(c *Config) {
	serves := slices.ContainsFunc(c.Connectors, func(c Connector) bool { return c.Role() == protocols.Server })
	if serves && len(c.Accounts) == 0 {
		d.warn("", "has no accounts, so that no client can log in")
	}
	if serves && len(c.Routes) == 0 {
		d.warn("", "has no routes, so that every message is refused")
	}
	for i, r := range c.Routes {
		if r.Account+r.From+r.Destination+r.Source == "" && i+1 < len(c.Routes) {
			d.warn(fmt.Sprintf("routes[%d]", i+1), "is never reached: routes[%d] takes every message", i)
			return
		}
	}
}
