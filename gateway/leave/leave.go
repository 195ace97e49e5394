// Package leave asks the plugins of the hook send about messages that are about to leave for SMSCs.
//
// # Start reading
//
// leave.go, then connector/gate.go, which does what is decided here.
package leave

import (
	"errors"
	"fmt"
	"time"

	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/plugin"
	"pmg/sms"
	"pmg/store"
)

// An Asker asks plugins about messages that are about to leave. It is safe for concurrent use.
type Asker struct {
	node    *node.Node
	keep    *keep.Keeper
	table   *route.Table
	convert *convert.Converter
	hooks   *hooks.Hooks

	questioner hooks.Questioner
}

// New makes the asker of a gateway.
func New(n *node.Node, k *keep.Keeper, t *route.Table, c *convert.Converter, h *hooks.Hooks) *Asker {
	return &Asker{node: n, keep: k, table: t, convert: c, hooks: h}
}

// A departure is the state of a message whose plugins are being asked before it leaves.
type departure struct {
	slot    *connector.Slot
	hooks   []hooks.Hook // hooks in force when the first plugin was asked
	next    int
	changed *sms.Message // the changed copy; nil: unchanged

	say func(plugin, says string) // reports what plugins say in a preview; nil: the message really leaves
}

func (v *departure) message() *sms.Message {
	if v.changed != nil {
		return v.changed
	}
	return v.slot.Message
}

// change replaces the copy that leaves.
func (v *departure) change(m *sms.Message) {
	if v.changed != nil {
		v.changed.Release()
	}
	v.changed = m
}

// IsOpen implements connector.Gate.
func (d *Asker) IsOpen(l *connector.Lane) bool {
	return l.ToClient() || len(d.hooks.Of(plugin.Send)) == 0
}

// Check implements connector.Gate. Plugins are not asked about a message that is refused or cut
// before it leaves. They are asked about its parts.
func (d *Asker) Check(now int64, s *connector.Slot) connector.Passage {
	if s.Message.Kind == sms.Receipt || d.convert.Refuses(s) != sms.OK {
		return connector.Passage{}
	}
	return d.ask(now, &departure{slot: s, hooks: d.hooks.Of(plugin.Send)})
}

// Preview asks the plugins that do not wait about the message of a slot, without sending the
// message. It calls say with the text of each plugin. changed is the copy that would leave, or nil
// if the message would be unchanged. The last result is false if the message would not leave.
func (d *Asker) Preview(now int64, s *connector.Slot, say func(plugin, says string)) (changed *sms.Message, leaves bool) {
	p := d.ask(now, &departure{slot: s, hooks: d.hooks.Of(plugin.Send), say: say})
	return p.Message, p.Way == connector.Leaves
}

// ask asks the remaining plugins in order, until one needs to wait. A plugin that has already held
// the message is not asked again, because an operator has decided.
func (d *Asker) ask(now int64, v *departure) connector.Passage {
	for ; v.next < len(v.hooks); v.next++ {
		h, m := &v.hooks[v.next], v.message()
		if !h.IsFor(m.Origin.Account, v.slot.Share.Lane.Home().Name) || sms.IsHeldBy(m, h.Pool.Name) {
			continue
		}
		if h.Pool.Waits() && v.say != nil {
			v.say(h.Pool.Name, "is not asked here, so its answer is not known")
			continue
		}
		q := d.question(v, m)
		decision, ok := h.Pool.Try(&q.Message)
		if !ok && v.say != nil { // a preview does not wait
			decision, ok = h.Pool.Ask(&q.Message), true
		}
		if !ok {
			d.wait(v, h, q)
			return connector.Passage{Way: connector.Waits}
		}
		p := d.decide(now, v, h, &decision)
		d.questioner.Free(q)
		if p.Way != connector.Leaves {
			return p
		}
	}
	return connector.Passage{Message: v.changed}
}

// wait asks a plugin on another goroutine. The lane's dispatching goroutine then continues.
func (d *Asker) wait(v *departure, h *hooks.Hook, q *hooks.Question) {
	d.hooks.Go(func() {
		decision := h.Pool.Ask(&q.Message)
		d.node.Pass("plugin")
		d.keep.Do(v.slot.Share.Lane, func(now int64) {
			p := d.decide(now, v, h, &decision)
			if p.Way == connector.Leaves {
				v.next++
				p = d.ask(now, v)
			}
			v.slot.Pass(now, p)
		})
	})
}

func (d *Asker) question(v *departure, m *sms.Message) *hooks.Question {
	_, _, isPart := d.table.PartOf(m)
	q := d.questioner.Ask(plugin.Send, m, isPart, d.node.Clock.Wall)
	q.Message.Connector = v.slot.Share.Lane.Home().Name
	q.SetID(m)
	return q
}

// decide applies a plugin's decision. If the result is connector.Leaves, the next plugin is asked.
func (d *Asker) decide(now int64, v *departure, h *hooks.Hook, decision *plugin.Decision) (p connector.Passage) {
	name, verdict, failure := h.Pool.Name, decision.Verdict, decision.Failure
	until := verdict.Until.UnixNano() - d.node.Clock.Ahead()
	if verdict.Do == plugin.Delay && until <= now {
		verdict.Do = plugin.Pass
	}
	if failure == nil {
		if failure = d.change(v, name, &verdict); failure != nil {
			failure, verdict = fmt.Errorf("plugin %s: %w", name, failure), h.Pool.Instead()
		}
	}
	if failure != nil {
		d.failed(v, name, failure)
	}
	switch {
	case decision.Crowded:
		p.Way, p.Until = connector.Returns, now+int64(crowdedPause)
	case verdict.Do == plugin.Refuse:
		p.Way, p.Code = connector.Refused, sms.Rejected
		if verdict.Code().Failure() == sms.Permanent {
			p.Code = verdict.Code()
		}
		d.say(v, name, "refuses it: "+verdict.Why)
	case verdict.Do == plugin.Delay:
		p.Way, p.Until = connector.Returns, until
		d.say(v, name, "delays it by "+time.Duration(until-now).Round(time.Second).String())
	case verdict.Do == plugin.Hold && !d.table.MayPark(v.slot.Message.Origin, 0):
		p.Way, p.Until = connector.Returns, now+int64(fullPause)
		d.say(v, name, "holds it, and as many messages are parked as may (max_parked): it stays in its queue")
	case verdict.Do == plugin.Hold:
		p.Way, p.Why = connector.Held, "held by plugin "+name
		d.say(v, name, "holds it: "+verdict.Why)
	default:
		return p
	}
	v.change(nil)
	switch p.Way {
	case connector.Refused:
		p.Message = d.marked(v, sms.Refused, name)
	case connector.Held:
		p.Message = d.marked(v, sms.Held, name)
	}
	return p
}

// fullPause is how long a message waits before it is tried again, if it should be parked and there
// is no room for parked messages.
const fullPause = time.Minute

// crowdedPause is how long a message waits before a plugin is asked again, if too many messages
// wait for the plugin.
const crowdedPause = time.Second

// marked returns a copy of the stored message with a mark.
func (d *Asker) marked(v *departure, k sms.Mark, by string) *sms.Message {
	m := d.node.Messages.Copy(v.slot.Message)
	sms.SetMark(m, k, by)
	return m
}

// change makes the changes of a verdict that passes the message, or returns why they cannot be
// made. The verdict's tags and network are ignored, because the message has already been routed.
func (d *Asker) change(v *departure, by string, verdict *plugin.Verdict) error {
	stays := verdict.From == nil && verdict.To == nil && verdict.Text == nil
	verdict.Network = ""
	if verdict.Tags = nil; stays || verdict.Do == plugin.Delay || verdict.Ends() {
		return nil
	}
	m := d.node.Messages.Copy(v.message())
	err := hooks.Change(m, verdict)
	if err == nil && verdict.Text != nil && !d.convert.FitsAlone(v.slot, m) {
		err = errors.New("it changes the text to one that is too long for one message, or that the SMSC does not take")
	}
	if err != nil {
		m.Release()
		return err
	}
	sms.SetMark(m, sms.Changed, by)
	v.change(m)
	if v.say != nil {
		v.say(by, "changes it for this attempt")
	}
	return nil
}

// say logs the text of a plugin, at most once a minute for each plugin. In a preview it passes the
// text to the caller.
func (d *Asker) say(v *departure, by, says string) {
	if v.say != nil {
		v.say(by, says)
		return
	}
	if d.node.Repeats.First("send: " + by) {
		d.node.Log.Warn().Str("plugin", by).Str("connector", v.slot.Share.Lane.Home().Name).
			Str("id", sms.FormatID(v.slot.Message.ID)).Msg("a message does not leave now: plugin " + by + " " + says)
	}
}

// failed logs that a plugin has no verdict. In a preview it passes the error to the caller.
func (d *Asker) failed(v *departure, by string, err error) {
	if v.say != nil {
		v.say(by, "has no verdict: "+err.Error())
		return
	}
	d.node.NoVerdict(by, err)
}

// Hold implements connector.Gate: it parks the message. The message's record gets the mark, which
// is needed when an operator releases the message.
func (d *Asker) Hold(l *connector.Lane, m *sms.Message, why string) {
	lane := keep.LaneName(l)
	d.keep.Batches.Write(func(b *store.Batch) {
		if d.keep.Durable() {
			b.ReplaceOwn(m, lane)
		}
		d.keep.KeepAside(b, m, lane, store.Parked, why)
	})
}
