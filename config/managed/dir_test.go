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
	"golang.org/x/sys/unix"
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
	return OpenOn(fs, "managed", func() time.Time { return now }, nil)
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
		after := OpenOn(cut, "managed", time.Now, nil)
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
	l, err := Open(path, nil).Lock()
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

// put writes a file by hand.
func put(t *testing.T, d *Dir, file, data string) {
	t.Helper()
	if err := d.fs.MkdirAll(d.fs.PathDir(d.Path(file)), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := d.fs.Create(d.Path(file), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte(data))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A file may be empty, or as large as it may be, and no larger.
func TestRead(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir(), nil)
	replace(t, d, "lists/a.txt", "")
	if data, err := d.Read("lists/a.txt"); data == nil || len(data) > 0 || err != nil || Tag(data) == "" || Tag(nil) != "" {
		t.Errorf("an empty file: %q, %v, tag %q", data, err, Tag(data))
	}
	for _, size := range []int{MaxRows, MaxRows + 1} {
		if err := os.Truncate(d.Path("lists/a.txt"), int64(size)); err != nil {
			t.Fatal(err)
		}
		data, err := d.Read("lists/a.txt")
		if size == MaxRows && (len(data) != MaxRows || err != nil) {
			t.Errorf("%d octets, %v", len(data), err)
		}
		if size > MaxRows && (data != nil || err == nil || !strings.Contains(err.Error(), "it has more than 16777216 octets")) {
			t.Errorf("%d octets, %v", len(data), err)
		}
	}
}

// Objects are the files of options that may be there, in order, whatever else is.
func TestNames(t *testing.T) {
	t.Parallel()
	failed := errors.New("no disk")
	broken := false
	d := openMem(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken && op.Kind == errorfs.OpList {
			return failed
		}
		return nil
	})))
	if names, err := d.Names(Lists); len(names) > 0 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	for _, file := range []string{"b.yaml", "a.yaml", "a.txt", "c.txt", ".d.yaml.new", "e.yml", "f g.yaml"} {
		put(t, d, "lists/"+file, "x")
	}
	if names, err := d.Names(Lists); strings.Join(names, " ") != "a b" || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	broken = true
	if _, err := d.Names(Lists); !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, err := d.History("", 0, 10); !errors.Is(err, failed) {
		t.Error(err)
	}
}

// Whichever operation fails at the first change of a directory, which makes the directories: the file is made, or nothing is there,
// no temporary file stays, and a later change is made.
func TestFirstFails(t *testing.T) {
	t.Parallel()
	for first := 1; ; first++ {
		b := &breaker{}
		d := openMem(t, errorfs.Wrap(vfs.NewMem(), b))
		b.first, b.count = first, 0
		_, err := d.Replace(Change{File: acme}, []byte("one"), fine)
		done := b.count < first
		b.first = 0
		if err != nil {
			if wants(t, d, acme, ""); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("operation %d: %v", first, err)
			}
		} else {
			wants(t, d, acme, "one")
		}
		replace(t, d, acme, "two")
		wants(t, d, acme, "two")
		if names, err := d.fs.List(d.Path(Accounts)); err != nil || len(names) != 1 {
			t.Errorf("operation %d: %q, %v", first, names, err)
		}
		if done {
			if first < 5 {
				t.Errorf("only %d operations", first)
			}
			return
		}
	}
}

// What was changed by hand in the history is no change of its number.
func TestHistoryByHand(t *testing.T) {
	t.Parallel()
	d := openMem(t, vfs.NewMem())
	replace(t, d, acme, "one")
	put(t, d, nameOf(2), `{"number":1,"file":"accounts/acme.yaml"}`+"\n")
	put(t, d, nameOf(3), `{"number":3,"file":"../pmg.yaml"}`+"\n")
	put(t, d, nameOf(4), "hello\n")
	put(t, d, history+"/notes", "")
	for n := 2; n <= 4; n++ {
		if _, err := d.Change(n); err == nil || errors.Is(err, ErrNoChange) || !strings.HasPrefix(err.Error(), fmt.Sprintf("cannot read change %d: ", n)) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if all, err := d.History("", 0, 10); len(all) != 1 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if c := replace(t, d, acme, "two"); c.Number != 5 {
		t.Errorf("%+v", c)
	}
}

// Old changes go, but for the last one.
func TestOldChanges(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir(), nil)
	now := time.Now()
	d.now = func() time.Time { return now }
	replace(t, d, acme, "one")
	replace(t, d, acme, "two")
	now = now.Add(MostAge - time.Hour)
	d.trim()
	if all, err := d.History("", 0, 10); len(all) != 2 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	now = now.Add(2 * time.Hour)
	d.trim()
	if all, err := d.History("", 0, 10); len(all) != 1 || err != nil || all[0].Number != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// On a disk, files are for the gateway alone, and what another process has locked is waited for.
func TestRights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := Open(dir, nil)
	replace(t, d, acme, "one")
	replace(t, d, acme, "two")
	for file, want := range map[string]os.FileMode{acme: 0o600, nameOf(2): 0o600, Accounts: 0o700, history: 0o700} {
		if st, err := os.Stat(d.Path(file)); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", file, st.Mode(), err)
		}
	}
	if os.Geteuid() == 0 { // root may change what the gateway's user has
		if err := os.Chown(dir, 12345, 12346); err != nil {
			t.Fatal(err)
		}
		replace(t, d, "routes/a.yaml", "x")
		for _, file := range []string{"routes/a.yaml", Routes, nameOf(3)} {
			var st unix.Stat_t
			if err := unix.Stat(d.Path(file), &st); err != nil || st.Uid != 12345 || st.Gid != 12346 {
				t.Errorf("%s: owner %d, group %d, %v", file, st.Uid, st.Gid, err)
			}
		}
	}
	l, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	other := Open(dir, nil)
	times := 0
	other.now = func() time.Time { times++; return time.Unix(int64(times)*int64(lockWait/time.Second), 0) }
	if _, err := other.Lock(); err == nil || !strings.HasPrefix(err.Error(), "cannot lock "+dir) {
		t.Errorf("%v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if l, err = other.Lock(); err != nil || l.Close() != nil {
		t.Error(err)
	}
}
