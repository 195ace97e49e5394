package numbers

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/sms/number"
)

// repeated is a journal whose lines are nearly all about the same number.
var repeated = "-46702\n+OTHER\n-acme\n+12345678901234567890\n+0\n" + strings.Repeat("-46701\n+46701\n", manyLines)

// A journal with many lines that say nothing any more is replaced by one with the last lines of each number, which says the same
// to everybody who reads and writes it, also after a kill.
func TestCompact(t *testing.T) {
	t.Parallel()
	w := watched(t, "46702\nACME\n")
	journal := w.Path() + ChangesSuffix
	left := errors.Join(os.WriteFile(journal, []byte(repeated), 0o600), os.WriteFile(journal+".new", []byte(repeated), 0o600)) // of a kill
	other, err := Open(w.Path(), false)
	if err = errors.Join(left, err); err != nil {
		t.Fatal(err)
	}
	check := func(w *watch) {
		t.Helper()
		w.wants("46701 46703 OTHER 12345678901234567890 0", true)
		w.wants("46702 acme", false)
		if s := w.Status(); s.Added != 5 || s.Removed != 2 {
			t.Errorf("%+v", s)
		}
	}
	if n, err := w.Add(Origin{}, "46703"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	check(w)
	data, err := os.ReadFile(journal)
	if got, want := string(data), "-46702\n+OTHER\n-acme\n+12345678901234567890\n+0\n"+strings.Repeat("-46701\n+46701\n", KeptLines/2)+"+46703\n"; err != nil || got != want {
		t.Errorf("%.200s, %v", got, err)
	}
	if _, err := os.Stat(journal + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	again, err := Open(w.Path(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*List{other, again} {
		if _, err := l.Refresh(w.now); err != nil {
			t.Fatal(err)
		}
		check(&watch{l, t, w.now})
	}
	for i, l := range []*List{other, w.List, again} {
		if n, err := l.Remove(Origin{}, "46701"); n != 1 || err != nil {
			t.Fatal(i, n, err)
		}
		if n, err := l.Add(Origin{}, "46701"); n != 1 || err != nil {
			t.Fatal(i, n, err)
		}
		check(&watch{l, t, w.now})
	}
}

// Where no other file can be made, or a line is damaged, the journal stays as it is, and goes on.
func TestNotCompacted(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"no room": repeated, "damaged": repeated + "x\n", "few lines": strings.Repeat("+46701\n", manyLines)} {
		w := watched(t, "46702\n")
		journal := w.Path() + ChangesSuffix
		err := os.WriteFile(journal, []byte(before), 0o600)
		if name == "no room" {
			err = errors.Join(err, os.Mkdir(journal+".new", 0o700))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"46703", "46704"} {
			if n, err := w.Add(Origin{}, number); n != 1 || err != nil {
				t.Fatal(name, n, err)
			}
		}
		if data, err := os.ReadFile(journal); string(data) != before+"+46703\n+46704\n" || err != nil {
			t.Errorf("%s: %d octets of %d, %v", name, len(data), len(before), err)
		}
		w.wants("46701 46703 46704", true)
	}
}

// A look-up finds a number in spite of a journal that is being replaced.
func TestHasWhileCompacting(t *testing.T) {
	t.Parallel()
	w := watched(t, "# none\n")
	if err := os.WriteFile(w.Path()+ChangesSuffix, []byte(repeated), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Refresh(w.now); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if !w.Has(number.Read("OTHER")) {
				t.Error("it is not found")
				return
			}
		}
	})
	for range 20 {
		if err := errors.Join(os.WriteFile(w.Path()+".x", []byte(repeated), 0o600), os.Rename(w.Path()+".x", w.Path()+ChangesSuffix)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Refresh(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}
