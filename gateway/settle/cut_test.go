package settle

import (
	"strings"
	"testing"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A text that is too long for the peer after all waits on as its parts, in its lane and in the store, which has them or the
// text at any time and never both. The client's id, and what it has asked for, stay those of the text.
func TestCut(t *testing.T) {
	t.Parallel()
	const text = 400
	joined := []sms.Joined{{ID: 68, Notify: asks}, {ID: 69, Notify: asks}}
	for name, c := range map[string]struct {
		notify sms.Notify
		joined []sms.Joined // what the text was made of
		want   []sms.Joined
	}{
		"asks for receipts": {asks, nil, []sms.Joined{{ID: 70, Notify: asks}}},
		"asks for nothing":  {0, nil, nil},
		"joined of two":     {asks, joined, joined},
	} {
		stores(t, func(t *testing.T, s store.Store) {
			r := newRig(t, "long_messages: split8", s)
			r.withEvents()
			r.keep.IDs.Store(70)
			m := r.submitted(70, c.notify)
			m.SetText([]byte(strings.Repeat("A", text)))
			if c.joined != nil {
				m.SetSubmitted(&sms.Submitted{Source: sms.Address{Addr: []byte("alias")}, Dest: m.Dest(), Joined: c.joined})
			}
			m.Attempts, m.Tried = 3, 1
			r.stored(m)
			o := r.Settle(r.lane, m, sms.Answer{Code: sms.BadLength, At: now}, true)
			if !o.Aside || o.Again {
				t.Errorf("%s: %+v", name, o)
			}
			if s.Durable() && r.keep.Unsettled.N.Load() != 1 {
				t.Errorf("%s: the store has %d to forget", name, r.keep.Unsettled.N.Load())
			}
			all, length := roomtest.Made(r.keep), 0
			for i, own := range all {
				p := own.Message
				length += len(p.Text()) - len("\x05\x00\x03\x00\x03\x01")
				if p.ID != 71+uint64(i) || p.Offset != uint16(i) || p.Part != uint8(i) || p.Parts != 3 || p.Attempts != 0 ||
					own.Share.Lane != r.lane || own.Share.Origin != m.Origin {
					t.Errorf("%s: part %d is %+v in %v", name, i, p, own.Share)
				}
				if _, ok := r.has(p.ID); ok != s.Durable() {
					t.Errorf("%s: part %d is in the store: %v", name, i, ok)
				}
				known, ok := p.Submitted()
				if ok != (c.want != nil) || len(known.Joined) != len(c.want) {
					t.Fatalf("%s: the client knows part %d as %+v", name, i, known)
				}
				for k, j := range known.Joined {
					if j != c.want[k] {
						t.Errorf("%s: the client knows part %d as %+v", name, i, known)
					}
				}
				if source := string(known.Source.Addr); ok && source != map[bool]string{true: "1234", false: "alias"}[c.joined == nil] {
					t.Errorf("%s: part %d is from %s", name, i, source)
				}
				if (own.After == store.Position{}) == s.Durable() {
					t.Errorf("%s: part %d leaves behind %v", name, i, own.After)
				}
			}
			if _, ok := r.has(70); ok || len(all) != 3 || length != text {
				t.Errorf("%s: the text is in the store: %v; %d parts have %d letters", name, ok, len(all), length)
			}
			if _, f, ok, err := r.Receipts.FateOf(70); ok != (c.notify != 0) || ok && f.State != sms.StateEnroute || err != nil {
				t.Errorf("%s: a query is told %+v, %v", name, f, err)
			}
			r.close()
			e := r.events()[sms.FormatID(70)]
			if e == nil || e["state"] != "cut" || e["to_connector"] != "operator" || e["attempts"] != 3.0 {
				t.Errorf("%s: its event is %v", name, e)
			}
		})
	}
}

// What cannot be cut, or was refused by the peer itself, is not: the peer has seen that.
func TestNotCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A", 400)
	for name, c := range map[string]struct {
		text   string
		status uint32
		change func(m *sms.Message)
	}{
		"refused by the peer": {long, 1, func(*sms.Message) {}},
		"a part already":      {long, 0, func(m *sms.Message) { m.Parts = 2 }},
		"a receipt":           {long, 0, func(m *sms.Message) { m.Kind = sms.Receipt }},
		"short":               {"A", 0, func(*sms.Message) {}},
	} {
		r := newRig(t, "", store.NewMemory())
		m := r.submitted(70, 0)
		m.SetText([]byte(c.text))
		c.change(m)
		o := r.Settle(r.lane, m, sms.Answer{Code: sms.BadLength, Status: c.status, At: now}, true)
		if o.Aside || o.Again || len(roomtest.Made(r.keep)) != 0 {
			t.Errorf("%s: %+v", name, o)
		}
		r.close()
	}
	r := newRig(t, "", store.NewMemory()) // the option is payload, which this peer does not know after all
	m := r.submitted(70, 0)
	m.SetText([]byte(long))
	if o := r.Settle(r.lane, m, sms.Answer{Code: sms.BadLength, At: now}, true); !o.Aside || len(roomtest.Made(r.keep)) != 3 {
		t.Errorf("a text whose peer takes no payload: %+v", o)
	}
	r.close()
}
