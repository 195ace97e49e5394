package config

import (
	"fmt"
	"strings"
	"time"

	"pmg/config/option"
	"pmg/internal/quiet"
	"pmg/internal/timetext"
	"pmg/sms/rewrite"
)

// Duplicates defines which messages of an account are repetitions, which are refused.
type Duplicates struct {
	Within time.Duration `yaml:"within" default:"0s" range:"0s..168h" live:"yes" doc:"How long another message with the same sender, recipient and text, after rewrite, is refused (SMPP: ESME_RSUBMITFAIL, HTTP: 409), whatever became of the first. After a start nothing is remembered."`
	Keep   int           `yaml:"keep" default:"100000" range:"1000..1000000" live:"yes" doc:"Messages that are remembered at most, of 40 octets each; the oldest are forgotten."`
}

// Flood is a limit of messages to recipients.
type Flood struct {
	Per    string        `yaml:"per" default:"all" enum:"all|recipient" live:"yes" doc:"Which messages are counted together: those to each recipient (recipient), or those to all recipients (all)."`
	Prefix string        `yaml:"prefix" live:"yes" doc:"The beginning of the numbers that the limit is for, digits as rewrite leaves them; all when empty."`
	Most   int           `yaml:"most" required:"yes" range:"1..1000000" live:"yes" doc:"Messages that may be accepted within the time. A part that the client has cut counts; a text that the gateway cuts is one."`
	Within time.Duration `yaml:"within" required:"yes" range:"1s..744h" live:"yes" doc:"The time, which may be up to a twelfth longer; after a start no message counts."`
	Keep   int           `yaml:"keep" default:"100000" range:"1000..1000000" live:"yes" doc:"With per: recipient, the recipients that are remembered, of 96 octets each; those without a message for longest are forgotten."`
}

// String returns the limit as text.
func (f *Flood) String() string {
	to := "to all recipients"
	if f.Per == PerRecipient {
		to = "to one recipient"
	}
	if f.Prefix != "" {
		to += ", of those that begin with " + f.Prefix
	}
	return fmt.Sprintf("%d within %s %s", f.Most, timetext.FormatDuration(f.Within), to)
}

// PerRecipient is the value of Flood.Per with which each recipient has a limit of its own.
const PerRecipient = "recipient"

// PlausibleRecipients is the value of Policies.Recipients with which numbers that cannot exist are refused.
const PlausibleRecipients = "plausible"

// checkFlood checks the limits of an account.
func checkFlood(d *decoder, all []Flood, path string) {
	for i := range all {
		at := fmt.Sprintf("%s.flood[%d]", path, i)
		if p := all[i].Prefix; p != "" && !isDigits(strings.TrimPrefix(p, "+")) {
			d.problem(at+".prefix", "must be digits, not %q", p)
		}
		for j := range i {
			if all[i].Same(&all[j]) {
				d.problem(at, "limits the same messages as flood[%d]: remove one of the two limits", j)
			}
		}
	}
}

// Same reports whether another limit counts the same messages for the same time.
func (f *Flood) Same(other *Flood) bool {
	return f.Per == other.Per && f.Within == other.Within &&
		strings.TrimPrefix(f.Prefix, "+") == strings.TrimPrefix(other.Prefix, "+")
}

// Quiet are hours in which messages wait.
type Quiet struct {
	From           string   `yaml:"from" live:"yes" doc:"When the hours begin, such as \"21:00\"."`
	To             string   `yaml:"to" live:"yes" doc:"When the quiet hours end, such as \"08:00\", on the next day if this is earlier than \"from\". A message due in them has this as its delivery time, counts towards max_scheduled, and is refused if its validity ends before (SMPP: ESME_RINVEXPIRY)."`
	Zone           string   `yaml:"zone" live:"yes" doc:"The time zone of recipients that no entry of zones fits, such as Europe/Stockholm; without it they have no quiet hours."`
	Zones          []string `yaml:"zones" live:"yes" doc:"Time zones by the beginning of the number, as rewrite leaves it: [46=Europe/Stockholm, 1808=Pacific/Honolulu]. The longest beginning that fits counts."`
	ExceptPriority int      `yaml:"except_priority" default:"0" range:"0..3" live:"yes" doc:"Messages with this priority, or a higher one, do not wait; with 0 all do."`
}

// QuietHours returns the hours of Quiet, or nil if there are none.
func (a *Account) QuietHours() *quiet.Hours { return a.rules.quiet }

// quietHours checks the hours of an account, and returns them.
func quietHours(d *decoder, q *Quiet, path string) *quiet.Hours {
	if q.From == "" && q.To == "" && q.Zone == "" && len(q.Zones) == 0 {
		if q.ExceptPriority > 0 {
			d.problem(path+".quiet", "must have from and to, without which except_priority has no effect")
		}
		return nil
	}
	h, problems := quiet.New(quiet.Options{From: q.From, To: q.To, Zone: q.Zone, Zones: q.Zones})
	for _, p := range problems {
		d.problem(path+".quiet."+p.Option, "%s", p.Text)
	}
	return h
}

// rules are the compiled options of a connector or an account; nil: there are none.
type rules struct {
	in, out *rewrite.Rules
	quiet   *quiet.Hours // quiet hours of an account
	octets  []byte       // octets of the policy's TLVs
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
			at = option.Join(at, p.Option)
		}
		d.problem(at, "%s", p.Text)
	}
	return rules{in: in, out: out}
}
