package stages

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pmg/protocols/prototest/toy"
)

// toyStream returns PDUs of many lengths, one after the other.
func toyStream() (pdus []string) {
	for _, n := range []int{1, 2, 5, 1, 254, 3} {
		p := bytes.Repeat([]byte{'a' + byte(n%26)}, n)
		p[0] = byte(n)
		pdus = append(pdus, string(p))
	}
	long := bytes.Repeat([]byte{'z'}, 300)
	copy(long, []byte{255, 300 >> 8, 300 & 255})
	return append(pdus, string(long), "\x01")
}

// parse sends the parser chunks as if they had been read one after the other, and returns
// the PDUs.
func (r *rig) parse(h *handle, chunks ...[]byte) (pdus []string) {
	r.t.Helper()
	for _, c := range chunks {
		r.send(toParser, Bytes, func(j *Job) {
			j.Octets = &buffer{c}
			j.retain(h)
		})
	}
	synctest.Wait()
	r.mu.Lock()
	held := 0
	for _, j := range r.seen[toPDULogger] {
		if j.Kind != Received || j.Handle != h || !bytes.Equal(j.PDU.(*toy.PDU).Octets, j.Bytes) {
			r.t.Errorf("%+v", j)
		}
		held += int(j.refs)
	}
	r.mu.Unlock()
	if int(h.refs.Load()) != 1+held {
		r.t.Errorf("%d references, want the reader's and %d", h.refs.Load(), held)
	}
	for _, s := range r.take(toPDULogger) {
		pdus = append(pdus, s.Bytes)
	}
	return pdus
}

// The PDUs are the same however the octets are cut into chunks.
func TestParserSplits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toParser)
		defer r.close()
		want := toyStream()
		stream := slices.Concat([]byte(want[0]), []byte(want[1]))
		for _, p := range want[2:] {
			stream = append(stream, p...)
		}
		for at := 0; at <= len(stream); at++ {
			h := r.handle("clients", -1)
			if got := r.parse(h, stream[:at], stream[at:]); !slices.Equal(got, want) {
				t.Errorf("split at %d:\n%q, want\n%q", at, got, want)
			}
			if h.parser.rest != nil || h.Partial.Load() != 0 {
				t.Errorf("split at %d: %d bytes are left", at, len(h.parser.rest))
			}
		}
		h := r.handle("clients", -1)
		var octets [][]byte
		for i := range stream {
			octets = append(octets, stream[i:i+1])
		}
		if got := r.parse(h, octets...); !slices.Equal(got, want) {
			t.Errorf("byte by byte:\n%q, want\n%q", got, want)
		}
	})
}

// A panic at one of several PDUs in a chunk ends the session. The PDUs before it are passed
// on, each with its reference, and no other job holds one.
func TestParserPanic(t *testing.T) {
	for before := range 3 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, site{}, toParser)
			h := r.handle("clients", -1)
			var want []string
			for n := range before {
				want = append(want, fmt.Sprintf("\x03a%d", n))
			}
			r.send(toParser, Bytes, func(j *Job) {
				j.Octets = &buffer{[]byte(strings.Join(want, "") + "\x02!\x03b1\x03b2")}
				j.retain(h)
			})
			synctest.Wait()
			var got []string
			for _, s := range r.take(toPDULogger) {
				got = append(got, s.Bytes)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d before: %q go on, want %q", before, got, want)
			}
			if s := r.take(toReader); len(s) != 1 || s[0].Kind != Hangup {
				t.Errorf("%d before: %+v", before, s)
			}
			if h.refs.Load() != 1 {
				t.Errorf("%d before: %d references", before, h.refs.Load())
			}
			r.closeAfter(1)
		})
	}
}

// The beginning of a PDU is kept, with the time of its arrival, until the PDU is whole.
func TestParserLeftover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toParser)
		defer r.close()
		h := r.handle("clients", -1)
		want := func(since time.Time, rest string) {
			t.Helper()
			if string(h.parser.rest) != rest || h.Partial.Load() != since.UnixNano() {
				t.Errorf("%q is left since %d, want %q since %d", h.parser.rest, h.Partial.Load(), rest, since.UnixNano())
			}
		}
		begin := time.Now()
		r.parse(h, []byte("\x03ab\x05c"))
		want(begin, "\x05c")
		time.Sleep(time.Second)
		r.parse(h, []byte("d"))
		want(begin, "\x05cd")
		r.parse(h, []byte("ef\x02"))
		want(begin.Add(time.Second), "\x02")
		r.parse(h, []byte("g"))
		want(time.Unix(0, 0), "")
		if h.refs.Load() != 1 {
			t.Errorf("%d references are held", h.refs.Load()-1)
		}
	})
}

// When framing is lost, the octets at hand become the last PDU, and only the end of the
// session follows.
func TestParserLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toParser)
		defer r.close()
		h := r.handle("clients", -1)
		got := r.parse(h, []byte("\x02a\x05b"), []byte("cde\x00x"), []byte("\x02y"))
		if want := []string{"\x02a", "\x05bcde", "\x00x"}; !slices.Equal(got, want) || !h.parser.lost || h.parser.rest != nil {
			t.Errorf("%q, %q left, want %q", got, h.parser.rest, want)
		}
		r.send(toParser, Over, func(j *Job) { j.Handle, j.refs = h, 1 })
		synctest.Wait()
		if s := r.take(toPDULogger); len(s) != 1 || s[0].Kind != Over || h.refs.Load() != 0 {
			t.Errorf("%+v, %d references", s, h.refs.Load())
		}
	})
}

// A long PDU that comes in small pieces is not copied again with each of them.
func TestParserLongPDU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toParser)
		defer r.close()
		h := r.handle("clients", -1)
		long := make([]byte, 60000)
		copy(long, []byte{255, byte(len(long) >> 8), byte(len(long) & 255)})
		var pieces [][]byte
		for c := range slices.Chunk(long, 60) {
			pieces = append(pieces, c)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := r.parse(h, pieces...); fmt.Sprint(got) != fmt.Sprint([]string{string(long)}) {
			t.Errorf("%d PDUs", len(got))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 { // copying it each time would be 30 MB
			t.Errorf("%d octets were allocated for a PDU of %d", n, len(long))
		}
	})
}
