package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"

	"pmg/config/option"
	"pmg/internal/httpcall"
	"pmg/plugin"
	"pmg/plugin/expression"
	"pmg/protocols"
)

// Plugin is customer code that decides about messages.
type Plugin struct {
	Name  string            `yaml:"name" required:"yes" live:"yes" doc:"Its name in hooks, logs and metrics: letters, digits, '-' and '_'."`
	Rules []expression.Rule `yaml:"rules" live:"yes" doc:"Rules with expressions, all taken in order, in place of url or command."`
	URL   string            `yaml:"url" live:"yes" doc:"Service that is asked instead, by POST with JSON."`
	Key   string            `yaml:"key" secret:"yes" live:"yes" doc:"Key that signs questions to url, as calls of webhooks: whsec_ and 24 to 64 octets in base64."`

	Command []string `yaml:"command" live:"yes" doc:"Program that is asked instead, and its arguments: [python3, /etc/pmg/shorten.py]. It reads and writes lines of JSON. Its environment is PATH and LANG."`
	ENUM    []string `yaml:"enum" live:"yes" doc:"DNS servers that are asked by ENUM (RFC 6116) instead, at the hook network alone: IP addresses, with :port unless that is 53; the next when one does not answer (docs/networks.md)."`
	Domain  string   `yaml:"domain" default:"e164.arpa" live:"yes" doc:"With enum, the domain below which numbers are."`

	Dir  string `yaml:"dir" live:"yes" doc:"With command, the directory that it runs in; that of the gateway when empty."`
	User string `yaml:"user" live:"yes" doc:"With command, the user that it runs as, for a gateway that runs as root; the gateway's when empty."`

	OnFailure string `yaml:"on_failure" required:"yes" enum:"pass|refuse|hold" live:"yes" doc:"What happens when it fails, is late, needs too many steps, or rests after ten failures in a row: pass goes on, refuse answers temporary_failure (a client does not get its receipt; a login is refused), hold accepts the message for an operator to decide with pmg queue."`

	Deadline time.Duration `yaml:"deadline" default:"1s" range:"10ms..1m" live:"yes" doc:"How long a message may wait for its verdict, and before that for a place among those of workers."`
	Workers  int           `yaml:"workers" default:"0" range:"0..10000" live:"yes" doc:"Messages that it is asked about at the same time: 0 is 64 with url, and 1 with command, where each needs a process."`
	Queue    int           `yaml:"queue" default:"10000" range:"0..1000000" live:"yes" doc:"Further messages that wait for a worker; accounts take turns. One beyond these, or without a worker within deadline, is refused as throttled, whatever on_failure is; of the hooks send and receipt it waits."`
	Batch    int           `yaml:"batch" default:"1" range:"1..1000" live:"yes" doc:"With url, messages that a question may have."`

	rules *expression.Plugin // compiled from Rules
}

// Compiled returns the plugin made of rules; nil: the plugin has no rules.
func (p *Plugin) Compiled() *expression.Plugin { return p.rules }

// mostDomain is the limit of the length of an ENUM domain, which leaves room for a number in front.
const mostDomain = 200

var domainForm = regexp.MustCompile(`^([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?$`)

// readServer reads the address of a DNS server.
func readServer(s string) (netip.AddrPort, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.AddrPortFrom(a, 53), true
	}
	a, err := netip.ParseAddrPort(s)
	return a, err == nil && a.Port() != 0
}

// Servers returns the addresses of enum.
func (p *Plugin) Servers() (all []netip.AddrPort) {
	for _, s := range p.ENUM {
		if a, ok := readServer(s); ok {
			all = append(all, a)
		}
	}
	return all
}

// usualWorkers is how many messages a service is asked about at the same time.
const usualWorkers = 64

// Options returns the bounds of the plugin's pool.
func (p *Plugin) Options() plugin.Options {
	workers := p.Workers
	switch {
	case workers == 0 && (p.URL != "" || len(p.ENUM) > 0):
		workers = usualWorkers
	case len(p.Rules) > 0:
		workers = max(runtime.GOMAXPROCS(0)/2, 1)
	case workers == 0:
		workers = 1
	}
	return plugin.Options{Name: p.Name, Workers: workers, Queue: p.Queue, Deadline: p.Deadline, OnFailure: p.OnFailure}
}

// Hook is a place where a plugin is asked.
type Hook struct {
	At         string   `yaml:"at" required:"yes" enum:"accept|mo|send|result|receipt|login|network" live:"yes" doc:"The hook (docs/plugins.md): accept, messages that clients submit; mo, those from mobiles; send, each attempt by an out connector; result, those that have ended, which it cannot change; receipt, what clients are sent about theirs; login, clients with the right credentials; network, which network a recipient has now."`
	Plugin     string   `yaml:"plugin" required:"yes" live:"yes" doc:"The name of the plugin."`
	Accounts   []string `yaml:"accounts" live:"yes" doc:"Only messages, receipts and logins of these accounts, not with mo; of all when empty."`
	Connectors []string `yaml:"connectors" live:"yes" doc:"Only what comes in on these connectors, or, with send and result, leaves by them; on all when empty."`

	Numbers   []string      `yaml:"numbers" live:"yes" doc:"With at: network, what the numbers begin with that it is asked about, such as 46; all when empty."`
	Cache     time.Duration `yaml:"cache" default:"24h" range:"0s..8784h" live:"yes" doc:"With at: network, how long an answer is kept in memory at most; less if it says so."`
	CacheSize int           `yaml:"cache_size" default:"200000" range:"2..100000000" live:"yes" doc:"With at: network, how many answers are kept, each of 100 to 170 octets."`
}

// checkPlugins checks the plugins, and the hooks that use them.
func checkPlugins(d *decoder, c *Config, x *index) {
	names, holds := map[string]int{}, map[string]bool{}
	for i := range c.Plugins {
		holds[c.Plugins[i].Name] = c.Plugins[i].OnFailure == plugin.Hold
		checkPlugin(d, &c.Plugins[i], fmt.Sprintf("plugins[%d]", i))
		d.unique(names, c.Plugins[i].Name, "plugins[%d].name", i)
	}
	for i := range c.Hooks {
		h, path := &c.Hooks[i], fmt.Sprintf("hooks[%d]", i)
		if _, ok := names[h.Plugin]; !ok && h.Plugin != "" {
			d.problem(path+".plugin", "names no plugin: %q: add it to plugins", h.Plugin)
		}
		for j, name := range h.Accounts {
			if x.accounts[name] == nil {
				d.noAccount(x, fmt.Sprintf("%s.accounts[%d]", path, j), name)
			}
		}
		if h.At == plugin.MO && len(h.Accounts) > 0 {
			d.problem(
				path+".accounts", "must not be given with at: mo: messages from mobiles have no account before they are routed",
			)
		}
		if (h.At == plugin.Receipt || h.At == plugin.Login) && holds[h.Plugin] {
			d.problem(
				path+".at", "must not be %s, because plugin %s has on_failure: hold, and only messages can be held: give the "+
					"plugin on_failure: pass or refuse", h.At, h.Plugin,
			)
		}
		// a receipt is in neither, because it may be about a message that left by no connector
		in := h.At == plugin.Accept || h.At == plugin.Login || h.At == plugin.Network
		out := h.At == plugin.MO || h.At == plugin.Send || h.At == plugin.Result
		for j, name := range h.Connectors {
			c, at := x.connectors[name], fmt.Sprintf("%s.connectors[%d]", path, j)
			switch {
			case c == nil:
				d.noConnector(x, at, name, anyConnector)
			case out && c.Role() != protocols.Client:
				d.problem(at, "must be an out connector with at: %s: the plugin would never be asked", h.At)
			case in && c.Role() == protocols.Client:
				d.problem(at, "must be an in connector with at: %s: the plugin would never be asked", h.At)
			}
		}
		if p, ok := names[h.Plugin]; ok {
			checkKind(d, h, &c.Plugins[p], path)
		}
	}
}

// checkKind checks whether a plugin supports a hook.
func checkKind(d *decoder, h *Hook, p *Plugin, path string) {
	switch {
	case h.At == plugin.Result && len(p.Rules) > 0:
		d.problem(path+".plugin", "must be a plugin with url or command: rules can do nothing for a message that has ended")
	case h.At == plugin.Network && len(p.Rules) > 0:
		d.problem(path+".plugin", "must be a plugin with enum, url or command: rules know no network of a number")
	case h.At != plugin.Network && len(p.ENUM) > 0:
		d.problem(path+".at", "must be network: ENUM says which network has a number, and nothing of a message")
	case h.At != plugin.Network && len(h.Numbers) > 0:
		d.problem(path+".numbers", "must not be given with at: %s, because it has an effect with at: network alone", h.At)
	}
	for i, n := range h.Numbers {
		if n == "" || strings.Trim(n, "0123456789") != "" {
			d.problem(fmt.Sprintf("%s.numbers[%d]", path, i), "must be digits, such as 46, not %q", n)
		}
	}
}

func checkPlugin(d *decoder, p *Plugin, path string) {
	if p.Name != "" && !nameForm.MatchString(p.Name) {
		d.problem(path+".name", "must be letters, digits, '-' and '_', at most 64, not %q", p.Name)
	}
	kinds := 0
	for _, given := range []bool{len(p.Rules) > 0, p.URL != "", len(p.Command) > 0, len(p.ENUM) > 0} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		d.problem(path, "must have one of rules, url, command and enum")
	}
	for i, server := range p.ENUM {
		if _, ok := readServer(server); !ok {
			at := fmt.Sprintf("%s.enum[%d]", path, i)
			d.problem(at, "must be an IP address such as 192.0.2.53 or 192.0.2.53:5353, not %q", server)
		}
	}
	if !domainForm.MatchString(p.Domain) || len(p.Domain) > mostDomain {
		d.problem(path+".domain", "must be a domain such as e164.arpa, of at most %d characters", mostDomain)
	}
	if len(p.Command) > 0 && p.Command[0] == "" {
		d.problem(path+".command[0]", "must be the name of a program")
	}
	if len(p.Command) == 0 && p.Dir+p.User != "" {
		d.problem(path, "must not have dir or user without command")
	}
	if err := httpcall.CheckURL(p.URL); p.URL != "" && err != nil {
		d.problem(path+".url", "%s", err)
	}
	if err := httpcall.CheckSecret(p.Key); p.Key != "" && err != nil {
		d.problem(path+".key", "%s", err)
	}
	if len(p.Rules) == 0 {
		return
	}
	rules, problems := expression.Compile(p.Rules)
	for _, problem := range problems {
		at := fmt.Sprintf("%s.rules[%d]", path, problem.Rule)
		if problem.Option != "" {
			at = option.Join(at, problem.Option)
		}
		d.problem(at, "%s", problem.Text)
	}
	p.rules = rules
	if len(problems) == 0 {
		for _, greedy := range rules.Greedy() {
			d.warn(fmt.Sprintf("%s.rules[%d].%s", path, greedy.Rule, greedy.Option), "of plugin %s: %s", p.Name, greedy.Text)
		}
	}
}

// Equal reports whether two plugins have the same options.
func (p *Plugin) Equal(o *Plugin) bool {
	a, b := *p, *o
	a.rules, b.rules = nil, nil
	return reflect.DeepEqual(a, b)
}
