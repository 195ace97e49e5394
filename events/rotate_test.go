package events

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pmg/internal/logfile"
)

// rotated returns the names of the rotated files.
func (r *rig) rotated() (names []string) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.o.Dir, "events-*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

// A file is rotated at the first event after a multiple of the period, by the clock and not by the
// start, and also if it was written by an earlier run; one without events is not.
func TestRotateByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Options: logfile.Options{RotateEvery: time.Hour}})
		path := filepath.Join(r.o.Dir, fileName)
		begin := time.Now() // midnight
		var want []string
		for _, step := range []struct {
			at      time.Duration
			written time.Duration // of a file that an earlier run has written; 0: it goes on
			empty   bool          // and that was emptied
			rotated string
		}{
			{at: 30 * time.Minute},
			{at: time.Hour - 1},
			{at: time.Hour, rotated: "events-20000101T010000.000000.log"},
			{at: time.Hour + 30*time.Minute},
			{at: 6*time.Hour + 30*time.Minute, rotated: "events-20000101T063000.000000.log"},
			{at: 6*time.Hour + 40*time.Minute, written: 6*time.Hour + 30*time.Minute},
			{at: 7*time.Hour + 10*time.Minute, written: 6*time.Hour + 40*time.Minute, rotated: "events-20000101T071000.000000.log"},
			{at: 8*time.Hour + 10*time.Minute, written: 7*time.Hour + 10*time.Minute, empty: true},
			{at: 8*time.Hour + 20*time.Minute},
		} {
			time.Sleep(time.Until(begin.Add(step.at)))
			if step.written > 0 {
				r.kill()
				if step.empty {
					if err := os.Truncate(path, 0); err != nil {
						t.Fatal(err)
					}
				}
				written := begin.Add(step.written)
				if err := os.Chtimes(path, written, written); err != nil {
					t.Fatal(err)
				}
				r.start()
			}
			r.end(1)
			if err := r.advance(true); err != nil {
				t.Fatal(err)
			}
			if step.rotated != "" {
				want = append(want, step.rotated)
			}
			if got := r.rotated(); !slices.Equal(got, want) {
				t.Errorf("at %v: %v, want %v", step.at, got, want)
			}
		}
	})
}

// A file that cannot be rotated is used further for a minute, and nothing is lost or doubled.
func TestRotationFails(t *testing.T) {
	for _, o := range []logfile.Options{{MaxSize: 100}, {RotateEvery: 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Options{Options: o})
			r.logs.Rename = func(string, string) error { return syscall.EACCES }
			r.end(4)
			r.finish()
			time.Sleep(10 * time.Second)
			r.end(20)
			r.finish()
			r.logs.Rename = os.Rename
			for _, wait := range []time.Duration{time.Minute - 1, 1} {
				time.Sleep(wait)
				r.end(1)
				r.finish()
				if got := r.rotated(); (len(got) > 0) != (wait == 1) {
					t.Errorf("%+v: %v", o, got)
				}
			}
		})
	}
}

// A countedFile counts those that are open.
type countedFile struct {
	logfile.OSFile
	n *int
}

func (f countedFile) Close() error {
	*f.n--
	return f.OSFile.Close()
}

// No file is longer than it may be, unless one event is, none ends early, and each is closed,
// whether events come together or one by one.
func TestRotateBySize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size         int64
		events, each int
		files        []int64 // octets of each
	}{
		{100, 21, 21, []int64{95, 96, 100, 100, 20}},
		{100, 21, 1, []int64{95, 96, 100, 100, 20}},
		{1, 3, 3, []int64{19, 19, 19}},
		{1, 3, 1, []int64{19, 19, 19}},
		{0, 21, 21, []int64{9*19 + 12*20}},
	} {
		r := newRig(t, Options{Options: logfile.Options{MaxSize: c.size}})
		var open int
		r.disk = func(f logfile.OSFile) logfile.OSFile {
			open++
			return countedFile{f, &open}
		}
		for range c.events / c.each {
			r.end(c.each)
			r.finish()
		}
		if open != 1 {
			t.Errorf("%+v: %d files are open", c, open)
		}
		var got []int64
		for _, name := range append(r.rotated(), fileName) {
			st, err := os.Stat(filepath.Join(r.o.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, st.Size())
		}
		if !slices.Equal(got, c.files) {
			t.Errorf("%+v: files of %d octets", c, got)
		}
	}
}
