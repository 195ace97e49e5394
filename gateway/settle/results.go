package settle

import (
	"cmp"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/plugin"
	"pmg/sms"
	"pmg/store"
)

// hasResult reports whether plugins are informed how a message has ended. They are not informed
// about receipts, or about a message that continues as another message.
func hasResult(d *Settler, m *sms.Message, e *ending) bool {
	return m.Kind != sms.Receipt && m.Origin != nil && e.State != events.Joined && len(d.hooks.Of(plugin.Result)) > 0
}

// endResult informs plugins how a message has ended, after the commit. So plugins are informed at
// most once.
func endResult(d *Settler, b *store.Batch, m *sms.Message, e *ending) {
	by := e.Lane.Connector
	if e.Lane.ToClient() {
		by = "" // the message went to a client
	}
	all := d.hooks.Of(plugin.Result)
	for i := range all {
		pool := all[i].Pool
		if !all[i].IsFor(m.Origin.Account, by) {
			continue
		}
		failed := func(err error) { d.node.NotInformed(pool.Name, err) }
		owner := cmp.Or(m.Origin.Account, m.Origin.Connector)
		if err := pool.Reserve(owner); err != nil {
			failed(err)
			continue
		}
		_, _, isPart := d.table.PartOf(m)
		q := d.questioner.Ask(plugin.Result, m, isPart, d.node.Clock.Wall)
		q.Message.Connector, q.Message.State = by, e.State.String()
		q.SetID(m)
		if e.Answer.Code != sms.OK {
			q.Message.Error = e.Answer.Code.String()
		}
		own := keep.Own{Work: func() { pool.Inform(owner, &q.Message, failed) }}
		if d.keep.Durable() {
			own.After = b.Position()
		}
		d.keep.Outgoing.Give(own)
	}
}
