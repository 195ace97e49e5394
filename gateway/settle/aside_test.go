package settle

import (
	"strings"
	"testing"

	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A message at which the gateway fails is tried three times, a pause apart, and then put aside: it is neither lost nor in the
// way of others.
func TestSettleFaulty(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "retry: [5s, 7s, repeat]", s)
		m := r.stored(r.submitted(70, 0))
		for n, pause := range []int64{5, 7} {
			o := r.Settle(r.lane, m, sms.Answer{Code: sms.Faulty, At: now}, true)
			if !o.Again || o.Aside || (o.Kept != 0) != s.Durable() || m.NotBefore != now+pause*second {
				t.Errorf("try %d: %+v, again after %d s", n+1, o, (m.NotBefore-now)/second)
			}
		}
		if st, ok := r.has(70); ok != s.Durable() || st.Aside != 0 || ok && st.Attempts != 2 {
			t.Errorf("before the last try the store has %+v, %v", st, ok)
		}
		if o := r.Settle(r.lane, m, sms.Answer{Code: sms.Faulty, At: now}, true); o.Again || !o.Aside {
			t.Errorf("after the last try: %+v", o)
		}
		st, ok := r.has(70)
		if !ok || st.Aside != store.Quarantined || st.Lane.Connector != "operator" || st.NotBefore != 0 ||
			!strings.Contains(st.Reason, "failed at it") || r.keep.Aside(store.Quarantined) != 1 {
			t.Errorf("the store has %+v, %v", st, ok)
		}
		if s := r.log.String(); strings.Contains(s, "did not take") {
			t.Errorf("the log blames the peer: %s", s)
		}
		r.close()
	})
}

// serverLane returns the lane of the client's server.
func (r *rig) serverLane() *connector.Lane {
	r.t.Helper()
	lane := r.table.ClientLane("client", (&sms.Context{URL: "http://127.0.0.1:1/x"}).Append(nil))
	if lane == nil || lane.Endpoint == "" {
		r.t.Fatal("there is no lane to the server")
	}
	return lane
}

// An event that a webhook does not take in time is put aside, with the reason, and has not ended: an operator can
// replay it. One that is deleted has ended, and all have where none are kept.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options string
		code    sms.Code
		reason  string // why it is put aside; empty: it is not
	}{
		{"", sms.Expired, "its server did not take it in time"},
		{"", sms.Rejected, "its webhook can never be called: rejected"},
		{"", sms.Deleted, ""},
		{"", sms.OK, ""},
		{"receipts: {dead_letters: 0s}", sms.Expired, ""},
	} {
		stores(t, func(t *testing.T, s store.Store) {
			r := newRigWith(t, strings.Replace(roomtest.Operator(""), "connectors:",
				"connectors:\n  - {name: api, direction: in, protocol: http, address: \"127.0.0.1:0\"}", 1)+c.options+"\n", s)
			r.withEvents()
			lane := r.serverLane()
			m := r.stored(r.submitted(70, 0))
			r.Ended(lane, m, sms.Answer{Code: c.code, At: now}, now)
			unsettled := r.keep.Unsettled.N.Load()
			st, ok := r.has(70)
			if ok != (c.reason != "") || st.Reason != c.reason || ok && (st.Aside != store.Dead || st.NotBefore != now+ahead ||
				st.Lane.Account != "client" || st.Lane.Connector != lane.Endpoint) {
				t.Errorf("%s: the store has %+v, %v", c.code, st, ok)
			}
			letters, want := r.Dead.Of("client", 9), 0
			if c.reason != "" {
				want = 1
			}
			if len(letters) != want || r.keep.Aside(store.Dead) != int64(want) || (unsettled == 1) != s.Durable() {
				t.Errorf("%s: letters %d, %d are put aside; the store has %d to forget", c.code, letters, r.keep.Aside(store.Dead), unsettled)
			}
			r.close()
			if n := len(r.events()); n != 1-want {
				t.Errorf("%s: %d events", c.code, n)
			}
			if given := strings.Contains(r.log.String(), "given up"); given != (c.reason == "" && c.code == sms.Expired) {
				t.Errorf("%s: the log has %s", c.code, r.log.String())
			}
		})
	}
}
