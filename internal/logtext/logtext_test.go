package logtext

import (
	"bytes"
	"testing"
)

// Checking eight octets at a time has the same result as checking each of them.
func TestPlainPrefix(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				v := bytes.Repeat([]byte("a"), length)
				v[at] = byte(c)
				want := length
				if !plain[c] {
					want = at
				}
				if n := plainPrefix(v); n != want {
					t.Fatalf("%q: %d octets need no escape, want %d", v, n, want)
				}
			}
		}
	}
}

// Every value is read back unchanged, and hidden values are reported as hidden.
func TestValues(t *testing.T) {
	for _, v := range []string{"", "a", "+46_7.0:1@x-", "a b", `say "\"`, "\x00\xff~", "*", "*5", "a*"} {
		b := append(AppendValue(AppendName(nil, "x"), []byte(v)), " y=1"...)
		s := NewScanner(b, nil)
		if !s.Take("x") || string(s.Value()) != v || !s.Take("y") || s.Number(8) != 1 || s.More() || s.Err() != nil || s.Hidden {
			t.Errorf("%q is written as %s and read as %+v", v, b, s)
		}
	}
	octets := []byte{0, 1, 0xff}
	for shown := range 5 {
		b := AppendOctets(AppendName(nil, "x"), octets, shown)
		s := NewScanner(b, nil)
		if !s.Take("x") || !bytes.Equal(s.Octets(), octets[:min(shown, 3)]) || s.Err() != nil || s.Hidden != (shown < 3) {
			t.Errorf("%d octets are written as %s and read as %+v", shown, b, s)
		}
	}
	for _, hidden := range []string{"x=*5", "x=***", "x=*"} {
		s := NewScanner([]byte(hidden), nil)
		if hidden == "x=*" {
			if !s.Take("x") || s.Number(8) != 0 || !s.Hidden {
				t.Errorf("%s is read as %+v", hidden, s)
			}
		} else if !s.Take("x") || s.Value() != nil || !s.Hidden || s.Err() != nil {
			t.Errorf("%s is read as %+v", hidden, s)
		}
	}
}

// A line may have been cut or edited anywhere: a value may be missing.
func TestMissingValue(t *testing.T) {
	for _, line := range []string{"x=", "x= y=1", "x= "} {
		for name, take := range map[string]func(*Scanner) []byte{
			"Value": (*Scanner).Value, "Octets": (*Scanner).Octets, "Word": (*Scanner).Word,
			"AppendValue": func(s *Scanner) []byte { return s.AppendValue(nil) },
		} {
			s := NewScanner([]byte(line), nil)
			if !s.Take("x") || len(take(&s)) > 0 || s.Err() != nil || s.Hidden {
				t.Errorf("%s of %q: %+v", name, line, s)
			}
		}
	}
}

func TestNextField(t *testing.T) {
	rest := []byte(`a=1 b="x \" y" c`)
	for _, want := range []string{"a=1", `b="x \" y"`, "c"} {
		var field []byte
		if field, rest = NextField(rest); string(field) != want {
			t.Errorf("got %s, want %s", field, want)
		}
	}
	if rest != nil {
		t.Errorf("%q is left", rest)
	}
}
