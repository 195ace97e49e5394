package store

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"pmg/store/journal"
	inmemory "pmg/store/journal/journaltest"
)

// isRefused begins the work of a node without the key of a message. It changes nothing.
func (c *copier) isRefused(epoch uint32) {
	c.t.Helper()
	if _, err := c.journal.Begin(epoch, EmptyRecord()); err != nil {
		c.t.Fatal(err)
	}
	c.follow()
	if err := c.journal.Own(epoch); err != nil {
		c.t.Fatal(err)
	}
	before := c.sum()
	if err := c.copy.CheckKeys(); !errors.Is(err, ErrKey) {
		c.t.Errorf("node %d with another key: %v", c.node, err)
	}
	if after := c.sum(); after != before {
		c.t.Errorf("%s, and %s before", after, before)
	}
}

// again starts a node again, with other keys.
func (c *copier) again(keys ...[]byte) {
	c.t.Helper()
	c.close()
	c.keys = keys
	c.open()
}

// A copy's key encrypts the records of the journal too. Nodes follow without the key, and own nothing without the keys of all
// messages; nothing is lost by an attempt. A key is changed node by node.
func TestCopySealed(t *testing.T) {
	t.Parallel()
	one, two := keyOf(1), keyOf(2)
	var all []*copier
	inner := inmemory.New(nil)
	for i := range 3 {
		all = append(all, &copier{t: t, node: uint32(i + 1), inner: inner, fs: newMemFS(), keys: [][]byte{one}})
	}
	a, b, c := all[0], all[1], all[2]
	c.keys = [][]byte{two}
	for _, n := range all {
		n.open()
	}
	put := func(n *copier, id uint64) {
		t.Helper()
		commit(t, n.copy, func(b *Batch) { b.Put(sample(id, fmt.Sprint("hidden ", id)), sampleLane) })
	}
	want := func(n *copier, texts string) {
		t.Helper()
		if got := fmt.Sprint(textsOf(t, n.copy)); got != texts {
			t.Errorf("node %d has %s", n.node, got)
		}
	}
	a.takeOver(1)
	put(a, 1)
	c.isRefused(2)
	b.takeOver(3) // although its process is not the first one that tried
	want(b, "[hidden 1]")

	c.follow()
	c.again(two, one) // those that stand by get the next key before the owner
	c.takeOver(4)
	put(c, 2)
	want(c, "[hidden 1 hidden 2]")
	if !c.copy.Stats().OldKey {
		t.Error("the key of before is needed")
	}
	b.follow()
	b.again(one)
	b.isRefused(5)
	b.again(two, one)
	b.takeOver(6)
	commit(t, b.copy, func(b *Batch) { b.Delete(1, 0) })
	b.copy.Tidy()
	if b.copy.Stats().OldKey {
		t.Error("the key of before is needed, and no message has it")
	}
	a.follow()
	a.again(two)
	a.takeOver(7)
	want(a, "[hidden 2]")

	err := inner.Follow(0, func(at journal.Seq, _ journal.ID, record []byte) error {
		if bytes.Contains(record, []byte("hidden")) {
			t.Errorf("the record at %d has a text", at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		n.follow()
		if n.sum() != a.sum() {
			t.Errorf("node %d has %s, and node 1 %s", n.node, n.sum(), a.sum())
		}
	}
	b.close()
	c.close()
	a.checkSealed(two)
}

// checkSealed makes a backup of an encrypted copy with one message, and closes the copy. A check needs no key, and what a repair
// saves is still encrypted.
func (c *copier) checkSealed(key []byte) {
	t := c.t
	t.Helper()
	if err := c.copy.Backup("backup"); err != nil {
		t.Fatal(err)
	}
	b := &copier{t: t, dir: "backup", node: 2, inner: c.inner, fs: c.fs, keys: [][]byte{key}}
	b.open()
	b.takeOver(100)
	if got := textsOf(t, b.copy); len(got) != 1 {
		t.Errorf("the backup has %q", got)
	}
	b.close()
	c.close()
	if r, err := check(c.fs, "store"); err != nil || r.Messages != 1 || len(r.Faults) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, r, err := repair(c.fs, "store", time.Now()); err != nil || r.Messages != 1 || len(r.Faults) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open("store", Options{FS: c.fs}); !errors.Is(err, ErrKey) {
		t.Errorf("the repaired store without the key: %v", err)
	}
	s, err := Open("store", Options{FS: c.fs, Keys: [][]byte{key}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := textsOf(t, s); len(got) != 1 {
		t.Errorf("the repaired store has %q", got)
	}
}
