package hooks

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/plugin"
	"pmg/plugin/answers"
	"pmg/sms"
	"pmg/sms/number"
)

// Kinds makes a plugin from its options.
type Kinds func(p *config.Plugin) plugin.Plugin

// Hooks holds the plugins of a gateway, and the places at which the plugins are asked. It is safe
// for concurrent use.
type Hooks struct {
	kinds   Kinds
	current atomic.Pointer[table]

	mu      sync.Mutex // held during Apply and Close
	done    chan struct{}
	retired sync.WaitGroup
	asking  sync.WaitGroup
}

// A table holds the hooks of one configuration.
type table struct {
	pools []configured
	hooks []Hook
	of    map[string][]Hook // the same hooks, by place
}

// A configured is a pool of a plugin, and the options from which it was made.
type configured struct {
	pool    *plugin.Pool
	options config.Plugin
}

// A Hook is a place where a plugin is asked.
type Hook struct {
	Pool                 *plugin.Pool
	at                   string
	accounts, connectors []string        // empty: the hook is for all
	numbers              []number.Prefix // at plugin.Network: beginnings of numbers that are asked about; empty: all

	Answers *answers.Answers // only at plugin.Network
	options config.Hook      // the options for which Answers was made
}

// New makes hooks without plugins, until Apply is called.
func New(kinds Kinds) *Hooks {
	h := &Hooks{kinds: kinds, done: make(chan struct{})}
	h.current.Store(&table{})
	return h
}

// Apply puts the plugins and hooks of a configuration in force. A plugin with unchanged options
// keeps running. A plugin with changed options is replaced, and closed when nothing waits for it
// any more.
func (h *Hooks) Apply(cfg *config.Config) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, next := h.current.Load(), &table{of: map[string][]Hook{}}
	kept := map[*plugin.Pool]bool{}
	byName := map[string]*plugin.Pool{}
	for i := range cfg.Plugins {
		p := before.find(&cfg.Plugins[i])
		if p == nil {
			p = plugin.NewPool(h.kinds(&cfg.Plugins[i]), cfg.Plugins[i].Options())
		}
		kept[p], byName[cfg.Plugins[i].Name] = true, p
		next.pools = append(next.pools, configured{p, cfg.Plugins[i]})
	}
	for i := range cfg.Hooks {
		c := &cfg.Hooks[i]
		one := Hook{Pool: byName[c.Plugin], at: c.At, accounts: c.Accounts, connectors: c.Connectors}
		if c.At == plugin.Network {
			one.numbers, one.options, one.Answers = prefixesOf(c.Numbers), *c, before.answersOf(c, one.Pool)
		}
		next.hooks, next.of[c.At] = append(next.hooks, one), append(next.of[c.At], one)
	}
	h.current.Store(next)
	for _, p := range before.pools {
		if !kept[p.pool] {
			h.retire(p.pool)
		}
	}
}

// answersOf returns the answers of a hook. The answers are kept while the options of the hook and
// its plugin are unchanged.
func (t *table) answersOf(c *config.Hook, p *plugin.Pool) *answers.Answers {
	for i := range t.hooks {
		if h := &t.hooks[i]; h.Answers != nil && h.Pool == p && reflect.DeepEqual(h.options, *c) {
			return h.Answers
		}
	}
	return answers.New(c.CacheSize, c.Cache)
}

// find returns the pool of a plugin with the same options.
func (t *table) find(options *config.Plugin) *plugin.Pool {
	for i := range t.pools {
		if options.Equal(&t.pools[i].options) {
			return t.pools[i].pool
		}
	}
	return nil
}

// retire closes a pool when no message waits for its verdict any more, or when the gateway stops.
func (h *Hooks) retire(p *plugin.Pool) {
	h.retired.Go(func() {
		timer := time.NewTimer(p.Deadline + time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.done:
		}
		p.Close()
	})
}

// Go runs f, which asks a plugin, on another goroutine. Close waits for the goroutine.
func (h *Hooks) Go(f func()) { h.asking.Go(f) }

// Close closes all plugins. Waiting callers get no verdict.
func (h *Hooks) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.done:
		return
	default:
	}
	close(h.done)
	for _, p := range h.current.Load().pools {
		p.pool.Close()
	}
	h.retired.Wait()
	h.asking.Wait()
}

// All returns the hooks in force, in their order.
func (h *Hooks) All() []Hook { return h.current.Load().hooks }

// Of returns the hooks at a place, in their order.
func (h *Hooks) Of(at string) []Hook {
	if t := h.current.Load(); len(t.hooks) > 0 {
		return t.of[at]
	}
	return nil
}

// Asks reports whether the hook's plugin is asked at this place about messages of an origin.
func (h *Hook) Asks(at string, o *sms.Origin) bool {
	return h.at == at && h.IsFor(o.Account, o.Connector)
}

// IsAbout reports whether a plugin at plugin.Network is asked about a number.
func (h *Hook) IsAbout(n number.Number) bool {
	return len(h.numbers) == 0 || slices.ContainsFunc(h.numbers, func(prefix number.Prefix) bool { return prefix.Fits(n) })
}

func prefixesOf(texts []string) (all []number.Prefix) {
	for _, text := range texts {
		p, _ := number.ParsePrefix(text)
		all = append(all, p)
	}
	return all
}

// IsFor reports whether the plugin is asked about the messages of an account on a connector.
func (h *Hook) IsFor(account, connector string) bool {
	return isOf(h.accounts, account) && isOf(h.connectors, connector)
}

// Any reports whether any plugin is asked at a place about messages of an origin.
func (h *Hooks) Any(at string, o *sms.Origin) bool {
	all := h.All()
	for i := range all {
		if all[i].Asks(at, o) {
			return true
		}
	}
	return false
}

// Waiting returns the names of the plugins that a message is subject to and that wait for other
// services.
func (h *Hooks) Waiting(m *sms.Message) (names []string) {
	all := h.All()
	for i := range all {
		h := &all[i]
		network := h.Asks(plugin.Network, m.Origin) && m.Kind == sms.Submit && h.IsAbout(number.Of(m.Dest()))
		if h.Pool.Waits() && (network || h.Asks(At(m), m.Origin)) {
			names = append(names, all[i].Pool.Name)
		}
	}
	return names
}

// At returns the place of the hooks for an incoming message.
func At(m *sms.Message) string {
	if m.Kind == sms.MO {
		return plugin.MO
	}
	return plugin.Accept
}

func isOf(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }

// A Status is the state of a plugin.
type Status struct {
	Name      string
	OnFailure string
	plugin.Figures
	Answers answers.Figures // figures of the plugin's hooks at plugin.Network, together
}

// Problem returns a text for the operator about a plugin that rests, and the consequence for
// messages. It returns "" if the plugin does not rest.
func (s *Status) Problem(now time.Time) string {
	if s.RestsUntil.IsZero() {
		return ""
	}
	meanwhile := map[string]string{
		plugin.Pass: "messages pass unchecked", plugin.Refuse: "messages are refused", plugin.Hold: "messages are held",
	}[s.OnFailure]
	next := "the next try is under way"
	if wait := s.RestsUntil.Sub(now); wait > 0 {
		next = "next try in " + max(wait.Round(time.Second), time.Second).String()
	}
	return fmt.Sprintf(
		"plugin %s has failed %d times (%s) for %v; %s; %s",
		s.Name, s.Failures, s.Failure, now.Sub(s.FailsSince).Round(time.Second), meanwhile, next,
	)
}

// Status returns the state of each plugin.
func (h *Hooks) Status() (all []Status) {
	t := h.current.Load()
	for _, p := range t.pools {
		s := Status{Name: p.options.Name, OnFailure: p.options.OnFailure, Figures: p.pool.Figures()}
		for _, h := range t.of[plugin.Network] {
			if h.Pool == p.pool {
				s.Answers.Add(h.Answers.Figures())
			}
		}
		all = append(all, s)
	}
	return all
}
