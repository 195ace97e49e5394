package intake

import (
	"errors"
	"testing"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A failing disk cannot look anything up.
type failingDisk struct{ *roomtest.Disk }

func (failingDisk) Notes(store.Kind, []byte, int, func(key, value []byte) error) error {
	return errors.New("failing")
}

func (failingDisk) Lookup(store.Kind, []byte) ([]byte, bool, error) {
	return nil, false, errors.New("failing")
}

// A text that has the form of a receipt is the receipt of a message of ours, or what a person has written, which must not be
// lost; while the store cannot say which, its SMSC sends it again.
func TestTextOfReceipt(t *testing.T) {
	t.Parallel()
	report := func(id string) func(*sms.Message) {
		return func(m *sms.Message) {
			m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")},
				&sms.Report{ID: []byte(id), State: sms.StateDelivered, Original: []byte("id:" + id)})
			m.Flags |= sms.ByText
		}
	}
	p := newPlace(t, "", "", "", toOperator)
	p.keep.Open(store.NewMemory(), func(store.Position, error) {})
	smsc := p.table.Connector("operator").Config()
	m := &sms.Message{ID: 7, Arrived: now, Notify: sms.NotifySuccess, Origin: p.node.Origins.Of("client", "clients")}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, nil)
	a := sms.Answer{PeerID: []byte("msg-1"), At: now}
	p.receipts.RecordAnswer(p.receipts.Of(smsc), smsc, m, a.PeerID)
	known := store.MappingOf(m, 0)
	p.keep.Batches.Write(func(b *store.Batch) { p.receipts.RecordMapping(b, p.receipts.Of(smsc), &known, a.PeerID, now, false) })
	if err := p.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	s := p.submission(Delivered, sms.Receipt, report("msg-1"))
	if v := p.Take(now, s); v != Pass || s.Way != Reported || s.Lane != nil || s.Message.Flags&sms.ByText != 0 {
		t.Errorf("of ours: verdict %d, %s, way %s", v, s.Code, s.Way)
	}
	s = p.submission(Delivered, sms.Receipt, report("msg-2"))
	if v := p.Take(now, s); v != Later || s.Work == nil {
		t.Fatalf("of nobody: verdict %d, %s", v, s.Code)
	}
	s.Code = s.Work()
	v := p.Take(now, s)
	if v != Pass || s.Way != Delivered || s.Lane == nil || s.Message.Kind != sms.MO || string(s.Message.Text()) != "id:msg-2" {
		t.Errorf("of nobody: verdict %d, %s, way %s, kind %d: %q", v, s.Code, s.Way, s.Message.Kind, s.Message.Text())
	}
	p = newPlace(t, "", "", "", toOperator)
	p.keep.Open(failingDisk{roomtest.NewDisk()}, func(store.Position, error) {})
	s = p.submission(Delivered, sms.Receipt, report("msg-1"))
	if code := p.TakeWaiting(now, s); code != sms.SystemError || s.Message.Kind != sms.Receipt {
		t.Errorf("with a store that fails: %s, kind %d", code, s.Message.Kind)
	}
}
