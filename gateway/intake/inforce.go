package intake

import (
	"math/bits"
	"slices"

	"pmg/config"
)

// inForce are the steps that have something to do under a configuration. For each way, in the order
// of the bits of Ways, it has a set of indexes of steps. A step that no option needs is not called.
type inForce [5]uint64

// Use replaces the steps, and puts all of them in force. A test adds a step in this way, and pmg explain records what each step
// does.
func (d *Checker) Use(steps []Step) {
	d.steps = steps
	d.Widen()
}

// Widen puts all steps in force. It comes before a new configuration, some of whose options are in force earlier than others.
func (d *Checker) Widen() { d.putInForce(func(*Step) bool { return true }) }

// Narrow puts only those steps in force that have something to do under the configuration, which
// must be in force completely.
func (d *Checker) Narrow(cfg *config.Config) {
	d.putInForce(func(s *Step) bool { return s.With == nil || s.With(d, cfg) })
}

func (d *Checker) putInForce(is func(*Step) bool) {
	var sets inForce
	for i := range d.steps {
		s := &d.steps[i]
		if !is(s) {
			continue
		}
		for way := range sets {
			if s.Ways&(1<<way) != 0 {
				sets[way] |= 1 << i
			}
		}
	}
	d.inForce.Store(&sets)
}

// next returns the next step of a submission, and records that the step was taken. It returns nil
// if there is no further step.
func (d *Checker) next(s *Submission) *Step {
	rest := d.inForce.Load()[bits.TrailingZeros8(uint8(s.Way))] >> s.at.step
	if rest == 0 {
		s.at.step = len(d.steps)
		return nil
	}
	s.at.step += bits.TrailingZeros64(rest) + 1
	return &d.steps[s.at.step-1]
}

// The conditions under which a step has something to do, by the configuration.

func withReceipts(d *Checker, _ *config.Config) bool { return d.table.ForcesReceipts() }

func withValidity(d *Checker, _ *config.Config) bool { return d.table.HasLimits() }

func withKeywords(d *Checker, _ *config.Config) bool { return d.table.HasKeywords() }

func withLists(d *Checker, _ *config.Config) bool { return d.lists.Screens() }

func withPlugins(d *Checker, _ *config.Config) bool { return len(d.hooks.All()) > 0 }

func withNetworks(d *Checker, cfg *config.Config) bool {
	return cfg.Networks.File != "" || withPlugins(d, cfg)
}

func withPrices(_ *Checker, cfg *config.Config) bool { return len(cfg.Prices) > 0 }

func withOptOuts(_ *Checker, cfg *config.Config) bool {
	return slices.ContainsFunc(cfg.Lists, func(l config.List) bool { return len(l.OptOutFrom) > 0 })
}

func withRules(_ *Checker, cfg *config.Config) bool {
	return anAccount(cfg, func(a *config.Account) bool { return a.RewriteIn() != nil }) ||
		slices.ContainsFunc(cfg.Connectors, func(c config.Connector) bool { return c.RewriteIn() != nil })
}

func withPlausible(_ *Checker, cfg *config.Config) bool {
	return anAccount(cfg, func(a *config.Account) bool { return a.Policies.Recipients == config.PlausibleRecipients })
}

func withDuplicates(_ *Checker, cfg *config.Config) bool {
	return anAccount(cfg, func(a *config.Account) bool { return a.Policies.Duplicates.Within > 0 })
}

func withFloods(_ *Checker, cfg *config.Config) bool {
	return anAccount(cfg, func(a *config.Account) bool { return len(a.Policies.Flood) > 0 })
}

func withQuiet(_ *Checker, cfg *config.Config) bool {
	return anAccount(cfg, func(a *config.Account) bool { return a.QuietHours() != nil })
}

// anAccount reports whether an account has an option.
func anAccount(cfg *config.Config, has func(*config.Account) bool) bool {
	for i := range cfg.Accounts {
		if has(&cfg.Accounts[i]) {
			return true
		}
	}
	return false
}
