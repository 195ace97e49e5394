package body

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pmg/connector"
)

func newTestRoom(limit int64) (*Room, *connector.Memory) {
	m := &connector.Memory{}
	m.SetLimit(limit)
	return NewRoom(m), m
}

// Bodies are read as they were sent, whether their length is known or not, up to the bound.
func TestRead(t *testing.T) {
	t.Parallel()
	r, m := newTestRoom(1 << 30)
	for _, n := range []int{0, 1, 511, 512, 513, 5000, 100_000} {
		want := bytes.Repeat([]byte("x"), n)
		for _, declared := range []int64{int64(n), -1} {
			c := r.Claim("a")
			b, err := c.Read(iotest.HalfReader(bytes.NewReader(want)), declared, 100_000)
			if err != nil || !bytes.Equal(b, want) {
				t.Errorf("%d of %d octets, %v", len(b), n, err)
			}
			if used := m.Used(); used < int64(n) || used > 2*int64(n)+1024 {
				t.Errorf("%d octets are counted for %d", used, n)
			}
			c.Release()
		}
	}
	c := r.Claim("a")
	for _, declared := range []int64{101, -1} {
		if _, err := c.Read(strings.NewReader(strings.Repeat("x", 101)), declared, 100); !errors.Is(err, ErrLarge) {
			t.Error(err)
		}
	}
	if _, err := c.Read(iotest.TimeoutReader(strings.NewReader(strings.Repeat("x", 5000))), -1, 1<<20); !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
	if c.Release(); m.Used() != 0 || len(r.by) != 0 {
		t.Errorf("%d octets are used", m.Used())
	}
}

// 200 bodies of 16 MiB that do not end take only a part of the memory, those of one account at most half of it, and
// small bodies are read all the same.
func TestRoomIsBounded(t *testing.T) {
	t.Parallel()
	const body = 16 << 20
	r, m := newTestRoom(128 << 20)
	var held []*Claim
	begin := func(account string, declared int64) error {
		c := r.Claim(account)
		held = append(held, c)
		_, err := c.Read(iotest.ErrReader(io.ErrUnexpectedEOF), declared, body)
		return err
	}
	taken := 0
	for range 100 {
		for _, account := range []string{"a", "b"} {
			if err := begin(account, body); !errors.Is(err, ErrFull) {
				taken++
			}
		}
	}
	if taken != 2 || m.Used() > 64<<20 {
		t.Errorf("%d bodies are read, %d octets are counted", taken, m.Used())
	}
	if err := begin("a", small/2); errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if err := begin("c", 4<<20); errors.Is(err, ErrFull) {
		t.Error("there is no room for another account")
	}
	for _, c := range held {
		c.Release()
	}
	m.Add(128 << 20)
	if n := r.Largest(body); n != body {
		t.Errorf("bodies have up to %d octets", n)
	}
	if m.SetLimit(16 << 20); r.Largest(body) != 4<<20-1 {
		t.Errorf("bodies have up to %d octets with little memory", r.Largest(body))
	}
	if err := begin("d", 1<<20); !errors.Is(err, ErrFull) {
		t.Errorf("a large body is read although the memory is full: %v", err)
	}
}

// Large bodies take turns to be parsed; small ones do not wait, and nor does one whose client has hung up.
func TestParse(t *testing.T) {
	r, _ := newTestRoom(1 << 30)
	read := func(n int64) *Claim {
		c := r.Claim("shop")
		if !c.Take(n) {
			t.Fatalf("there is no room for %d octets", n)
		}
		return c
	}
	for range cap(r.parsing) {
		r.parsing <- struct{}{} // all are taken
	}
	ran := 0
	if !read(large-1).Parse(nil, func() { ran++ }) || ran != 1 {
		t.Error("a small body waits for large ones")
	}
	gone := make(chan struct{})
	close(gone)
	if read(large).Parse(gone, func() { ran++ }) || ran != 1 {
		t.Error("a large body has no place, and is parsed though its client is gone")
	}
	<-r.parsing
	if !read(large).Parse(nil, func() { ran += len(r.parsing) }) || ran != 1+cap(r.parsing) {
		t.Errorf("a large body is parsed with %d places taken, want all %d", ran-1, cap(r.parsing))
	}
	if len(r.parsing) != cap(r.parsing)-1 {
		t.Error("a body keeps its place behind its parsing")
	}
}
