// Package expression is the plugin whose rules are expressions of github.com/expr-lang/expr. They are compiled and
// checked when the configuration is read. They run on the caller's goroutine, with limited work.
//
// # Start reading
//
// expression.go, then meter.go and patch.go, which limit the work.
package expression

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"pmg/plugin"
)

// A Rule is a condition, and the decision about the messages that meet it.
type Rule struct {
	If     string        `yaml:"if" live:"yes" doc:"The condition, such as to startsWith \"4670\" and len(text) > 160 (docs/plugins.md); every message meets an empty one."`
	Do     string        `yaml:"do" enum:"pass|refuse|delay|hold" live:"yes" doc:"refuse answers its sender with status, delay keeps it for the time of for, hold accepts it for an operator to decide with pmg queue. refuse and hold end the rules, and no further plugin is asked. pass when not given."`
	Status string        `yaml:"status" enum:"rejected|bad_source|bad_destination|bad_length|bad_parameter|throttled|queue_full|temporary_failure|system_error" live:"yes" doc:"With refuse, the name of the answer; rejected when not given."`
	For    time.Duration `yaml:"for" range:"0s..8760h" live:"yes" doc:"With delay, for how long from the message's arrival."`
	Why    string        `yaml:"why" live:"yes" doc:"The reason, for the log, the operator and clients of HTTP: at most 200 octets."`
	From   string        `yaml:"from" live:"yes" doc:"An expression that is the new sender: \"'PMG'\" is a name, \"'+' + from\" an international number."`
	To     string        `yaml:"to" live:"yes" doc:"An expression that is the new recipient; an international number begins with '+'."`
	Text   string        `yaml:"text" live:"yes" doc:"An expression that is the new text."`
	Tags   []string      `yaml:"tags" live:"yes" doc:"Tags that the message is given: small letters, digits and any of _.:-. Routes ask for them (tag)."`
}

// A Problem is an error in a rule.
type Problem struct {
	Rule   int    // index of the rule
	Option string // "": the rule as a whole
	Text   string // "must be …"
}

// A Plugin contains compiled rules. It is safe for concurrent use.
type Plugin struct {
	rules []compiled
	runs  sync.Pool // of *run
}

// A run is the environment of the rules for one message at a time.
type run struct {
	machine vm.VM
	environment
	changed plugin.Message // a copy of the message with the changes of the rules so far; unused before the first change
}

func newRun() any { return &run{machine: vm.VM{MemoryBudget: maxMemory}} }

type compiled struct {
	rule           *Rule
	when           program // nil: the rule applies to all messages
	from, to, text program // nil: unchanged
}

// Limits of an expression, in addition to the library's limit of memory.
const (
	maxNodes  = 1000
	maxMemory = 100_000 // elements that an expression may create
)

// Compile compiles rules, and tests each with a short text.
func Compile(rules []Rule) (*Plugin, []Problem) {
	p := &Plugin{runs: sync.Pool{New: newRun}}
	var problems []Problem
	common := options()
	sample := plugin.Message{From: "PMG", To: "46700000001", Text: "Hello", Arrived: time.Now()}
	for i := range rules {
		r := &rules[i]
		c := compiled{rule: r}
		for _, e := range []struct {
			option, source string
			kind           expr.Option
			program        *program
		}{
			{"if", r.If, expr.AsBool(), &c.when},
			{"from", r.From, expr.AsKind(reflect.String), &c.from},
			{"to", r.To, expr.AsKind(reflect.String), &c.to},
			{"text", r.Text, expr.AsKind(reflect.String), &c.text},
		} {
			if e.source == "" {
				continue
			}
			var err error
			if *e.program, err = compile(e.source, append(common[:len(common):len(common)], e.kind)...); err != nil {
				problems = append(problems, Problem{i, e.option, "must be an expression: " + withPlace(err, e.source)})
				continue
			}
			var wrong *argumentError // the wrong argument is almost always a constant
			_, err = p.try(e.program, &sample)
			switch {
			case errors.As(err, &wrong):
				problems = append(problems, Problem{i, e.option, "must have valid arguments: " + wrong.text})
			case errors.Is(err, errSteps):
				text := "must be less work: " + errSteps.Error() + ", whatever its text"
				problems = append(problems, Problem{i, e.option, text})
			}
		}
		v := c.verdict(&sample)
		if err := v.Check(); err != nil {
			problems = append(problems, Problem{i, "", "cannot be carried out: " + err.Error()})
		}
		p.rules = append(p.rules, c)
	}
	return p, problems
}

// oneLine returns an error of the library as one line, without the drawing of its position.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSpace(text)
}

// maxPlace is the number of characters that an error shows from the position of the error on.
const maxPlace = 20

// withPlace returns an error of the compiler as one line with the text at its position, because the library draws the
// position in two more lines.
func withPlace(err error, source string) string {
	text := oneLine(err)
	var at *file.Error
	lines := strings.Split(source, "\n")
	if !errors.As(err, &at) || at.Line < 1 || at.Line > len(lines) {
		return text
	}
	place := []rune(lines[at.Line-1])
	switch place = place[min(at.Column, len(place)):]; {
	case len(place) == 0:
		return text + ": at its end"
	case len(place) > maxPlace:
		return fmt.Sprintf("%s: at %q…", text, string(place[:maxPlace]))
	}
	return fmt.Sprintf("%s: at %q", text, string(place))
}

// longText is the length of a long text in octets: message_payload has up to 65,535.
const longText = 60_000

// Greedy returns the rules that need too many steps for a long text. They have no verdict about such a message.
func (p *Plugin) Greedy() (all []Problem) {
	for i := range p.rules {
		c := &p.rules[i]
		for _, e := range []struct {
			option  string
			program *program
		}{{"if", &c.when}, {"from", &c.from}, {"to", &c.to}, {"text", &c.text}} {
			for _, unit := range []string{"a", "Hello, this is a long text. ", "0123456789abcdefghijklmnopqrstuvwxyz "} {
				text := strings.Repeat(unit, longText/len(unit)+1)[:longText]
				m := plugin.Message{From: "PMG", To: "46700000001", Text: text, Arrived: time.Now()}
				if _, err := p.try(e.program, &m); errors.Is(err, errSteps) {
					text := errSteps.Error() + " if its text has 60,000 octets: on_failure decides about such a message"
					all = append(all, Problem{i, e.option, text})
					break
				}
			}
		}
	}
	return all
}

// try runs a program on a message, and returns its value.
func (p *Plugin) try(e *program, m *plugin.Message) (any, error) {
	if e.Program == nil {
		return nil, nil
	}
	r := p.begin(m, most)
	return r.run(e)
}

// Close implements plugin.Plugin.
func (p *Plugin) Close() {}

// Try implements plugin.Quick.
func (p *Plugin) Try(m *plugin.Message) (v plugin.Verdict, done bool, err error) {
	if v, err = p.ask(m, onStage); errors.Is(err, errSteps) {
		return plugin.Verdict{}, false, nil
	}
	return v, true, err
}

// Ask implements plugin.Plugin. It does not use ctx: the limit of steps ends it.
func (p *Plugin) Ask(_ context.Context, m *plugin.Message) (plugin.Verdict, error) {
	return p.ask(m, most)
}

// ask applies the rules to a message. Together they may take a number of steps. Each rule sees the changes of earlier
// rules. The message itself is not changed.
func (p *Plugin) ask(m *plugin.Message, steps int) (v plugin.Verdict, err error) {
	r := p.begin(m, steps)
	defer p.free(r, steps)
	for i := range p.rules {
		c := &p.rules[i]
		if c.when.Program != nil {
			met, err := r.run(&c.when)
			if err != nil {
				return plugin.Verdict{}, failed(i, err)
			}
			if met != true {
				continue
			}
		}
		if err := c.apply(r, &v); err != nil {
			return plugin.Verdict{}, failed(i, err)
		}
		if v.Ends() {
			break
		}
	}
	return v, nil
}

// failed returns the error of a rule.
func failed(rule int, err error) error {
	if errors.Is(err, errSteps) {
		return fmt.Errorf("rule %d: %w", rule+1, errSteps)
	}
	return fmt.Errorf("rule %d: %s", rule+1, oneLine(err))
}

// begin returns the environment for a message, with the number of steps that the rules may take.
func (p *Plugin) begin(m *plugin.Message, steps int) *run {
	r := p.runs.Get().(*run)
	r.Message, r.meter.left = m, steps
	return r
}

// run runs a program on the message.
func (r *run) run(e *program) (any, error) {
	if err := r.meter.take(e.steps(r.Message)); err != nil {
		return nil, err
	}
	return r.machine.Run(e.Program, &r.environment)
}

// free keeps an environment for the next message, unless it may have become large.
func (p *Plugin) free(r *run, steps int) {
	if steps > onStage {
		return
	}
	if r.Message == &r.changed {
		r.changed = plugin.Message{}
	}
	r.Message = nil
	p.runs.Put(r)
}

// change returns a copy of the message that the rules may change.
func (r *run) change() *plugin.Message {
	if r.Message != &r.changed {
		r.changed = *r.Message
		r.Message = &r.changed
	}
	return r.Message
}

// verdict returns the decision of the rule, without the changes that are expressions.
func (c *compiled) verdict(m *plugin.Message) plugin.Verdict {
	v := plugin.Verdict{Do: c.rule.Do, Status: c.rule.Status, Why: c.rule.Why, Tags: c.rule.Tags}
	if v.Do == plugin.Delay {
		v.Until = m.Arrived.Add(c.rule.For)
	}
	return v
}

// apply adds the rule's changes and tags to a verdict.
func (c *compiled) apply(r *run, v *plugin.Verdict) error {
	m := r.Message
	if c.from.Program != nil || c.to.Program != nil || c.text.Program != nil || len(c.rule.Tags) > 0 {
		m = r.change()
	}
	for _, e := range [...]struct {
		program *program
		of      *string
		change  **string
	}{{&c.from, &m.From, &v.From}, {&c.to, &m.To, &v.To}, {&c.text, &m.Text, &v.Text}} {
		if e.program.Program == nil {
			continue
		}
		out, err := r.run(e.program)
		if err != nil {
			return err
		}
		text, _ := out.(string)
		*e.change, *e.of = &text, text
	}
	if c.rule.Do != "" && c.rule.Do != plugin.Pass {
		own := c.verdict(m)
		v.Do, v.Status, v.Why, v.Until = own.Do, own.Status, own.Why, own.Until
	}
	for _, tag := range c.rule.Tags {
		v.Tags = append(v.Tags, tag)
		m.Tags = strings.TrimPrefix(m.Tags+" "+tag, " ")
	}
	return nil
}
