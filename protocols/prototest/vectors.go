package prototest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
)

// A Vector is an entry of a vectors.json. The vectors come from the samples in the documents and
// from the tests of other implementations.
type Vector struct {
	Name   string         `json:"name"`
	Hex    string         `json:"hex"`
	Expect map[string]any `json:"expect"`
	Valid  bool           `json:"valid"`
}

// Octets returns the vector's octets.
func (v *Vector) Octets(t testing.TB) []byte { return Octets(t, v.Hex) }

// Octets returns the octets that are written in hex.
func Octets(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Vectors returns the vectors in a directory, such as testdata: the valid ones and the others.
func Vectors(t testing.TB, dir string) (valid, others []Vector) {
	t.Helper()
	b, err := os.ReadFile(dir + "/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []Vector
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if v.Valid {
			valid = append(valid, v)
		} else {
			others = append(others, v)
		}
	}
	if len(valid) < 50 {
		t.Fatalf("%d valid vectors are too few", len(valid))
	}
	return valid, others
}

// ValidVectors decodes the valid vectors and compares their fields. fields returns the fields of a PDU; it may change expect.
func (s *Suite) ValidVectors(t *testing.T, fields func(t *testing.T, p protocols.PDU, expect map[string]any) map[string]any) {
	valid, _ := Vectors(t, "testdata")
	for _, v := range valid {
		t.Run(v.Name, func(t *testing.T) {
			p, in := s.Driver.NewPDU(), v.Octets(t)
			if err := s.Driver.Decode(p, in); err != nil {
				t.Fatal(err)
			}
			got := fields(t, p, v.Expect)
			for name, want := range v.Expect {
				if !equalJSON(t, got[name], want) {
					t.Errorf("%s: got %v, want %v", name, got[name], want)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				t.Errorf("unexpected fields: %v", got)
			}
			s.ThroughLog(t, p, in)
		})
	}
}

// Prefixes checks that no prefix of a valid vector decodes, and that the driver asks for more octets: wants reports whether it
// may ask for a number of octets after n.
func (s *Suite) Prefixes(t *testing.T, wants func(n, want int) bool) {
	valid, _ := Vectors(t, "testdata")
	for _, v := range valid {
		in := v.Octets(t)
		for n := range len(in) {
			if s.Driver.Decode(s.Driver.NewPDU(), in[:n]) == nil {
				t.Fatalf("%s: %d of %d octets decode", v.Name, n, len(in))
			}
			if want, err := s.Driver.Frame(in[:n]); err != nil || !wants(n, want) {
				t.Fatalf("%s: of %d octets, %d are wanted after %d (%v)", v.Name, len(in), want, n, err)
			}
		}
	}
}

// ThroughLog checks that a PDU stays the same from octets to the log, back to a PDU, and back to octets. U11: a line with
// hidden octets is never parsed as a different PDU.
func (s *Suite) ThroughLog(t testing.TB, p protocols.PDU, in []byte) {
	t.Helper()
	if s.Canonical != nil {
		in = s.Canonical(in)
	}
	same := func(what string, q protocols.PDU) {
		t.Helper()
		if out := q.AppendWire(nil); !bytes.Equal(out, in) {
			t.Fatalf("%s:\ngot  %q\nwant %q", what, out, in)
		}
	}
	same("encoded again", p)
	line := p.AppendLog(nil, true)
	if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("not one printable line: %q", line)
	}
	q := s.Driver.NewPDU()
	err, may, whole := s.Driver.ParseLog(q, line), true, true
	if errors.Is(err, protocols.ErrHidden) {
		may, whole = s.Unhide(q, p, in, line)
	} else if err != nil {
		may = false
	}
	if !may {
		t.Fatalf("%s: %v", line, err)
	}
	if whole {
		same(string(line), q)
	}
	err = s.Driver.ParseLog(q, p.AppendLog(nil, false))
	if err == nil {
		same("hidden octets are read as others", q)
	} else if !errors.Is(err, protocols.ErrHidden) {
		t.Fatalf("with hidden octets: %v", err)
	}
}

// Reprinted checks that a line that the driver has printed prints the same again.
func (s *Suite) Reprinted(t testing.TB, line []byte) {
	t.Helper()
	q := s.Driver.NewPDU()
	if err := s.Driver.ParseLog(q, line); errors.Is(err, protocols.ErrHidden) {
		return
	} else if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if again := q.AppendLog(nil, true); !bytes.Equal(again, line) {
		t.Fatalf("\nonce  %s\ntwice %s", line, again)
	}
}

// A Reaction is the expected result of malformed or odd octets.
type Reaction struct {
	Options protocols.SessionOptions
	Before  []byte   // octets that the peer sends first; nil: none
	Err     string   // error of the first PDU
	Answers []string // beginnings of the octets that the session sends
}

// React checks the reaction to octets, and returns the session that has received them.
func (s *Suite) React(t *testing.T, in []byte, r Reaction) *Session {
	t.Helper()
	first := in
	if n, err := s.Driver.Frame(in); err == nil {
		first = in[:min(n, len(in))]
	}
	text := ""
	if err := s.Driver.Decode(s.Driver.NewPDU(), first); err != nil {
		text = err.Error()
	}
	if text != r.Err {
		t.Errorf("got error %q, want %q", text, r.Err)
	}
	x := NewSession(s.Driver, r.Options)
	x.Write(r.Before)
	x.Read()
	x.Events()
	x.Write(in)
	x.Wait(time.Second)
	x.Want(t, r.Answers...)
	return x
}

// Want checks the output of a session since the last call: a line for each beginning, and no other.
func (s *Session) Want(t *testing.T, beginnings ...string) {
	t.Helper()
	got := outcome(t, s.driver, s)
	for _, w := range beginnings {
		i := slices.IndexFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		if i < 0 {
			t.Fatalf("%q is not in what is left of %q", w, got)
		}
		got = slices.Delete(got, i, i+1)
	}
	if len(got) > 0 {
		t.Errorf("%q came, too", got)
	}
}
