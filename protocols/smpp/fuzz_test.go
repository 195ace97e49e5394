package smpp

import (
	"bytes"
	"errors"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

// Whatever the input, a PDU that decodes is encoded to the same octets, and so is its line in
// the log. A PDU that does not decode has a status to answer with.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(octetsOf(f, v.Hex))
	}
	for _, line := range operationLines {
		f.Add(wireOf(f, line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var p PDU
		err := p.Decode(in)
		if err == nil {
			throughLog(t, &p, in)
			return
		}
		if p.Err() == nil || p.Err().Status == 0 {
			t.Fatalf("nothing to answer: %v", err)
		}
		line := p.AppendLog(nil, true)
		var q PDU
		if err := q.ParseLog(line); errors.Is(err, protocols.ErrHidden) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if again := q.AppendLog(nil, true); !bytes.Equal(again, line) {
			t.Fatalf("\ngot  %s\nwant %s", again, line)
		}
	})
}

// A line that can be parsed is a PDU, and its printed form parses to the same PDU.
func FuzzLog(f *testing.F) {
	for _, v := range valid(f) {
		var p PDU
		if err := p.Decode(octetsOf(f, v.Hex)); err != nil {
			f.Fatal(err)
		}
		f.Add(p.AppendLog(nil, true))
		f.Add(p.AppendLog(nil, false))
	}
	for _, line := range operationLines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var p, q PDU
		if p.ParseLog(line) != nil {
			return
		}
		once := p.AppendLog(nil, true)
		if err := q.ParseLog(once); errors.Is(err, protocols.ErrHidden) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := q.AppendLog(nil, true); !bytes.Equal(once, twice) {
			t.Fatalf("\nonce  %s\ntwice %s", once, twice)
		}
	})
}

// After any line of any transcript any octets may come. The session's output can be decoded,
// it answers no answers, and sends nothing after its end.
func FuzzSession(f *testing.F) {
	d := New(Options{})
	var scripts []*prototest.Script
	for i, path := range transcripts(f) {
		s := prototest.Load(f, d, newOptions(), path)
		scripts = append(scripts, s)
		for _, in := range s.Inputs() {
			f.Add(byte(i), byte(s.Len()), in)
		}
		for n := range s.Len() {
			f.Add(byte(i), byte(n), octetsOf(f, hot[0].hex))
		}
	}
	f.Fuzz(func(t *testing.T, script, lines byte, in []byte) {
		s := scripts[int(script)%len(scripts)]
		sub := prototest.NewSession(d, s.Options)
		s.PlayTo(t, sub, int(lines))
		ended := sub.Closed
		sub.Read()
		sub.Write(in)
		sub.Wait(2e9)
		out := sub.Read()
		if ended && len(out) > 0 {
			t.Fatalf("sent after the end: %x", out)
		}
		for len(out) > 0 {
			n, err := d.Frame(out)
			if err != nil || n > len(out) {
				t.Fatalf("cannot frame what was sent: %v: %x", err, out)
			}
			var p PDU
			if err := p.Decode(out[:n]); err != nil {
				t.Fatal(err)
			}
			throughLog(t, &p, out[:n])
			out = out[n:]
		}
	})
}
