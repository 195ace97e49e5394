package events

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/logfile"
	"pmg/store"
)

// mustWrite writes a file.
func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever stands in the file, numbers go on, and it is cut, kept or put aside.
func TestStart(t *testing.T) {
	t.Parallel()
	const one, two, three, four = `{"number":1,"x":1}` + "\n", `{"number":2,"x":1}` + "\n", `{"number":3,"x":1}` + "\n", `{"number":4,"x":1}` + "\n"
	for name, c := range map[string]struct {
		mark, file string
		first      uint64 // the lowest event of the store, which has them up to 4; 0: it has none
		next       uint64
		want       string // what is in the file when the store's events are written as well
		aside      string // what is put among the rotated files
	}{
		"nothing":                       {next: 1},
		"whole lines":                   {file: one + two, next: 3, want: one + two},
		"rotated":                       {mark: "2\n", next: 3},
		"mark without an end":           {mark: "2", next: 3},
		"mark that is behind":           {mark: "1\n", file: one + two, next: 3, want: one + two},
		"half a line":                   {file: one + two[:9], next: 2, want: one},
		"a line without its end":        {file: one + two[:len(two)-1], next: 2, want: one},
		"lines taken out":               {file: one + three, next: 4, want: one + three},
		"the store has what follows":    {file: one + three, first: 4, next: 5, want: one + three + four},
		"something else":                {file: one + "-- \n" + three, next: 4, aside: one + "-- \n" + three},
		"something else at the end":     {file: one + "-- \n", next: 2, aside: one + "-- \n"},
		"a number alone":                {file: one + `{"number":2}` + "\n", next: 2, aside: one + `{"number":2}` + "\n"},
		"a line twice":                  {file: one + one + two, next: 3, aside: one + one + two},
		"the store has half a line":     {file: one + two[:9], first: 2, next: 5, want: one + two + three + four},
		"the store has all lines":       {file: one + two[:9] + "\n" + three, first: 1, next: 5, want: one + two + three + four},
		"the store has what is damaged": {file: one + "-- \n" + three, first: 2, next: 5, want: one + two + three + four},
		"the store has all of it":       {file: "-- \n" + two, first: 1, next: 5, want: one + two + three + four},
		"the store has later ones":      {file: one + "-- \n" + three, first: 4, next: 5, want: four, aside: one + "-- \n" + three},
		"another node has written 2":    {file: one + three, first: 3, next: 5, want: one + three + four},
		"the same, and half a line":     {file: one + three + four[:9], first: 3, next: 5, want: one + three + four},
		"the store has rotated ones":    {mark: "3\n", first: 2, next: 5, want: four},
	} {
		r := newRig(t, Options{})
		r.kill()
		mustWrite(t, filepath.Join(r.o.Dir, fileName), c.file)
		if c.mark != "" {
			mustWrite(t, filepath.Join(r.o.Dir, markName), c.mark)
		}
		if c.first > 0 {
			var b store.Batch
			for n := c.first; n <= 4; n++ {
				b.Event(n, lineOf(n))
			}
			if err := r.store.Commit(&b); err != nil {
				t.Fatal(err)
			}
		}
		r.start()
		last := r.last
		if n := r.Waiting(); c.first == 0 && n != 0 {
			t.Errorf("%s: %d events wait at the start, and the store has none", name, n)
		}
		if err := r.advance(true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := r.Written(); n != int64(r.last-last) {
			t.Errorf("%s: %d count as written behind event %d, want %d", name, n, last, r.last-last)
		}
		if n := r.Waiting(); n != 0 {
			t.Errorf("%s: %d events wait", name, n)
		}
		if n := r.Next(); n != c.next {
			t.Errorf("%s: the next event is %d, want %d", name, n, c.next)
		}
		if got, _ := os.ReadFile(filepath.Join(r.o.Dir, fileName)); string(got) != c.want {
			t.Errorf("%s: the file has %q, want %q", name, got, c.want)
		}
		aside := ""
		files, _ := filepath.Glob(filepath.Join(r.o.Dir, "events-*.log"))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			aside += string(b)
		}
		if aside != c.aside {
			t.Errorf("%s: rotated files have %q, want %q", name, aside, c.aside)
		}
	}
}

// An obstacle to continuing the files is reported. Once it is gone, they are continued.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path  string // in the directory
		text  string // "": a directory
		fails bool   // the store
		want  string
	}{
		"the directory is a file": {path: ".", text: "x", want: "not a directory"},
		"no number is noted":      {path: markName, text: "x", want: "write the number"},
		"a directory for a mark":  {path: markName, want: "is a directory"},
		"a directory for a file":  {path: fileName, want: "is a directory"},
		"the store":               {fails: true, want: "broken"},
	} {
		o := Options{Dir: filepath.Join(t.TempDir(), "events")}
		obstacle := filepath.Join(o.Dir, c.path)
		var s store.Store = store.NewMemory()
		switch {
		case c.fails:
			s = brokenStore{s}
		case c.text == "":
			if err := os.MkdirAll(obstacle, 0o700); err != nil {
				t.Fatal(err)
			}
		default:
			if c.path != "." {
				_ = os.Mkdir(o.Dir, 0o700)
			}
			mustWrite(t, obstacle, c.text)
		}
		_, err := Open(o, s, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), o.Dir) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(obstacle); err != nil {
			t.Fatal(err)
		}
		w, err := Open(o, store.NewMemory(), func(uint64) {})
		if err != nil {
			t.Errorf("%s, which is gone: %v", name, err)
			continue
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A brokenStore cannot be read.
type brokenStore struct{ store.Store }

func (brokenStore) Events(after uint64, _ int, _ func(uint64, []byte) error) (uint64, error) {
	return after, errors.New("broken")
}

// Nobody else may read the files.
func TestPrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Options: logfile.Options{MaxSize: 100}})
	r.o.Dir = filepath.Join(r.o.Dir, "events")
	r.kill()
	r.start()
	r.end(20)
	r.finish()
	err := filepath.WalkDir(r.o.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Where the store's events cannot be read, that is reported, and they are written when they can be.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	r.end(3)
	r.Writer.store = brokenStore{r.store}
	if err := r.advance(true); err == nil {
		t.Error("nothing is told")
	}
	r.Writer.store = r.store
	r.finish()
}
