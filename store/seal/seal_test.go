package seal

import (
	"bytes"
	"errors"
	"testing"
)

// A value that is changed, or that stands at another id, is damaged.
func TestDamage(t *testing.T) {
	t.Parallel()
	s, err := New([][]byte{bytes.Repeat([]byte{1}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	value := s.Append(nil, 7, []byte("text"))
	if plain, err := s.Open(7, value); err != nil || string(plain) != "text" {
		t.Errorf("%q, %v", plain, err)
	}
	if bytes.Equal(value, s.Append(nil, 7, []byte("text"))) {
		t.Error("a nonce comes twice")
	}
	if _, err := s.Open(8, value); !errors.Is(err, ErrDamaged) {
		t.Errorf("at another id: %v", err)
	}
	for i := range value {
		changed := bytes.Clone(value)
		changed[i] ^= 1
		if plain, err := s.Open(7, changed); err == nil && Is(changed) {
			t.Errorf("octet %d changed: %q", i, plain)
		}
	}
	if _, err := s.Open(7, value[:head]); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut: %v", err)
	}
	if got, err := (*Sealer)(nil).Open(7, []byte("plain")); err != nil || string(got) != "plain" {
		t.Errorf("%q, %v", got, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	s, _ := New([][]byte{bytes.Repeat([]byte{1}, 32)})
	value, to := make([]byte, 250), make([]byte, 0, 1024)
	for b.Loop() {
		to = s.Append(to[:0], 7, value)
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := New([][]byte{bytes.Repeat([]byte{1}, 32)})
	value := s.Append(nil, 7, make([]byte, 250))
	for b.Loop() {
		if _, err := s.Open(7, value); err != nil {
			b.Fatal(err)
		}
	}
}
