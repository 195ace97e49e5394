package config

import (
	"fmt"

	"pmg/internal/quiet"
	"pmg/sms/rewrite"
)

// rules are the compiled options of a connector or an account; nil: there are none.
type rules struct {
	in, out *rewrite.Rules
	quiet   *quiet.Hours // of an account
	octets  []byte       // of its TLVs
}

// Parameters returns the octets of the account's TLVs, nil if it has none.
func (a *Account) Parameters() []byte { return a.rules.octets }

// RewriteIn returns the rules for messages that the account submits, or nil.
func (a *Account) RewriteIn() *rewrite.Rules { return a.rules.in }

// RewriteOut returns the rules for messages that the account receives, or nil.
func (a *Account) RewriteOut() *rewrite.Rules { return a.rules.out }

// RewriteIn returns the rules for messages that arrive on the connector, or nil.
func (c *Connector) RewriteIn() *rewrite.Rules { return c.rules.in }

// RewriteOut returns the rules for messages that leave by the connector, or nil.
func (c *Connector) RewriteOut() *rewrite.Rules { return c.rules.out }

// rewrite compiles the rules of the section at path.
func (d *decoder) rewrite(all []rewrite.Rule, path string) rules {
	in, out, problems := rewrite.Compile(all)
	for _, p := range problems {
		at := fmt.Sprintf("%s.rewrite[%d]", path, p.Rule)
		if p.Option != "" {
			at = join(at, p.Option)
		}
		d.problem(at, "%s", p.Text)
	}
	return rules{in: in, out: out}
}
