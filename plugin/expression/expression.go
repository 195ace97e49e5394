// Package expression is the plugin whose rules are expressions of github.com/expr-lang/expr. They are compiled and checked
// when the configuration is read, and run on the goroutine that asks.
//
// # Start reading
//
// expression.go.
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

// A Rule is a condition, and what happens to the messages that meet it.
type Rule struct {
	If     string        `yaml:"if" live:"yes" doc:"The condition, an expression that is true or false, such as to startsWith \"4670\" and len(text) > 160; every message meets an empty one. docs/plugins.md has the variables and functions."`
	Do     string        `yaml:"do" enum:"pass|refuse|delay|hold" live:"yes" doc:"What happens to the message: refuse answers its sender with status, delay keeps it for the time of for, hold accepts it and puts it aside until an operator decides with pmg queue. refuse and hold end the rules, and no further plugin is asked. pass when not given."`
	Status string        `yaml:"status" enum:"rejected|bad_source|bad_destination|bad_length|bad_parameter|throttled|queue_full|temporary_failure|system_error" live:"yes" doc:"With refuse, the name of the answer; rejected when not given."`
	For    time.Duration `yaml:"for" range:"0s..8760h" live:"yes" doc:"With delay, for how long from the message's arrival."`
	Why    string        `yaml:"why" live:"yes" doc:"The reason, for the log, the operator and clients of HTTP: at most 200 octets."`
	From   string        `yaml:"from" live:"yes" doc:"An expression that is the new sender: \"'PMG'\" is a name, \"'+' + from\" an international number."`
	To     string        `yaml:"to" live:"yes" doc:"An expression that is the new recipient; an international number begins with '+'."`
	Text   string        `yaml:"text" live:"yes" doc:"An expression that is the new text."`
	Tags   []string      `yaml:"tags" live:"yes" doc:"Tags that the message is given: small letters, digits and any of _.:-. Routes ask for them (tag)."`
}

// A Problem is what is wrong with a rule.
type Problem struct {
	Rule   int    // its index
	Option string // "": the rule as a whole
	Text   string // "must be …"
}

// A Plugin is compiled rules. It is safe for concurrent use.
type Plugin struct {
	rules []compiled
	runs  sync.Pool // of *run
}

// A run is what the rules work on, for one message at a time.
type run struct {
	machine vm.VM
	message *plugin.Message
	changed plugin.Message // a copy of the message with the changes of the rules so far, once there are any
}

type compiled struct {
	rule           *Rule
	when           *vm.Program // nil: always
	from, to, text *vm.Program // nil: no change
}

// Bounds of an expression, beside those of the library on memory.
const (
	maxNodes  = 1000
	maxMemory = 100_000 // elements that a run may make
)

// Compile compiles rules.
func Compile(rules []Rule) (*Plugin, []Problem) {
	p := &Plugin{runs: sync.Pool{New: func() any { return &run{machine: vm.VM{MemoryBudget: maxMemory}} }}}
	var problems []Problem
	common := options()
	sample := plugin.Message{From: "PMG", To: "46700000001", Text: "Hello", Arrived: time.Now()}
	for i := range rules {
		r := &rules[i]
		c := compiled{rule: r}
		for _, e := range []struct {
			option, source string
			kind           expr.Option
			program        **vm.Program
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
			if *e.program, err = expr.Compile(e.source, append(common[:len(common):len(common)], e.kind)...); err != nil {
				problems = append(problems, Problem{i, e.option, "must be an expression: " + withPlace(err, e.source)})
				continue
			}
			var wrong *argumentError // it is a constant nearly always
			if _, err := vm.Run(*e.program, &sample); errors.As(err, &wrong) {
				problems = append(problems, Problem{i, e.option, "must have valid arguments: " + wrong.text})
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

// oneLine returns an error of the library in one line, without the picture of the place.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSpace(text)
}

// maxPlace is how many characters of the offending place an error shows.
const maxPlace = 20

// withPlace returns an error of the compiler in one line, with the place where it stopped: the library draws that in two more.
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

// Waits implements plugin.Plugin.
func (p *Plugin) Waits() bool { return false }

// Close implements plugin.Plugin.
func (p *Plugin) Close() {}

// Ask implements plugin.Plugin. Each rule sees the changes of those before it. The message itself stays as it is.
func (p *Plugin) Ask(_ context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	r := p.runs.Get().(*run)
	r.message = m
	defer p.free(r)
	for i := range p.rules {
		c := &p.rules[i]
		if c.when != nil {
			met, err := r.machine.Run(c.when, r.message)
			if err != nil {
				return plugin.Verdict{}, fmt.Errorf("rule %d: %s", i+1, oneLine(err))
			}
			if met != true {
				continue
			}
		}
		if err := c.apply(r, &v); err != nil {
			return plugin.Verdict{}, fmt.Errorf("rule %d: %s", i+1, oneLine(err))
		}
		if v.Ends() {
			break
		}
	}
	return v, nil
}

func (p *Plugin) free(r *run) {
	if r.message == &r.changed {
		r.changed = plugin.Message{}
	}
	r.message = nil
	p.runs.Put(r)
}

// change returns the message as something that may be changed.
func (r *run) change() *plugin.Message {
	if r.message != &r.changed {
		r.changed = *r.message
		r.message = &r.changed
	}
	return r.message
}

// verdict returns what the rule does, without the changes that are expressions.
func (c *compiled) verdict(m *plugin.Message) plugin.Verdict {
	v := plugin.Verdict{Do: c.rule.Do, Status: c.rule.Status, Why: c.rule.Why, Tags: c.rule.Tags}
	if v.Do == plugin.Delay {
		v.Until = m.Arrived.Add(c.rule.For)
	}
	return v
}

// apply adds what the rule does to a verdict.
func (c *compiled) apply(r *run, v *plugin.Verdict) error {
	m := r.message
	if c.from != nil || c.to != nil || c.text != nil || len(c.rule.Tags) > 0 {
		m = r.change()
	}
	for _, e := range [...]struct {
		program *vm.Program
		of      *string
		change  **string
	}{{c.from, &m.From, &v.From}, {c.to, &m.To, &v.To}, {c.text, &m.Text, &v.Text}} {
		if e.program == nil {
			continue
		}
		out, err := r.machine.Run(e.program, m)
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
