package receipts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// ended is a message that has left, as the batch of its end notes it; older is how versions did that wrote the mapping twice.
func (p *rig) ended(m *sms.Message, peerID string, older bool) {
	e := keep.Ending{
		Charge: sms.PriceOf(m),
		State:  events.Sent, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{PeerID: []byte(peerID), At: p.now},
	}
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		if older {
			p.note(b, m, &e.Answer, 0)
		} else {
			p.RecordSent(b, p.operator(), m, &e, 0)
		}
		if RecordsEnd(m, &e) && !p.HasTold(m.KnownID()) {
			p.RecordEnd(b, m, &e, 0)
		}
	})
}

// note records the whole meaning of the operator's id, as for a copy that was answered late.
func (p *rig) note(b *store.Batch, m *sms.Message, a *sms.Answer, ahead int64) {
	v := store.MappingOf(m, ahead)
	p.RecordMapping(b, p.operator(), &v, a.PeerID, a.At+ahead, false)
}

// A receipt finds all that it needs of its message after a restart, of whichever version its notes are. The mapping of a
// message is stored once: under the SMSC's id where nothing stands under ours, or another part of a long message.
func TestRecordedOnce(t *testing.T) {
	t.Parallel()
	const second = 2 * int64(1e9)
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	want := map[string]store.Mapping{}
	once := map[string]bool{}
	for _, c := range []struct {
		peerID      string
		notify      sms.Notify
		offset      uint16
		part, parts uint8
		context     bool
		older, once bool
	}{
		{peerID: "msg-1", notify: sms.NotifyFailure, once: true},
		{peerID: "msg-2", notify: sms.NotifyFailure, older: true},
		{peerID: "msg-3", notify: sms.NotifySuccess, parts: 1, once: true},
		{peerID: "msg-4", notify: sms.NotifySuccess, parts: 2},
		{peerID: "msg-5", notify: sms.NotifySuccess, offset: 1, part: 1, parts: 2},
		{peerID: "msg-6"}, // the SMSC sends receipts that nobody asks for
		{peerID: "msg-7", context: true, once: true},
	} {
		m := p.submitted(c.notify)
		m.Offset, m.Part, m.Parts, m.DeliverAt = c.offset, c.part, c.parts, p.now+second
		m.SetSubmitted(&sms.Submitted{Source: sms.Address{Addr: []byte("77")}, Dest: m.Dest()})
		if c.context {
			m.SetNative(sms.WithContext, (&sms.Context{Reference: "order 7"}).Append(nil))
		}
		p.ended(m, c.peerID, c.older)
		v := store.MappingOf(m, 0)
		record := v.Append(nil) // the message is used again
		want[c.peerID], _ = store.DecodeMapping(record)
		once[c.peerID] = c.once
	}
	early := p.submitted(sms.NotifyFailure) // its receipt comes before the end is noted
	v := store.MappingOf(early, 0)
	p.recordReport(p.now, &v, &sms.Report{ID: []byte("msg-8"), State: sms.StateUndeliverable})
	p.ended(early, "msg-8", false)
	want["msg-8"], once["msg-8"] = v, true
	if err := p.close(); err != nil {
		t.Fatal(err)
	}

	p = keepAgain(t, fs)
	check := func(when string) {
		t.Helper()
		for peerID, v := range want {
			value, _, err := p.Matcher.keep.Index.Lookup(store.IDsOf("operator"), []byte(peerID))
			if _, elsewhere := store.Elsewhere(value); err != nil || elsewhere != once[peerID] || elsewhere != (len(value) == 9) {
				t.Errorf("%s: %s has %d octets, elsewhere: %v, %v", when, peerID, len(value), elsewhere, err)
			}
			var f Match
			found, err := p.LookUp(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte(peerID)}), &f)
			got := f.Mapping
			got.By, got.PeerID, got.Flags, got.Alphabet = nil, nil, 0, 0
			if !found || err != nil || !reflect.DeepEqual(got.Append(nil), v.Append(nil)) {
				t.Errorf("%s: %s: %v, %v, %+v, want %+v", when, peerID, found, err, got, v)
			}
		}
	}
	check("after a restart")
	p.reports("msg-1", sms.StateDelivered)
	p.reports("msg-3", sms.StateEnroute)
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	check("behind a receipt") // another may come
	if _, f, ok, err := p.FateOf(want["msg-1"].ID); !ok || err != nil || f.State != sms.StateDelivered {
		t.Errorf("a query: %+v, %v, %v", f, ok, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// sent returns a rig with a store that can fail, and a message that an SMSC has as msg-1.
func sent(t *testing.T) (*rig, *failing, *sms.Message) {
	t.Helper()
	p, s := newRig(t), &failing{Store: store.NewMemory()}
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	m := p.submitted(sms.NotifyFailure)
	p.ended(m, "msg-1", false)
	return p, s, m
}

// An id whose message was forgotten is not known, and one whose note cannot be read is an error, not an unknown one.
func TestRecordedNowhere(t *testing.T) {
	t.Parallel()
	p, s, m := sent(t)
	key := binary.BigEndian.AppendUint64(nil, m.ID)
	today := store.DayOf(p.Matcher.node.Clock.Wall(p.now))
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Note(store.IDsOf("operator"), []byte("msg-2"), store.AppendElsewhere(nil, m.ID+1), today)
	})
	p.restart()
	look := func(peerID string) (bool, error) {
		var f Match
		return p.LookUp(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte(peerID)}), &f)
	}
	if found, err := look("msg-2"); found || err != nil {
		t.Errorf("forgotten: %v, %v", found, err)
	}
	if found, err := look("msg-1"); !found || err != nil {
		t.Errorf("noted: %v, %v", found, err)
	}
	s.kind = store.KindEnded
	if found, err := look("msg-1"); found || !errors.Is(err, errFailing) {
		t.Errorf("not readable: %v, %v", found, err)
	}
	s.kind = ""
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindEnded, key, []byte("cut"), today) })
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	if found, err := look("msg-1"); found || !errors.Is(err, store.ErrDamaged) {
		t.Errorf("damaged: %v, %v", found, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// The latest messages are found without the store, whose note has our id alone.
func TestRecordedOnceInMemory(t *testing.T) {
	t.Parallel()
	p, s, m := sent(t)
	s.kind = store.KindEnded
	var f Match
	found := p.find(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte("msg-1")}), &f)
	if !found || f.Mapping.ID != m.ID || !bytes.Equal(f.Mapping.Account, []byte("client")) {
		t.Errorf("not found: %+v", f.Mapping)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
