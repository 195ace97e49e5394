package main

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Of a small package exactly those mutants survive of which its tests cannot know.
func TestSample(t *testing.T) {
	var said []string
	r, err := Run(t.Context(), Options{
		Package: "testdata/sample", Tests: []string{"testdata/sample"}, Patience: time.Minute,
		Log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var survivors []string
	for _, i := range r.Survivors {
		survivors = append(survivors, r.Mutants[i].What)
	}
	slices.Sort(survivors)
	want := []string{
		"!b -> b", "0 -> +1", "a && !b -> !b", "a && !b -> a", "closed || odd -> closed", "drop: c.calls++", "n > Limit -> n >= Limit",
	}
	if !slices.Equal(survivors, want) {
		t.Errorf("survivors are %q, want %q", survivors, want)
	}
	if r.Idle != 3 || r.Killed != len(r.Mutants)-len(want) || len(said) != 1+len(want) {
		t.Errorf("%d are idle, %d of %d are killed, %d lines", r.Idle, r.Killed, len(r.Mutants), len(said))
	}
}

// A pattern of names of files chooses among them.
func TestFiles(t *testing.T) {
	for files, want := range map[string]bool{"s.*": true, "sample|other": true, "sampl": false} {
		var said []string
		_, err := Run(t.Context(), Options{
			Package: "testdata/sample", Files: files,
			Log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		})
		if (err == nil) != want || want && len(said) == 1 {
			t.Errorf("%q: %v, %q", files, err, said)
		}
	}
}

// The same seed chooses the same mutants, of different lines first.
func TestChoose(t *testing.T) {
	p, _, err := load(t.Context(), "testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	names := func(seed int64) (all []string) {
		lines := map[int]bool{}
		for _, m := range choose(p.mutants(), 6, seed) {
			if lines[m.Line] {
				t.Errorf("two are of line %d", m.Line)
			}
			lines[m.Line] = true
			all = append(all, m.What)
		}
		return all
	}
	if a, b, c := names(1), names(1), names(2); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 1: %q, again %q; seed 2: %q", a, b, c)
	}
}
