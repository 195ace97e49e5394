package managed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

const acme = "accounts/acme.yaml"

var errUse = errors.New("it cannot be put in force")

func fine() error { return nil }

func openMem(t *testing.T, fs vfs.FS) *Dir {
	t.Helper()
	if err := fs.MkdirAll("managed", 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	return OpenOn(fs, "managed", func() time.Time { return now })
}

func replace(t *testing.T, d *Dir, file, data string) Change {
	t.Helper()
	c, err := d.Replace(Change{File: file, By: "anna"}, []byte(data), fine)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wants(t *testing.T, d *Dir, file, want string) {
	t.Helper()
	got, err := d.Read(file)
	if err != nil || string(got) != want || (got == nil) != (want == "") {
		t.Errorf("%s: %q, %v, not %q", file, got, err, want)
	}
}

// A file is made, replaced and removed; the history has what there was before each change, and who made it. A change that
// cannot be put in force leaves nothing behind.
func TestReplace(t *testing.T) {
	t.Parallel()
	d := openMem(t, vfs.NewMem())
	wants(t, d, acme, "")
	replace(t, d, acme, "one")
	replace(t, d, acme, "two")
	for _, data := range [][]byte{[]byte("three"), nil} {
		_, err := d.Replace(Change{File: acme}, data, func() error {
			wants(t, d, acme, string(data))
			return errUse
		})
		if !errors.Is(err, errUse) {
			t.Error(err)
		}
		wants(t, d, acme, "two")
	}
	if c, err := d.Replace(Change{File: acme, By: "berta", Comment: "gone"}, nil, fine); err != nil || c.Number != 3 {
		t.Error(c, err)
	}
	wants(t, d, acme, "")
	replace(t, d, "routes/first.yaml", "four")
	all, err := d.History("", 0, 10)
	var told []string
	for _, c := range all {
		full, err := d.Change(c.Number)
		told = append(told, fmt.Sprint(c.Number, c.By, c.Comment, c.File, c.Existed, string(full.Before), err))
	}
	want := "4annaroutes/first.yamlfalse<nil>\n3bertagoneaccounts/acme.yamltruetwo<nil>\n2annaaccounts/acme.yamltrueone<nil>\n" +
		"1annaaccounts/acme.yamlfalse<nil>"
	got := strings.ReplaceAll(strings.Join(told, "\n"), " ", "")
	if err != nil || got != want {
		t.Errorf("%v\n%s\nnot\n%s", err, got, want)
	}
	if some, err := d.History(acme, 3, 1); err != nil || len(some) != 1 || some[0].Number != 2 {
		t.Error(some, err)
	}
	if _, err := d.Change(9); !errors.Is(err, ErrNoChange) {
		t.Error(err)
	}
	for _, file := range []string{"accounts/../x.yaml", "accounts/.x.yaml", "routes/a.txt", "x/a.yaml", "accounts/a", "history/1", "lists/a.csv"} {
		if _, err := d.Replace(Change{File: file}, []byte("x"), fine); err == nil {
			t.Error(file, "is written")
		}
	}
}

// The history is bounded, and what was changed last stays in it.
func TestTrim(t *testing.T) {
	t.Parallel()
	d := openMem(t, vfs.NewMem())
	large := strings.Repeat("x", MaxRows)
	for range MostOctets/MaxRows + 3 {
		replace(t, d, "lists/a.txt", large)
	}
	all, err := d.History("", 0, 100)
	if err != nil || len(all) != MostOctets/MaxRows-1 || all[0].Number != MostOctets/MaxRows+3 {
		t.Errorf("%d changes, %v", len(all), err)
	}
}

// What changes often does not push the changes of others out of the history: it loses its own.
func TestShare(t *testing.T) {
	t.Parallel()
	d := openMem(t, vfs.NewMem())
	replace(t, d, "routes/a.yaml", "x")
	replace(t, d, "accounts/rare.yaml", "x")
	for n := 3; n <= MostChanges+1; n++ {
		head, err := json.Marshal(Change{Number: n, File: OptionsFile(Accounts, fmt.Sprint("busy", n%21))})
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.fs.Create(d.Path(nameOf(n)), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(head, '\n')); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	d.trim()
	all, err := d.History("", 0, 2*MostChanges)
	if err != nil || len(all) > MostChanges || len(all) < MostChanges*9/10 || all[0].Number != MostChanges+1 {
		t.Fatalf("%d changes, %v", len(all), err)
	}
	counts := map[string]int{}
	for _, c := range all {
		counts[c.File]++
	}
	if counts["routes/a.yaml"] != 1 || counts["accounts/rare.yaml"] != 1 || len(counts) != 23 {
		t.Errorf("%v", counts)
	}
}

// A list of changes reads their heads alone.
func TestHeads(t *testing.T) {
	t.Parallel()
	read := int64(0)
	d := openMem(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileRead {
			read++
		}
		return nil
	})))
	large := strings.Repeat("x", MaxRows-5)
	for i := range 5 {
		replace(t, d, "lists/a.txt", large+strings.Repeat("y", i))
	}
	read = 0
	all, err := d.History("lists/a.txt", 0, 100)
	if err != nil || len(all) != 5 || all[0].Before != nil || all[0].File != "lists/a.txt" {
		t.Errorf("%d changes, %v", len(all), err)
	}
	if read > 5*8 { // a whole one takes over a hundred
		t.Errorf("%d reads", read)
	}
}

// A breaker fails operations that change the disk: the one with a number, or all from that on, but for those that need no
// room.
type breaker struct {
	first, count int
	full         bool
}

func (b *breaker) String() string { return "breaker" }

func (b *breaker) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpLink, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpMkdirAll:
	case errorfs.OpRemove, errorfs.OpRename, errorfs.OpFileClose:
		if b.full {
			return nil
		}
	default:
		return nil
	}
	if b.count++; b.first > 0 && (b.count == b.first || b.full && b.count > b.first) {
		return syscall.ENOSPC
	}
	return nil
}

// Whichever operation on the disk fails, once, or because the disk is full from then on: the change is made, or nothing has
// changed, and a later change is made.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		for _, next := range []string{"two", ""} {
			failed := 0
			for first := 1; ; first++ {
				b := &breaker{full: full}
				d := openMem(t, errorfs.Wrap(vfs.NewMem(), b))
				replace(t, d, acme, "one")
				before := b.count
				b.first = before + first
				var data []byte
				if next != "" {
					data = []byte(next)
				}
				_, err := d.Replace(Change{File: acme}, data, fine)
				done := b.count < b.first
				b.first = 0
				all, herr := d.History("", 0, 10)
				switch {
				case errors.Is(err, ErrStuck) && full:
					// the names cannot be synced
				case err != nil:
					failed++
					if wants(t, d, acme, "one"); len(all) != 1 && full {
						t.Errorf("full %v, operation %d: %d changes", full, first, len(all))
					}
				default:
					if wants(t, d, acme, next); len(all) != 2 {
						t.Errorf("full %v, operation %d: %d changes, %v", full, first, len(all), herr)
					}
				}
				replace(t, d, acme, "three")
				wants(t, d, acme, "three")
				if done {
					break
				}
			}
			if failed < 3 {
				t.Errorf("only %d changes have failed", failed)
			}
		}
	}
}

// A power cut at any operation leaves the file that was or the one that comes, and after a change that was confirmed that one.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		mem := vfs.NewCrashableMem()
		random := rand.New(rand.NewPCG(seed, 1))
		at, count := int(seed%20), 0
		var cut *vfs.MemFS
		watch := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				if count++; count == at {
					cut = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
				}
			}
			return nil
		})
		d := openMem(t, errorfs.Wrap(mem, watch))
		count = -1000
		replace(t, d, acme, "one")
		if err := d.sync(""); err != nil {
			t.Fatal(err)
		}
		count = 0
		replace(t, d, acme, "two")
		want := ""
		if cut == nil {
			cut, want = mem.CrashClone(vfs.CrashCloneCfg{RNG: random}), "two"
		}
		after := OpenOn(cut, "managed", time.Now)
		got, err := after.Read(acme)
		if err != nil || !bytes.Equal(got, []byte("two")) && (want != "" || !bytes.Equal(got, []byte("one"))) {
			t.Errorf("seed %d: %q, %v", seed, got, err)
		}
		replace(t, after, acme, "three")
		wants(t, after, acme, "three")
	}
}

// A directory that is missing is made by the first change, with its rights, if its parent is ours.
func TestWillBeMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "managed")
	if !WillBeMade(path) || WillBeMade(filepath.Join(path, "deeper")) {
		t.Error("it is not known that it will be made")
	}
	l, err := Open(path).Lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o700 || WillBeMade(path) {
		t.Errorf("%v, %v", st, err)
	}
}
