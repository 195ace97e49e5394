package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// at returns a time as SMPP writes it (SMPP 3.4 §7.1.1).
func at(t time.Time) string { return t.UTC().Format("060102150405") + "000+" }

// T25: messages keep their order, their delivery times and their validity by the wall clock over a
// restart behind which that clock has been set back, or forward. New messages have higher
// ids, although an earlier run with a clock that was ahead has given one of the next hour.
func TestRestartClockSet(t *testing.T) {
	parallel(t)
	for _, step := range []time.Duration{-time.Hour, 24 * time.Hour} {
		begin := time.Now()
		due, end := at(begin.Add(2*time.Hour)), at(begin.Add(90*time.Minute))
		s := site{operator: newSMSC(t), out: "window: 1", store: vfs.NewCrashableMem()}
		high := uint64(begin.Add(time.Hour).UnixMicro())
		leave(t, s.store, leftMessage(high))
		s.operator.down()
		g := start(t, s)
		c := g.bind("transmitter")
		c.submit(1, 1)
		c.submit(2, 2, "schedule_delivery_time="+due)
		c.submit(3, 3, "validity_period="+end)
		c.submit(4, 4)
		c.accepted(1, 4)

		s.wall = step
		g = g.powerCut(&s, c)
		operator, c := s.operator.session(), g.bind("transmitter")
		for _, want := range map[time.Duration][]string{-time.Hour: {"0", "1", "3", "4"}, 24 * time.Hour: {"0", "1", "4", "2"}}[step] {
			line := operator.want("submit_sm", fmt.Sprintf("short_message=%q", want))
			if v := field(line, "validity_period"); want == "3" && v != end {
				t.Errorf("clock set by %v: it is valid until %s, not %s", step, v, end)
			}
			operator.answer(0, field(line, "seq"))
		}
		id := c.submitOne(5)
		if lowest := fmt.Sprintf("%016x", high+4); id <= lowest {
			t.Errorf("clock set by %v: the new message has the id %s, not above %s", step, id, lowest)
		}
		operator.serve(5, 5)
		testutil.Eventually(t, "the answers have come", func() bool { return g.stats("operator").Sent.Load() == 5 && g.synced() })
		got := [2]int64{g.Scheduled(), g.stats("operator").Expired.Load()}
		if want := map[time.Duration][2]int64{-time.Hour: {1, 0}, 24 * time.Hour: {0, 1}}[step]; got != want {
			t.Errorf("clock set by %v: %d messages are scheduled, %d have expired, want %d", step, got[0], got[1], want)
		}
		if step < 0 { // and on another start the clock is right again, three hours later
			s.wall = 3 * time.Hour
			g = g.powerCut(&s, c, operator)
			operator = s.operator.session()
			operator.serve(2, 2)
		}
		c.conn.Close()
		operator.conn.Close()
		g.stop()
	}
}

// leftMessage returns message 0, with an id.
func leftMessage(id uint64) *sms.Message {
	m := &sms.Message{ID: id, Origin: &sms.Origin{Account: "acme", Connector: "clients", Tally: &sms.Tally{}}, Arrived: time.Now().Add(time.Hour).UnixNano()}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("0"))
	return m
}

// leave stores messages for the operator, as an earlier run may have left them.
func leave(t *testing.T, fs vfs.FS, messages ...*sms.Message) {
	t.Helper()
	s, err := store.Open("store", store.Options{FS: fs, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	for _, m := range messages {
		b.Put(m, store.Lane{Connector: "operator"})
	}
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
