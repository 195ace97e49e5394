package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// A file with a bit flipped, or cut off, is found and named, or nothing is missing. What is
// read is never wrong.
func TestDamage(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	used, want := usedStore(t, 16<<10)
	outcomes := make(chan string, damageSeeds)
	eachSeed(t, damageSeeds, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewMem()
		if _, err := vfs.Clone(used, fs, "data", "data"); err != nil {
			t.Fatal(err)
		}
		file, how := damage(t, r, fs)
		outcome, err := judge(fs, file, want)
		if err != nil {
			t.Errorf("seed %d: %s %s: %v", seed, how, file, err)
		}
		outcomes <- fmt.Sprintf("%-9s %s", kindOf(file), outcome)
	})
	close(outcomes)
	all := map[string]int{}
	for o := range outcomes {
		all[o]++
	}
	for _, o := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%3d %s", all[o], o)
	}
}

// usedStore makes a store with tables and a journal, as after a crash, and what it must hold.
func usedStore(t *testing.T, segment int64) (*memFS, *model) {
	t.Helper()
	h := newHistory(t, 1, Options{segment: segment})
	for range 60 {
		h.step()
	}
	h.store.Tidy()
	crashed := h.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: h.rand})
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	return crashed, h.model
}

// damage flips a bit of a file, or cuts it off.
func damage(t *testing.T, r *rand.Rand, fs vfs.FS) (file, how string) {
	t.Helper()
	var names []string
	for _, dir := range []string{"", journalDir + "/"} {
		all, err := fs.List("data/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if name != journalDir {
				names = append(names, dir+name)
			}
		}
	}
	slices.Sort(names)
	for {
		file = names[r.IntN(len(names))]
		text, err := readFile(fs, "data/"+file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue
		}
		b, at := []byte(text), r.IntN(len(text))
		if r.IntN(3) == 0 {
			b, how = b[:at], fmt.Sprintf("cut %d octets to %d of", len(b), at)
		} else {
			b[at] ^= 1 << r.IntN(8)
			how = fmt.Sprintf("flipped a bit of octet %d of %d in", at, len(b))
		}
		writeFile(t, fs, "data/"+file, b)
		return file, how
	}
}

func kindOf(file string) string {
	name := filepath.Base(file)
	if ext := filepath.Ext(name); ext == ".log" || ext == ".sst" || ext == ".journal" {
		return ext
	}
	name, _, _ = strings.Cut(name, "-")
	return name
}

// judge says what became of a store with a damaged file, and what is wrong with that.
func judge(fs vfs.FS, file string, want *model) (outcome string, err error) {
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		return "cannot be opened", named(err, file)
	}
	defer s.Close()
	wrong := readAll(s, func(e *Entry) error {
		text, err := textOf(e)
		if err == nil && want.messages[e.ID] != text {
			err = fmt.Errorf("message %d is %.60q, not %.60q", e.ID, text, want.messages[e.ID])
		}
		return err
	})
	if errors.Is(wrong, ErrDamaged) {
		if problem := s.Stats().Problem; !strings.Contains(problem, file) {
			return "cannot be read", fmt.Errorf("the problem is %q", problem)
		}
		return "cannot be read", named(wrong, file)
	}
	if wrong != nil {
		return "is wrong", wrong
	}
	if d := want.differs(s); d != "" {
		return "is wrong", errors.New(d)
	}
	return "is whole", nil
}

func readAll(s Store, f func(*Entry) error) error {
	for next := uint64(0); ; {
		var err error
		if next, err = s.Scan(next, 10, f); err != nil || next == 0 {
			return err
		}
	}
}

// named says what is wrong with an error that means damage.
func named(err error, file string) error {
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), file) {
		return fmt.Errorf("the error does not name the file: %w", err)
	}
	return nil
}
