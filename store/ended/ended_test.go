package ended

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pmg/sms"
	"pmg/store"
)

// Notes are there when they are opened again, the latest of them in place of the
// oldest; half a note is none.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outcomes")
	o, err := openOutcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	const all = Max + 100
	for n := range uint64(all) {
		o.Note(Outcome{ID: n, Code: sms.OK, Attempts: 2, Status: 3, Sent: 4, At: int64(n), Lane: uint32(n), PeerID: fmt.Append(nil, "peer", n)})
	}
	o.mem[5*Size+20]++ // number 65,541: id 65,540
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
		if v.Attempts != 2 || v.Status != 3 || v.Sent != 4 || v.At != int64(v.ID) || v.Lane != uint32(v.ID) || string(v.PeerID) != fmt.Sprint("peer", v.ID) {
			t.Errorf("%+v", v)
		}
	})
	o.Clear()
	o.Read(func(v Outcome) { t.Errorf("%+v after Clear", v) })
	if len(seen) != Max-1 || seen[99] || !seen[100] || !seen[all-1] || seen[Max+4] {
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

// The numbers of lanes differ, also those of a connector and an account of the same name, and none
// is 0.
func TestHashOfLane(t *testing.T) {
	t.Parallel()
	seen := map[uint32]store.Lane{}
	for _, l := range []store.Lane{{}, {Connector: "a"}, {Account: "a"}, {Connector: "b"}, {Connector: "ab"}, {Account: "ab"}, {Connector: "a", Account: "b"}} {
		hash := HashOf(l)
		if other, ok := seen[hash]; ok || hash == 0 {
			t.Errorf("%+v and %+v have the number %d", l, other, hash)
		}
		seen[hash] = l
	}
}

// Notes may lie in another directory than shared memory, and are there after a kill.
func TestOpenOutcomesIn(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	for _, want := range [][]uint64{nil, {1}} {
		o, err := OpenIn(in, "data")
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		o.Read(func(v Outcome) { got = append(got, v.ID) })
		if !slices.Equal(got, want) || filepath.Dir(o.name) != in {
			t.Errorf("%s: notes of %v, want %v", o.name, got, want)
		}
		o.Note(Outcome{ID: 1})
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenIn(filepath.Join(in, "missing"), "data"); err == nil {
		t.Error("no error where the directory is missing")
	}
}

// Each store has notes of its own, which are there until they are removed. A file of another length is
// made right, and one that is a link is not used.
func TestOpenOutcomes(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	open := func(dir string, want ...uint64) *Notes {
		t.Helper()
		o, err := Open(filepath.Join(base, dir))
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		o.Read(func(v Outcome) { got = append(got, v.ID) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: notes of %v, want %v", dir, got, want)
		}
		return o
	}
	shut := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	a, b := open("a"), open("b")
	a.Note(Outcome{ID: 1})
	b.Note(Outcome{ID: 2})
	name := a.name
	shut(a.Close())
	a = open("a", 1)
	shut(a.Remove())
	shut(b.Close())
	a, b = open("a"), open("b", 2)
	shut(b.Remove())
	for _, size := range []int64{0, 100, 2 * Max * Size} {
		shut(a.Close())
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		a = open("a")
		if st, err := os.Stat(name); err != nil || st.Size() != Max*Size {
			t.Errorf("%v: %d octets", err, st.Size())
		}
	}
	shut(a.Remove())
	if _, err := os.Stat(name); err == nil {
		t.Error("the notes are not removed")
	}
	target := filepath.Join(base, "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "none/outcomes", "."} {
		if _, err := openOutcomes(filepath.Join(base, name)); err == nil {
			t.Errorf("%s is used", name)
		}
	}
}

// Notes in the caller's memory are there as long as that is.
func TestOutcomesIn(t *testing.T) {
	t.Parallel()
	mem := make([]byte, 4*Size)
	o := In(mem)
	for id := uint64(1); id <= 5; id++ {
		o.Note(Outcome{ID: id})
	}
	read := func() (n int) {
		In(mem).Read(func(v Outcome) {
			if v.ID < 2 {
				t.Errorf("%+v", v)
			}
			n++
		})
		return n
	}
	if err := o.Close(); err != nil || read() != 4 {
		t.Errorf("%d notes behind Close, %v", read(), err)
	}
	if err := o.Remove(); err != nil || read() != 0 {
		t.Errorf("%d notes behind Remove, %v", read(), err)
	}
}

// The number of a lane, which each message that ends needs, takes no memory, and stays the same: notes outlive an upgrade.
func TestHashOf(t *testing.T) {
	lane := store.Lane{Connector: "operator", Account: "acme"}
	if n := testing.AllocsPerRun(100, func() { HashOf(lane) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if h := HashOf(lane); h != 0x5ca1c127 {
		t.Errorf("%#x", h)
	}
}
