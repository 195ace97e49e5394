package connector

import (
	"runtime"
	"testing"

	"pmg/sms"
)

// H15: a queued message of usual length takes at most 300 octets, and its memory is free
// when it has left.
func TestLaneMemory(t *testing.T) { // not parallel, because it measures the whole heap
	const messages = 200_000
	d := newDesk(t, "instances: 1, window: 100, static: true, max_queue: 1000000")
	text := make([]byte, 100)
	before := heap()
	d.submit("a", messages, func(m *sms.Message) {
		m.Set(sms.Address{Addr: []byte("12345")}, sms.Address{Addr: []byte("491701234567")}, text)
	})
	if each := (heap() - before) / messages; each > 300 {
		t.Errorf("a queued message takes %d octets", each)
	}
	if counted := d.used.Used() / messages; counted < 224 || counted > 300 {
		t.Errorf("a queued message is counted as %d octets", counted)
	}
	d.connect()
	for d.send(); len(d.under) > 0; d.send() {
		for _, slot := range d.under {
			d.Answered(d.now, slot, sms.Answer{Code: sms.OK, At: d.now})
		}
		d.under = d.under[:0]
	}
	d.wantEmpty()
	if left := heap() - before; left > 1<<20 {
		t.Errorf("%d octets are in use when all messages have left", left)
	}
	runtime.KeepAlive(d)
}

// heap returns the octets in use. Two collections empty the pools first.
func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// Memory is full from its limit on.
func TestMemoryFull(t *testing.T) {
	var m Memory
	m.SetLimit(150)
	m.Add(100)
	if m.Full() {
		t.Error("full below its limit")
	}
	m.Add(60)
	if !m.Full() {
		t.Error("not full above its limit")
	}
}
