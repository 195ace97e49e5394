package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// An event is a line of events.dir.
type event struct {
	Number      uint64
	ID          string
	Kind        string
	State       string
	Reason      string
	Account     string
	Connector   string
	ToConnector string `json:"to_connector"`
	Source      string
	Destination string
	AcceptedAt  time.Time `json:"accepted_at"`
	SentAt      time.Time `json:"sent_at"`
	EndedAt     time.Time `json:"ended_at"`
	Attempts    int
	Sends       int
	About       string
	Delivery    string
	Error       string
	ClientID    string `json:"client_id"`
	Status      *uint32
	StatusName  string `json:"status_name"`
	SMSCID      string `json:"smsc_id"`
	Parts       int
	Network     string
	Price       string
	Refund      string
}

// eventsIn returns the options that write events to one file in a directory, also at midnight.
func eventsIn(dir string) string { return fmt.Sprintf("events: {dir: %q, rotate_every: 0s}\n", dir) }

// readEvents returns the events in a directory, which must have numbers from 1 on.
func readEvents(t *testing.T, dir string) (all []event) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "events.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if all = append(all, e); e.Number != uint64(len(all)) {
			t.Errorf("line %d: %s", len(all), line)
		}
		if bytes.Contains(line, []byte("secret text")) {
			t.Errorf("a text is in an event: %s", line)
		}
	}
	return all
}

// wantEvents checks that each id has exactly one event with its state, and returns them by
// their states.
func wantEvents(t *testing.T, dir string, want map[string]string) map[string]event {
	t.Helper()
	states, by := map[string]string{}, map[string]event{}
	for _, e := range readEvents(t, dir) {
		if states[e.ID] != "" {
			t.Errorf("message %s has two events", e.ID)
		}
		states[e.ID], by[e.State] = e.State, e
		if e.Kind != "submit" || e.Account != "acme" || e.Connector != "clients" || e.ToConnector != "operator" ||
			e.Source != "1234" || e.Destination != "46700000001" || e.AcceptedAt.IsZero() || e.Parts != 1 || e.EndedAt.Before(e.AcceptedAt) {
			t.Errorf("%+v", e)
		}
	}
	if !maps.Equal(states, want) {
		t.Errorf("events %v, want %v", states, want)
	}
	return by
}

// Each message has exactly one event, with the state that it has ended in, also over a restart.
func TestEvents(t *testing.T) {
	parallel(t)
	dir, fs := filepath.Join(t.TempDir(), "events"), vfs.NewMem()
	operator := newSMSC(t)
	s := site{operator: operator, store: fs, top: eventsIn(dir), out: "window: 1, retry: 1ms, response_timeout: 60s, on_unknown: fail"}
	g := start(t, s)
	smsc, c := operator.session(), g.bind("transmitter")
	want := map[string]string{}
	want[c.submitOne(1)] = "sent"
	smsc.serve(1, 1)
	want[c.submitOne(2)] = "rejected"
	smsc.answer(0x0b, smsc.take(2, 2)...)
	want[c.submitOne(3)] = "failed"
	smsc.answer(0x08, smsc.take(3, 3)...)
	smsc.answer(0x08, smsc.take(3, 3)...)
	want[c.submitOne(4)] = "unknown"
	smsc.take(4, 4)
	want[c.submitOne(5, "validity_period=000000000001000R")] = "expired" // waits behind 4
	want[c.submitOne(6)] = "sent"
	testutil.Eventually(t, "a message has expired", func() bool { return g.stats("operator").Expired.Load() == 1 })
	smsc.conn.Close() // the answer to 4 never comes
	smsc = operator.session()
	sequences := smsc.take(6, 6)
	testutil.Eventually(t, "events are written", func() bool { return g.Settler.Writer().Written() == 5 })
	smsc.answer(0, sequences...)
	testutil.Eventually(t, "everything has ended", func() bool { return g.Pending() == 0 })
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	by := wantEvents(t, dir, want)
	for state, fields := range map[string]string{
		"sent": "1 1 0 ESME_ROK ok", "rejected": "1 1 11 ESME_RINVDSTADR bad_destination", "failed": "2 2 8 ESME_RSYSERR system_error",
		"unknown": "1 1 none  lost", "expired": "0 0 none  expired",
	} {
		e, status := by[state], "none"
		if e.Status != nil {
			status = fmt.Sprint(*e.Status)
		}
		if got := fmt.Sprint(e.Attempts, " ", e.Sends, " ", status, " ", e.StatusName, " ", e.Reason); got != fields {
			t.Errorf("%s: %s, want %s", state, got, fields)
		}
		if (e.SMSCID != "") != (state == "sent") || e.SentAt.IsZero() != (state == "expired") {
			t.Errorf("%+v", e)
		}
	}

	g = start(t, s)
	smsc, c = operator.session(), g.bind("transmitter")
	want[c.submitOne(1)] = "sent"
	smsc.serve(1, 1)
	testutil.Eventually(t, "everything has ended", func() bool { return g.Pending() == 0 })
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	wantEvents(t, dir, want)
}

// Events that could not be written stay in the store, and the next start writes them.
func TestEventsAfterKill(t *testing.T) {
	parallel(t)
	dir, fs := filepath.Join(t.TempDir(), "events"), vfs.NewCrashableMem()
	operator := newSMSC(t)
	g := start(t, site{operator: operator, store: fs, top: eventsIn(dir)})
	smsc, c := operator.session(), g.bind("transmitter")
	want := map[string]string{}
	for n := 1; n <= 20; n++ {
		want[c.submitOne(n)] = "sent"
		smsc.serve(n, n)
	}
	testutil.Eventually(t, "events are in the store", func() bool { return g.Settler.Writer().Written() == 20 })
	crashed := fs.CrashClone(vfs.CrashCloneCfg{}) // what the disk has when the power fails
	b, err := os.ReadFile(filepath.Join(dir, "events.log"))
	if err != nil {
		t.Fatal(err)
	}
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	safe := safeOctets(t, crashed, b)
	for _, octets := range []int{safe, (safe + len(b)) / 2, max(safe, len(b)-1), len(b)} { // of the file are on the disk
		dir := filepath.Join(t.TempDir(), "events")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "events.log"), b[:octets], 0o600); err != nil {
			t.Fatal(err)
		}
		g := start(t, site{operator: operator, store: crashed.CrashClone(vfs.CrashCloneCfg{}), top: eventsIn(dir)})
		g.stop()
		wantEvents(t, dir, want)
	}
}

// safeOctets returns how many octets of a file of events the store need not give back.
func safeOctets(t *testing.T, fs *vfs.MemFS, b []byte) int {
	t.Helper()
	s, err := store.Open("store", store.Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	safe := len(b)
	if _, err := s.Events(0, 1, func(_ uint64, line []byte) error {
		safe = bytes.Index(b, line)
		return nil
	}); err != nil || safe < 0 {
		t.Fatalf("the first event is at %d, %v", safe, err)
	}
	return safe
}

// A message whose answer came late has its event with the time at which it was sent, and the
// attempt counts once.
func TestEventOfLateAnswer(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "events")
	operator := newSMSC(t)
	g := start(t, site{operator: operator, top: eventsIn(dir), store: vfs.NewMem(), out: "response_timeout: 300ms, enquire_interval: 0s, retry: 1h"})
	smsc, c := operator.session(), g.bind("transmitter")
	want := map[string]string{c.submitOne(1): "sent"}
	late := smsc.take(1, 1)
	testutil.Eventually(t, "it is queued again", func() bool { return g.stats("operator").Retried.Load() == 1 })
	smsc.answer(0, late...)
	testutil.Eventually(t, "its copy has ended", func() bool { return g.stats("operator").Late.Load() == 1 })
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	if e := wantEvents(t, dir, want)["sent"]; e.SentAt.Before(e.AcceptedAt) || e.EndedAt.Before(e.SentAt) || e.Attempts != 1 || e.SMSCID != late[0] {
		t.Errorf("%+v", e)
	}
}
