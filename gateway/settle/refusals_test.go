package settle

import (
	"strings"
	"testing"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// logged returns what the log has of one thing that was done, without levels.
func (r *rig) logged(do func()) string {
	r.log.Take()
	do()
	return strings.ReplaceAll(strings.TrimSpace(r.log.String()), `{"level":"warn",`, "{")
}

// The log says what an SMSC does not take: once a minute, and with all that is needed to ask it why.
func TestLog(t *testing.T) {
	t.Parallel()
	const (
		about = `{"connector":"operator","id":"0000000000000abc","reason":`
		again = `"message":"the peer did not take a message; it is sent again"}`
	)
	answer := func(code sms.Code, status uint32) sms.Answer { return sms.Answer{Code: code, Status: status, At: now} }
	for name, c := range map[string]struct {
		do   func(r *rig, m *sms.Message)
		want string
	}{
		"throttled": {
			func(r *rig, m *sms.Message) { r.Settle(r.lane, m, answer(sms.Throttled, 88), true) },
			about + `"throttled","account":"client","status":"STATUS_88",` + again,
		},
		"a status without a name": {
			func(r *rig, m *sms.Message) { r.Settle(r.lane, m, answer(sms.QueueFull, 1024), true) },
			about + `"queue_full","failed_attempts":1,"account":"client","status":"0x400",` + again,
		},
		"lost: the session's end is an entry": {func(r *rig, m *sms.Message) { r.Settle(r.lane, m, answer(sms.Lost, 0), true) }, ""},
		"no answer":                           {func(r *rig, m *sms.Message) { r.Settle(r.lane, m, answer(sms.Timeout, 0), true) }, ""},
		"given up": {
			func(r *rig, m *sms.Message) { r.Ended(r.lane, m, answer(sms.BadDestination, 11), now) },
			about + `"bad_destination","failed_attempts":1,"account":"client","status":"STATUS_11","message":"message given up"}`,
		},
		"taken":   {func(r *rig, m *sms.Message) { r.Ended(r.lane, m, answer(sms.OK, 0), now) }, ""},
		"deleted": {func(r *rig, m *sms.Message) { r.Ended(r.lane, m, answer(sms.Deleted, 0), now) }, ""},
		"a receipt": {
			func(r *rig, m *sms.Message) {
				m.Kind, m.Flags, m.Origin = sms.Receipt, sms.HasReport, r.node.Origins.Of("", "operator")
				m.SetReport(m.Source(), m.Dest(), &sms.Report{Known: 5, State: sms.StateDelivered})
				r.Ended(r.table.ClientLane("client", nil), m, answer(sms.Expired, 0), 0)
			},
			`{"connector":"clients","id":"0000000000000abc","reason":"expired","to_account":"client",` +
				`"delivery":"delivered","about":"0000000000000005","message":"receipt given up: its client does not get it"}`,
		},
		"a receipt of the first message": {
			func(r *rig, m *sms.Message) {
				m.Kind, m.Flags, m.Origin = sms.Receipt, sms.HasReport, r.node.Origins.Of("", "operator")
				m.SetReport(m.Source(), m.Dest(), &sms.Report{Known: 1, State: sms.StateExpired})
				r.Ended(r.table.ClientLane("client", nil), m, answer(sms.Rejected, 0), 0)
			},
			`{"connector":"clients","id":"0000000000000abc","reason":"rejected","to_account":"client",` +
				`"delivery":"expired","about":"0000000000000001","message":"receipt given up: its client does not get it"}`,
		},
		"a receipt whose message is not known": {
			func(r *rig, m *sms.Message) {
				m.Kind, m.Flags, m.Origin = sms.Receipt, sms.HasReport, r.node.Origins.Of("", "operator")
				m.SetReport(m.Source(), m.Dest(), &sms.Report{ID: []byte("17"), State: sms.StateExpired})
				r.Ended(r.table.ClientLane("client", nil), m, answer(sms.Rejected, 0), 0)
			},
			`{"connector":"clients","id":"0000000000000abc","reason":"rejected","to_account":"client","delivery":"expired",` +
				`"message":"receipt given up: its client does not get it"}`,
		},
		"unreadable": {
			func(r *rig, m *sms.Message) { r.Unreadable(r.lane, r.table.Share(r.lane, m.Origin), m.ID) },
			`{"level":"error","connector":"operator","id":"0000000000000abc","account":"client",` +
				`"message":"message dropped: cannot read it from the store"}`,
		},
	} {
		r := newRig(t, "", store.NewMemory())
		m := r.submitted(0xabc, 0)
		got := r.logged(func() { c.do(r, m) })
		if got != c.want {
			t.Errorf("%s: the log has %s, want %s", name, got, c.want)
		}
		r.close()
	}
	r := newRig(t, "", store.NewMemory())
	if got := r.logged(func() {
		for range 3 {
			r.Settle(r.lane, r.submitted(1, 0), answer(sms.Throttled, 88), true)
		}
	}); strings.Count(got, "sent again") != 1 {
		t.Errorf("a storm: %s", got)
	}
	r.close()
}

// A message that an SMSC does not take goes to the next target of its route immediately, with its attempts counted, and with what
// it has tried in the store. One that is refused for good does not.
func TestSettleFailsOver(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		before, _, _ := strings.Cut(roomtest.Operator("failover_attempts: 2, throttle_pause: 2s"), "routes:")
		r := newRigWith(t, before+
			`  - {name: reserve, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes: [{to: [operator, reserve]}]
`, s)
		m, reserve := r.stored(r.submitted(0xabc, 0)), r.table.LaneOf(r.table.Connector("reserve"))
		if o := r.Settle(r.lane, m, sms.Answer{Code: sms.QueueFull, Status: 20, At: now}, true); o.To != nil || !o.Again {
			t.Errorf("after the first attempt: %+v", o)
		}
		var o struct{ to, again bool }
		got := r.logged(func() {
			out := r.Settle(r.lane, m, sms.Answer{Code: sms.QueueFull, Status: 20, At: now}, true)
			o.to, o.again = out.To != nil && out.To.Lane == reserve && out.To.Origin == m.Origin, out.Again
		})
		if !o.to || o.again || m.Earlier != 2 || m.Attempts != 0 || m.NotBefore != 0 {
			t.Errorf("after the second: %+v, %d earlier attempts, %d", o, m.Earlier, m.Attempts)
		}
		if st, ok := r.has(0xabc); ok != s.Durable() || ok && (st.Lane.Connector != "reserve" || st.Earlier != 2 || st.Tried == 0) {
			t.Errorf("the store has %+v, %v", st, ok)
		}
		const entry = `"to":"connector reserve","message":"the peer did not take a message; it goes to another target of its route"`
		if !strings.Contains(got, `"connector":"operator"`) || !strings.Contains(got, entry) || strings.Count(got, "\n") != 0 {
			t.Errorf("the log has %s", got)
		}
		if o := r.Settle(r.lane, r.submitted(2, 0), sms.Answer{Code: sms.Rejected, Status: 20, At: now}, true); o.To != nil || o.Again {
			t.Errorf("refused for good: %+v", o)
		}
		r.close()
	})
}
