package prototest

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
)

// A Subject is the peer's end of a connection to the code under test.
type Subject interface {
	// Write sends octets of the peer.
	Write(b []byte)
	// Read returns the octets that were sent to the peer since the last Read.
	Read() []byte
	// Wait advances the time.
	Wait(d time.Duration)
	// Command executes a command line of the transcript.
	Command(text string) error
	// Events returns the events since the last call: "closed ...".
	Events() []string
}

// A way is a division of a transcript's octets into writes.
type way string

const (
	whole     way = "whole" // PDU by PDU
	bytewise  way = "bytewise"
	split     way = "split"     // each PDU in two, at any place
	coalesced way = "coalesced" // PDUs together, up to the next wait or command
)

// Run plays each transcript in the four ways, each time to a new Subject. options returns
// the protocol's default options. With -update Run writes the output into the transcript
// instead.
func Run(t *testing.T, d protocols.SessionDriver, options func() protocols.Options, paths []string,
	subject func(*testing.T, protocols.SessionOptions) Subject) {
	if len(paths) == 0 {
		t.Fatal("no transcripts")
	}
	for _, path := range paths {
		s := Load(t, d, options(), path)
		if testutil.Updating() {
			s.rewrite(t, d, subject(t, s.Options))
			continue
		}
		for _, w := range []way{whole, bytewise, split, coalesced} {
			t.Run(path+"/"+string(w), func(t *testing.T) { s.check(t, d, w, subject(t, s.Options)) })
		}
	}
}

// check plays the transcript and compares the output. If PDUs may be answered together, it
// compares only the order of lines up to the next wait or command.
func (s *Script) check(t *testing.T, d protocols.SessionDriver, w way, sub Subject) {
	random := rand.New(rand.NewPCG(1, uint64(len(s.lines))))
	var pending []byte
	var want []string
	got := outcome(t, d, sub)
	flush := func(at int) {
		write(sub, w, random, pending)
		pending = nil
		got = append(got, outcome(t, d, sub)...)
		compare(t, s, at, want, got)
		want, got = nil, nil
	}
	for i, l := range s.lines {
		switch l.kind {
		case input:
			pending = append(pending, l.octets...)
			if w != coalesced {
				write(sub, w, random, pending)
				pending = nil
			}
		case expected:
			want = append(want, l.text)
		case pause, command:
			flush(i)
			perform(t, sub, l)
		}
	}
	flush(len(s.lines))
}

func perform(t testing.TB, sub Subject, l line) {
	t.Helper()
	if l.kind == pause {
		sub.Wait(l.wait)
	} else if err := sub.Command(l.text); err != nil {
		t.Fatalf("%s: %v", l.text, err)
	}
}

func write(sub Subject, w way, random *rand.Rand, b []byte) {
	switch {
	case len(b) == 0:
	case w == bytewise:
		for i := range b {
			sub.Write(b[i : i+1])
		}
	case w == split:
		n := random.IntN(len(b))
		sub.Write(b[:n])
		sub.Write(b[n:])
	default:
		sub.Write(b)
	}
}

// outcome returns the output as lines of a transcript.
func outcome(t testing.TB, d protocols.SessionDriver, sub Subject) []string {
	t.Helper()
	var lines []string
	p := d.NewPDU()
	for b := sub.Read(); len(b) > 0; {
		n, err := d.Frame(b)
		if err == nil {
			err = d.Decode(p, b[:min(n, len(b))])
		}
		if err != nil {
			t.Fatalf("what was sent cannot be read: %v: %x", err, b)
		}
		lines = append(lines, "< "+string(p.AppendLog(nil, true)))
		b = b[n:]
	}
	return append(lines, sub.Events()...)
}

// compare compares PDUs with PDUs and events with events, because their order relative to
// each other depends on how the octets were cut.
func compare(t *testing.T, s *Script, at int, want, got []string) {
	t.Helper()
	for _, wire := range []bool{true, false} {
		w, g := only(wire, want), only(wire, got)
		for i := range max(len(w), len(g)) {
			switch {
			case i >= len(g):
				t.Fatalf("%s: before line %d:\nwant %s\ngot  nothing", s.Path, at+1, w[i])
			case i >= len(w):
				t.Fatalf("%s: before line %d:\nwant nothing\ngot  %s", s.Path, at+1, g[i])
			case !matches(w[i], g[i]):
				t.Fatalf("%s: before line %d:\nwant %s\ngot  %s", s.Path, at+1, w[i], g[i])
			}
		}
	}
}

// only returns either the lines that are PDUs, or the others.
func only(wire bool, lines []string) []string {
	var some []string
	for _, l := range lines {
		if strings.HasPrefix(l, "<") == wire {
			some = append(some, l)
		}
	}
	return some
}

// matches reports whether got equals want, where "=*" in want matches any value.
func matches(want, got string) bool {
	if !strings.Contains(want, "=*") {
		return want == got
	}
	w, g := strings.Fields(want), strings.Fields(got)
	if len(w) != len(g) {
		return false
	}
	for i := range w {
		prefix, open := strings.CutSuffix(w[i], "=*")
		if w[i] != g[i] && !(open && strings.HasPrefix(g[i], prefix+"=")) {
			return false
		}
	}
	return true
}

// rewrite plays the transcript PDU by PDU and replaces the expected lines by the output. A
// line that matches stays unchanged.
func (s *Script) rewrite(t *testing.T, d protocols.SessionDriver, sub Subject) {
	var old []line
	for _, l := range s.lines {
		if l.kind == expected {
			old = append(old, l)
		}
	}
	var out strings.Builder
	put := func() {
		for _, l := range outcome(t, d, sub) {
			for i, o := range old {
				if matches(o.text, l) {
					l, old = o.raw, old[i+1:]
					break
				}
			}
			out.WriteString(l + "\n")
		}
	}
	begun := false
	for _, l := range s.lines {
		if l.kind == expected {
			continue
		}
		if !begun && l.kind != remark {
			begun = true
			put() // the first PDU of a client
		}
		out.WriteString(l.raw + "\n")
		switch l.kind {
		case input:
			sub.Write(l.octets)
			put()
		case pause, command:
			perform(t, sub, l)
			put()
		}
	}
	if err := os.WriteFile(s.Path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// PlayTo plays the first n lines, for a fuzzer that continues from there.
func (s *Script) PlayTo(t testing.TB, sub Subject, n int) {
	for _, l := range s.lines[:min(n, len(s.lines))] {
		switch l.kind {
		case input:
			sub.Write(l.octets)
		case pause, command:
			perform(t, sub, l)
		}
	}
}
