package ucp

import (
	"bytes"
	"testing"

	"pmg/protocols/prototest"
)

// Whatever comes, every octet belongs to one PDU, one that decodes encodes to the same
// octets again, and so does its line in the log. One that does not decode says what to
// answer, or that there is nothing to answer.
func FuzzFrames(f *testing.F) {
	valid, others := prototest.Vectors(f, "testdata")
	for _, v := range append(valid, others...) {
		f.Add(v.Octets(f))
	}
	d := New(Options{})
	f.Fuzz(func(t *testing.T, in []byte) {
		var p PDU
		for len(in) > 0 {
			n, err := d.Frame(in)
			if err != nil || n < 1 {
				t.Fatalf("%d octets, %v", n, err)
			}
			if n > len(in) {
				return
			}
			if p.Decode(in[:n]) == nil {
				throughLog(t, &p, in[:n])
			} else {
				malformedThroughLog(t, &p, in[:n])
			}
			in = in[n:]
		}
	})
}

func malformedThroughLog(t *testing.T, p *PDU, in []byte) {
	t.Helper()
	if e := p.Err(); e == nil || (e.EC == 0) != e.Silent {
		t.Fatalf("nothing to answer: %+v", e)
	}
	if out := p.AppendWire(nil); !bytes.Equal(out, in) {
		t.Fatalf("got %q, want %q", out, in)
	}
	suite.Reprinted(t, p.AppendLog(nil, true))
}

func FuzzLog(f *testing.F) { suite.FuzzLog(f) }

// Extra services are found whole or not at all.
func FuzzXSer(f *testing.F) {
	for _, s := range []string{"", "010A0900034004020402F0FA", "020108", "0301020601020402020A",
		"0910010433343536040100050B48656C6C6F", "01060500", "0200", "7F020102020100", "02010", "zz0100"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var again []byte
		rest := in
		for len(rest) > 0 {
			number, v, after, ok := cutXSer(rest)
			if !ok {
				break
			}
			if len(after) >= len(rest) {
				t.Fatal("nothing was cut")
			}
			again = appendXSer(again, number, appendUnhex(nil, v))
			if found, ok := findXSer(in, number); !ok || len(found)%2 != 0 {
				t.Fatalf("%02X is not found", number)
			}
			rest = after
		}
		if whole := len(rest) == 0; whole != isXSer(in) || whole && !bytes.Equal(again, bytes.ToUpper(in)) || !whole && !badXSer(in) {
			t.Fatalf("%q: whole %t, again %q", in, whole, again)
		}
	})
}

// A name is read as one that is written so that it reads the same.
func FuzzOAdC(f *testing.F) {
	for _, s := range []string{"10412614190438AB4D", "07F4F29C0E", "08F4F29C0E", "0D61F1985C369F01", "0E61F1985C369F01",
		"0E61F1985C369FD1", "14C8329BFD065DDF723619", "", "00", "FF", "0E6", "10zz"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		name, ok := decodeName(nil, in)
		if !ok {
			return
		}
		out, ok := appendName(nil, name)
		if !ok {
			return // too long, or with what has no place in Latin-1
		}
		again, ok := decodeName(nil, out)
		if !ok || !bytes.Equal(again, bytes.TrimSuffix(name, []byte("@"))) && !bytes.Equal(again, name) {
			t.Fatalf("%q is %q, written %q, which is %q", in, name, out, again)
		}
	})
}

func FuzzSession(f *testing.F) { suite.FuzzSession(f) }
