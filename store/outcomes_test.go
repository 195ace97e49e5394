package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pmg/sms"
)

// Outcomes are there when they are opened again, the latest of them in place of the
// oldest; half a note is none.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outcomes")
	o, err := openOutcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	const all = MaxOutcomes + 100
	for n := range uint64(all) {
		o.Note(Outcome{ID: n, Code: sms.OK, Attempts: 2, Status: 3, Sent: 4, At: int64(n), PeerID: fmt.Append(nil, "peer", n)})
	}
	o.mem[5*OutcomeSize+20]++ // number 65,541: id 65,540
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if o, err = openOutcomes(name); err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if o.next != all+1 {
		t.Errorf("the next number is %d", o.next)
	}
	seen := map[uint64]bool{}
	o.Read(func(v Outcome) {
		seen[v.ID] = true
		if v.Attempts != 2 || v.Status != 3 || v.Sent != 4 || v.At != int64(v.ID) || string(v.PeerID) != fmt.Sprint("peer", v.ID) {
			t.Errorf("%+v", v)
		}
	})
	o.Clear()
	o.Read(func(v Outcome) { t.Errorf("%+v after Clear", v) })
	if len(seen) != MaxOutcomes-1 || seen[99] || !seen[100] || !seen[all-1] || seen[MaxOutcomes+4] {
		t.Errorf("%d outcomes", len(seen))
	}
}

// A long id of a peer is cut, and a file that others may write is not used.
func TestOutcomesLimits(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outcomes")
	o, err := openOutcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Note(Outcome{ID: 1, PeerID: make([]byte, 300)})
	o.Read(func(v Outcome) {
		if len(v.PeerID) != maxPeerID {
			t.Errorf("%d octets of the peer's id", len(v.PeerID))
		}
	})
	_ = o.Close()
	if err := os.Chmod(name, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openOutcomes(name); err == nil {
		t.Error("a file that others may write is used")
	}
}
