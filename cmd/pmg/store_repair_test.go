package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testkit/process"
	"pmg/store"
)

// A repair that could not read everything says so by its status, and shows the balances beside those that payments and events
// give, and how many messages wait although they have ended.
func TestRepairMoney(t *testing.T) {
	t.Parallel()
	dir := newStoreForTest(t)
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	balance := func(account string, millionths uint64) {
		b.Note(store.KindBalance, []byte(account), binary.BigEndian.AppendUint64(nil, millionths), store.Forever)
	}
	balance("pa", 1_583_705)
	balance("right", 2_000_000)
	for account, amount := range map[string]string{"pa": "5.00", "right": "3.00"} {
		key := append([]byte(account), 0, 'p', 0, 0, 0, 0, 0, 0, 0, 1)
		b.Note(store.KindPaid, key, fmt.Appendf(nil, `{"amount":%q}`, amount), store.Forever)
	}
	if err := errors.Join(s.Commit(&b), s.Close()); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(t.TempDir(), "events")
	line := `{"number":%d,"id":%q,"kind":"submit","state":"sent","account":%q,"price":%q}` + "\n"
	all := fmt.Sprintf(line, 1, hexID(queuedID), "pa", "5.000347") +
		`{"number":2,"id":"0000000000000009","kind":"refund","refund":"0.04","account":"pa"}` + "\n" +
		fmt.Sprintf(line, 3, "0000000000000008", "right", "1.00")
	if err := errors.Join(os.Mkdir(events, 0o700), os.WriteFile(filepath.Join(events, "events.log"), []byte(all), 0o600)); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	config := process.WriteConfig(t, fmt.Sprintf("store: {dir: %q}\nevents: {dir: %q}\nconnectors: []\n", dir, events))
	manifests, _ := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	for _, name := range manifests {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	out, err := pmg(t, "store repair -c "+config)
	if exitStatus(err) != exitLosses {
		t.Errorf("status %d, %v", exitStatus(err), err)
	}
	for _, want := range []string{
		"have ended by their events, and wait again: 1;",
		"  pa: 1.583705 in the store; paid 5.00, charged 5.000347, given back 0.04 by the events: the balance is 0.039653 by these, -1.544052 more\n",
		"  right: 2.00 in the store; paid 3.00, charged 1.00, given back 0.00 by the events\n",
		"pmg credit add ACCOUNT AMOUNT",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A repair says by its status that something is lost also if what that means for money cannot be found out, because the messages
// are encrypted, and no configuration names the key.
func TestRepairSealed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(dir, store.Options{Keys: [][]byte{make([]byte, 32)}})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	b.Put(storedForTest(queuedID, "46700000001", "secret"), store.Lane{Connector: "operator"})
	if err := errors.Join(s.Commit(&b), s.Close()); err != nil {
		t.Fatal(err)
	}
	manifests, _ := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	for _, name := range manifests {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	out, err := pmg(t, "store repair --store "+dir)
	if exitStatus(err) != exitLosses || !strings.Contains(err.Error(), "a part of the store is lost") || !strings.Contains(err.Error(), "key_file") {
		t.Errorf("status %d, %v\n%s", exitStatus(err), err, out)
	}
	if strings.Contains(out, "pmg store repair puts it aside") {
		t.Errorf("a repair is advised to repair:\n%s", out)
	}
}
