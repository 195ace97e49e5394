package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/store/journal"
	"pmg/store/seal"
)

// good is the configuration of a stream that is accepted.
func good() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "J", Subjects: []string{"J"}, Replicas: 3, Discard: jetstream.DiscardNew, AllowAtomicPublish: true,
		MaxBytes: -1, MaxMsgs: -1, MaxMsgSize: -1, MaxMsgsPerSubject: -1,
	}
}

func TestRefusedStream(t *testing.T) {
	for name, change := range map[string]func(c *jetstream.StreamConfig){
		"subject":              func(c *jetstream.StreamConfig) { c.Subjects = []string{"K"} },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = minMessage - 1 },
		"allow_atomic":         func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"no_ack":               func(c *jetstream.StreamConfig) { c.NoAck = true },
		"sealed":               func(c *jetstream.StreamConfig) { c.DenyPurge = true },
		"mirror":               func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{}} },
		"allow_msg_ttl":        func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"replicas":             func(c *jetstream.StreamConfig) { c.Replicas = 2 },
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"persist_mode":         func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
	} {
		c := good()
		change(&c)
		if all := append(unusable(&c), unsafeStream(&c)...); len(all) != 1 || !strings.Contains(all[0], name) {
			t.Errorf("%s: %q", name, all)
		}
	}
	c := good()
	if all := append(unusable(&c), unsafeStream(&c)...); len(all) != 0 {
		t.Errorf("%q", all)
	}
}

func TestRefusedVersion(t *testing.T) {
	for v, ok := range map[string]bool{
		"2.15.1": true, "2.15.2": true, "2.16.0-dev": true, "3.0.0": true, "2.100.0": true,
		"2.15.0": false, "2.14.9": false, "1.99.99": false, "": false, "new": false,
	} {
		var s server
		s.Server.Name, s.Server.Version, s.Data.Config.SyncAlways = "n1", v, true
		if all := unsafeServers([]server{s}); (len(all) == 0) != ok || !ok && !strings.Contains(all[0], "n1") {
			t.Errorf("%s: %q", v, all)
		}
	}
}

// One server is refused before a stream is made there.
func TestRefused(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "max_payload: 64KB\n").Start()
	ctx := context.Background()
	js := admin(t, server)
	for _, o := range []Options{
		{Replicas: 1},
		{Replicas: 1, System: options("", server).System},
	} {
		o.Servers, o.Connect, o.Stream = "nats://"+server.Address, options("", server).Connect, "J"
		if j, err := Open(ctx, o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "replicas") {
			t.Errorf("%v, %v", j, err)
		}
	}
	if _, err := js.Stream(ctx, "J"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("%v", err)
	}
	opened(t, alone("J", server))
	o := options("J", server)
	if j, err := Open(ctx, o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "1 replicas") {
		t.Errorf("%v, %v", j, err)
	}
	o.System = nil
	if j, err := Open(ctx, o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "system account") {
		t.Errorf("%v, %v", j, err)
	}
}

// An attempt that fails and is repeated says why.
func TestFailed(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	server.Accepts()
	o := alone("J", server)
	ctx, cancel := context.WithCancel(context.Background())
	var why []error
	o.Replicas, o.Failed = 3, func(err error) {
		if why = append(why, err); len(why) == 2 {
			cancel()
		}
	}
	if j, err := Open(ctx, o); err == nil {
		t.Fatalf("a stream of three servers is at one: %v", j.Close())
	}
	if len(why) < 2 || !strings.Contains(why[1].Error(), "replicas") {
		t.Errorf("%v", why)
	}
}

// The smallest messages that are accepted take the largest record.
func TestSmallMessages(t *testing.T) {
	t.Parallel()
	j := opened(t, alone("J", natstest.New(t, "n1", "always", "max_payload: 64KB\n").Start()))
	for n := range 2 {
		if seq, err := j.Append(journal.ID{Number: uint64(n)}, make([]byte, journal.MaxRecord)); err != nil {
			t.Fatalf("%d, %v", seq, err)
		}
	}
	n := 0
	err := j.Follow(0, func(_ journal.Seq, _ journal.ID, record []byte) error {
		n += len(record)
		return nil
	})
	if n != 2*journal.MaxRecord || err != nil {
		t.Errorf("%d octets, %v", n, err)
	}
}

func sealerOf(t *testing.T, secrets ...string) *seal.Sealer {
	t.Helper()
	s, err := newSealer(secrets, "J")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each octet of a frame that changes is noticed.
func TestFrame(t *testing.T) {
	f := frame{part: 3, parts: 500, id: journal.ID{Node: 1, Run: 2, Number: 3}, octets: []byte("a record")}
	old, common := sealerOf(t, "old"), sealerOf(t, "new", "old")
	r := framer{sealer: old}
	b := r.append([]byte("before"), &f)[len("before"):]
	for of, s := range map[string]*seal.Sealer{"old": old, "new and old": common} {
		if got, ok := readFrame(s, b); !ok || fmt.Sprint(got) != fmt.Sprint(f) {
			t.Errorf("%s: %v, %v", of, got, ok)
		}
	}
	if got, ok := readFrame(sealerOf(t, "new"), b); ok {
		t.Errorf("with another secret: %v", got)
	}
	if other, err := newSealer([]string{"old"}, "K"); err != nil {
		t.Fatal(err)
	} else if got, ok := readFrame(other, b); ok {
		t.Errorf("in another journal: %v", got)
	}
	if len(b) != len(f.octets)+frameOctets {
		t.Errorf("%d octets", len(b))
	}
	for i := range b {
		changed := slices.Clone(b)
		changed[i]++
		if got, ok := readFrame(old, changed); ok {
			t.Errorf("octet %d is changed: %v", i, got)
		}
		if got, ok := readFrame(old, b[:i]); ok {
			t.Errorf("%d octets: %v", i, got)
		}
	}
	for _, f := range []frame{{part: 0, parts: 0}, {part: 2, parts: 2}} {
		if _, ok := readFrame(old, r.append(nil, &f)); ok {
			t.Errorf("part %d of %d", f.part, f.parts)
		}
	}
}

// A record of which all parts come is one. One whose last part does not follow is passed over.
func TestJoin(t *testing.T) {
	one, two := journal.ID{Node: 1, Number: 1}, journal.ID{Node: 2, Number: 1}
	part := func(id journal.ID, n, of int, text string) frame { return frame{n, of, id, []byte(text)} }
	for _, c := range []struct {
		of   []frame
		want string
	}{
		{[]frame{part(one, 0, 1, "a"), part(two, 0, 1, "b")}, "a b "},
		{[]frame{part(one, 0, 3, "a"), part(one, 1, 3, "b"), part(one, 2, 3, "c"), part(two, 0, 1, "d")}, "abc d "},
		{[]frame{part(one, 0, 3, "a"), part(one, 1, 3, "b"), part(two, 0, 1, "d")}, "d "},
		{[]frame{part(one, 0, 3, "a"), part(one, 1, 3, "b"), part(one, 0, 2, "c"), part(one, 1, 2, "d")}, "cd "},
		{[]frame{part(one, 0, 2, "a"), part(two, 0, 1, "b"), part(one, 1, 2, "c")}, "b not "},
		{[]frame{part(one, 0, 2, "a"), part(two, 1, 2, "b")}, "not "},
		{[]frame{part(one, 0, 2, "a"), part(one, 1, 3, "b")}, "not "},
		{[]frame{part(one, 0, 3, "a"), part(one, 2, 3, "b")}, "not "},
		{[]frame{part(one, 0, 2, "a"), part(one, 1, 2, "b"), part(one, 1, 2, "b")}, "ab not "},
		{[]frame{part(one, 1, 2, "a")}, "not "},
	} {
		var r reader
		got := ""
		for _, f := range c.of {
			record, whole, ok := r.join(&f)
			if whole {
				got += string(record) + " "
			}
			if !ok {
				got += "not "
			}
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.of, got, c.want)
		}
	}
	var r reader
	half := make([]byte, journal.MaxRecord/2+1)
	if _, _, ok := r.join(&frame{part: 0, parts: 2, octets: half}); !ok {
		t.Error("half of a record is no part")
	}
	if _, _, ok := r.join(&frame{part: 1, parts: 2, octets: half}); ok {
		t.Error("a record is larger than it may be")
	}
}
