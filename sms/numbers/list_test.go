package numbers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/sms/number"
)

// A watch is a list that is refreshed every second.
type watch struct {
	*List
	t   *testing.T
	now time.Time
}

func watched(t *testing.T, text string) *watch {
	t.Helper()
	return &watch{open(t, text), t, time.Now()}
}

// put writes the file in place, so that it is another one to Refresh.
func (w *watch) put(text string) {
	w.t.Helper()
	if err := errors.Join(os.WriteFile(w.Path(), []byte(text), 0o600), os.Chtimes(w.Path(), w.now, w.now)); err != nil {
		w.t.Fatal(err)
	}
}

// refreshes refreshes the list once a second, so many times.
func (w *watch) refreshes(n int) (reloads int, errs []string) {
	w.t.Helper()
	for range n {
		w.now = w.now.Add(time.Second)
		reloaded, err := w.Refresh(w.now)
		if reloaded {
			reloads++
		}
		if err != nil {
			errs = append(errs, err.Error())
		}
	}
	return reloads, errs
}

func (w *watch) wants(addresses string, want bool) {
	w.t.Helper()
	for _, a := range strings.Fields(addresses) {
		if w.Has(number.Read(a)) != want {
			w.t.Errorf("Has(%s) is not %v", a, want)
		}
	}
}

// A file is read when it has not changed for a second, and not before.
func TestReload(t *testing.T) {
	t.Parallel()
	w := watched(t, "46701\n")
	if n, errs := w.refreshes(3); n != 0 || errs != nil {
		t.Fatal(n, errs)
	}
	for i := range 5 { // it is being written
		w.put("46702\n" + strings.Repeat("46703\n", i+1))
		if n, errs := w.refreshes(1); n != 0 || errs != nil {
			t.Fatal(n, errs)
		}
	}
	w.wants("46701", true)
	if n, errs := w.refreshes(2); n != 1 || errs != nil {
		t.Fatal(n, errs)
	}
	w.wants("46702 46703", true)
	w.wants("46701", false)
	if s := w.Status(); s.Reloads != 1 || s.Problem != "" || s.Entries != 2 {
		t.Errorf("%+v", s)
	}
}

// A file that has become invalid leaves what was read before in force, is a problem that is returned once, and none when
// it is mended.
func TestInvalid(t *testing.T) {
	t.Parallel()
	w := watched(t, "46701\n")
	for _, text := range []string{"46702\n4*6\n", "46702\n467", "", "\x00\x00\x00\n"} {
		w.put(text)
		if n, errs := w.refreshes(5); n != 0 || len(errs) != 1 || !strings.Contains(errs[0], "list.txt") {
			t.Fatalf("%q: %d %q", text, n, errs)
		}
		w.wants("46701", true)
		if s := w.Status(); s.Problem == "" {
			t.Errorf("%q: no problem", text)
		}
	}
	if err := os.Remove(w.Path()); err != nil {
		t.Fatal(err)
	}
	if _, errs := w.refreshes(3); len(errs) != 1 {
		t.Fatal(errs)
	}
	w.wants("46701", true)
	w.put("46703\n")
	if n, errs := w.refreshes(3); n != 1 || errs != nil {
		t.Fatal(n, errs)
	}
	if s := w.Status(); s.Problem != "" || s.Faults != 5 {
		t.Errorf("%+v", s)
	}
	w.put("# nobody\n")
	if n, errs := w.refreshes(3); n != 1 || errs != nil || w.Status().Entries != 0 {
		t.Fatal(n, errs)
	}
}

// Numbers that are added and removed stay so when the file is replaced, and after a kill.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := watched(t, "46701\n46702\n468*\nACME\n")
	for _, c := range []struct {
		do   func(Origin, ...string) (int, error)
		what string
		want int
	}{
		{w.Add, "46 703", 1}, {w.Add, "+46703", 0}, {w.Add, "46701", 1}, {w.Remove, "46702", 1}, {w.Remove, "46709", 0},
		{w.Remove, "46899", 1}, {w.Add, "other", 1}, {w.Remove, "acme", 1}, {w.Add, "12345678901234567890", 1},
	} {
		if n, err := c.do(Origin{}, c.what); n != c.want || err != nil {
			t.Fatalf("%s: %d %v", c.what, n, err)
		}
	}
	if n, err := w.Add(Origin{}, "1", "x*"); n != 0 || err == nil || !strings.Contains(err.Error(), "prefix") || w.Has(number.Read("1")) {
		t.Error(n, err)
	}
	check := func(w *watch) {
		t.Helper()
		w.wants("46701 46703 4681 OTHER 12345678901234567890", true)
		w.wants("46702 46899 acme", false)
	}
	check(w)
	if s := w.Status(); s.Added != 4 || s.Removed != 3 {
		t.Errorf("%+v", s)
	}
	w.put("468*\nACME\n46702\n")
	if n, errs := w.refreshes(3); n != 1 || errs != nil {
		t.Fatal(n, errs)
	}
	check(w)
	f, err := os.OpenFile(w.Path()+ChangesSuffix, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("-4670"); err != nil { // a process was killed
		t.Fatal(err)
	}
	again, err := Open(w.Path(), false)
	if err != nil {
		t.Fatal(err)
	}
	check(&watch{again, t, w.now})
	if n, err := again.Add(Origin{}, "47"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, errs := w.refreshes(1); n != 0 || errs != nil || !w.Has(number.Read("47")) {
		t.Fatal(n, errs)
	}
	data, err := os.ReadFile(w.Path() + ChangesSuffix)
	if want := "+46703\n+46701\n-46702\n-46899\n+OTHER\n-ACME\n+12345678901234567890\n+47\n"; string(data) != want || err != nil {
		t.Errorf("%q %v", data, err)
	}
}

// A line of the journal that cannot be read is a problem; the others are in force. Without the journal the file decides.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	w := watched(t, "46701\n")
	if err := os.WriteFile(w.Path()+ChangesSuffix, []byte("+46702\n\x00\x00\n-46701\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := w.refreshes(3); len(errs) != 1 || !strings.Contains(errs[0], "at octet 7") {
		t.Fatal(errs)
	}
	w.wants("46702", true)
	w.wants("46701", false)
	again, err := Open(w.Path(), false)
	if err != nil || again.Status().Problem == "" || !again.Has(number.Read("46702")) {
		t.Fatal(err)
	}
	if err := os.Remove(w.Path() + ChangesSuffix); err != nil {
		t.Fatal(err)
	}
	if _, errs := w.refreshes(2); errs != nil || w.Status().Problem != "" {
		t.Fatal(errs)
	}
	w.wants("46702", false)
	w.wants("46701", true)
}

// Two that write the same journal lose nothing.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	a := open(t, "# none\n")
	b, err := Open(a.Path(), false)
	if err != nil {
		t.Fatal(err)
	}
	const each = 30
	var wg sync.WaitGroup
	for i, l := range []*List{a, b, a, b} {
		wg.Go(func() {
			for j := range each {
				if n, err := l.Add(Origin{}, fmt.Sprintf("4670%d%02d", i, j)); n != 1 || err != nil {
					t.Error(n, err)
				}
			}
		})
	}
	wg.Wait()
	for _, l := range []*List{a, b} {
		if _, err := l.Refresh(time.Now()); err != nil || l.Status().Added != 4*each {
			t.Error(err, l.Status())
		}
	}
}

// Look-ups go on while files and journals are taken over.
func TestHasWhileReloading(t *testing.T) {
	t.Parallel()
	w := watched(t, "46701\n46702\n")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if !w.Has(number.Read("46701")) || w.Has(number.Read("999")) {
					t.Error("wrong")
					return
				}
			}
		})
	}
	for i := range 20 {
		w.put(fmt.Sprintf("46701\n%d\n", 1000+i))
		if n, errs := w.refreshes(3); n != 1 || errs != nil {
			t.Fatal(n, errs)
		}
		if _, err := w.Add(Origin{}, fmt.Sprint(5000+i)); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

// A journal that cannot be written is an error, and the number is not on the list.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	l := open(t, "46701\n")
	if err := os.Mkdir(l.Path()+ChangesSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Add(Origin{}, "46702"); n != 0 || err == nil || !strings.Contains(err.Error(), filepath.Base(l.Path())) || l.Has(number.Read("46702")) {
		t.Error(n, err)
	}
}
