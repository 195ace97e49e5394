package account

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/config"
	"pmg/sms"
)

// duplicatesOf returns what finds the duplicates of an account with options, in a registry.
func duplicatesOf(r *Registry, o config.Duplicates) *Duplicates {
	return NewTable(&config.Config{Accounts: []config.Account{{SystemID: "acme", Policies: config.Policies{Duplicates: o}}}}, r).Account("acme").Duplicates()
}

// What was claimed stays claimed when a reload changes the options, and an account without the option keeps nothing.
func TestDuplicatesAreReloaded(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	if duplicatesOf(r, config.Duplicates{Keep: 1000}) != nil {
		t.Fatal("an account without the option has a window")
	}
	d := duplicatesOf(r, config.Duplicates{Within: time.Minute, Keep: 1000})
	claim, ok := d.Claim(1, 7)
	if !ok || d.Len(1) != 1 {
		t.Fatalf("claimed %t, %d are remembered", ok, d.Len(1))
	}
	if again := duplicatesOf(r, config.Duplicates{Within: time.Hour, Keep: 2000}); again != d || !d.Has(1+int64(time.Hour)-1, 7) || d.Has(1+int64(time.Hour), 7) {
		t.Error("a longer time does not hold for what was claimed before")
	}
	if d.GiveBack(1, claim); d.Has(2, 7) || d.Len(2) != 0 {
		t.Error("the claim cannot be given back after a reload")
	}
	for i := range uint64(3000) {
		d.Claim(int64(time.Hour), i)
	}
	if n := d.Len(int64(time.Hour)); n != 2000 {
		t.Errorf("%d are remembered", n)
	}
	if n := d.Len(2 * int64(time.Hour)); n != 0 {
		t.Errorf("%d are remembered when all are too old", n)
	}
	if duplicatesOf(r, config.Duplicates{}) != nil || duplicatesOf(r, config.Duplicates{Within: time.Hour, Keep: 1000}).Has(int64(time.Hour), 2999) {
		t.Error("an account has a window, or its content, when it has been without the option")
	}
}

// Messages that differ in anything that makes them others have other hashes, and the types of addresses do not.
func TestDuplicatesHash(t *testing.T) {
	t.Parallel()
	d := duplicatesOf(NewRegistry(), config.Duplicates{Within: time.Minute, Keep: 1000})
	hash := func(change func(m *sms.Message, source, dest *sms.Address) (text string, part uint32)) uint64 {
		var m sms.Message
		source, dest := sms.Address{Addr: []byte("12")}, sms.Address{Addr: []byte("46")}
		text, part := change(&m, &source, &dest)
		m.Set(source, dest, []byte(text))
		return d.Hash(&m, part)
	}
	plain := func(*sms.Message, *sms.Address, *sms.Address) (string, uint32) { return "text", 0 }
	if again := hash(plain); again != hash(plain) {
		t.Fatal("the hash changes")
	}
	if hash(func(_ *sms.Message, source, dest *sms.Address) (string, uint32) {
		source.TON, dest.TON, dest.NPI = 1, 1, 1
		return "text", 0
	}) != hash(plain) {
		t.Error("another type makes it another message")
	}
	for name, change := range map[string]func(m *sms.Message, source, dest *sms.Address) (string, uint32){
		"source":   func(_ *sms.Message, s, _ *sms.Address) (string, uint32) { s.Addr = []byte("13"); return "text", 0 },
		"dest":     func(_ *sms.Message, _, d *sms.Address) (string, uint32) { d.Addr = []byte("47"); return "text", 0 },
		"text":     func(*sms.Message, *sms.Address, *sms.Address) (string, uint32) { return "texts", 0 },
		"part":     func(*sms.Message, *sms.Address, *sms.Address) (string, uint32) { return "text", 1 },
		"of which": func(*sms.Message, *sms.Address, *sms.Address) (string, uint32) { return "text", 1 << 23 },
		"alphabet": func(m *sms.Message, _, _ *sms.Address) (string, uint32) { m.Alphabet = sms.UCS2; return "text", 0 },
		"header":   func(m *sms.Message, _, _ *sms.Address) (string, uint32) { m.Flags = sms.HasHeader; return "text", 0 },
		"a digit moves": func(_ *sms.Message, s, d *sms.Address) (string, uint32) {
			s.Addr, d.Addr = []byte("124"), []byte("6")
			return "text", 0
		},
		"a digit is text": func(_ *sms.Message, _, d *sms.Address) (string, uint32) { d.Addr = []byte("4"); return "6text", 0 },
	} {
		if hash(change) == hash(plain) {
			t.Errorf("%s: it is the same", name)
		}
	}
}

// Of those that come at the same time on several goroutines, one is the first. A claim that is given back is another's.
func TestOneClaims(t *testing.T) {
	t.Parallel()
	d := duplicatesOf(NewRegistry(), config.Duplicates{Within: time.Minute, Keep: 1000})
	const goroutines, hashes = 8, 500
	var firsts [hashes]atomic.Int32
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for hash := range firsts {
				claim, ok := d.Claim(int64(g), uint64(hash))
				if !ok {
					continue
				}
				if hash%2 == 0 {
					d.GiveBack(int64(g), claim)
				} else {
					firsts[hash].Add(1)
				}
			}
		})
	}
	group.Wait()
	for hash := range firsts {
		if n := firsts[hash].Load(); n != int32(hash%2) || d.Has(9, uint64(hash)) != (hash%2 == 1) {
			t.Errorf("hash %d: %d were first, and it is there: %t", hash, n, d.Has(9, uint64(hash)))
		}
	}
}

// Finding duplicates allocates nothing.
func TestHashDoesNotAllocate(t *testing.T) {
	d := duplicatesOf(NewRegistry(), config.Duplicates{Within: time.Minute, Keep: 1000})
	var m sms.Message
	m.Set(sms.Address{Addr: []byte("12")}, sms.Address{Addr: []byte("46")}, []byte("text"))
	d.Claim(1, 1)
	if n := testing.AllocsPerRun(100, func() {
		claim, _ := d.Claim(1, d.Hash(&m, 0))
		d.GiveBack(1, claim)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The same numbers in other forms are a duplicate.
func TestDuplicatesForms(t *testing.T) {
	t.Parallel()
	d := duplicatesOf(NewRegistry(), config.Duplicates{Within: time.Minute, Keep: 1000})
	hash := func(source, dest sms.Address) uint64 {
		var m sms.Message
		m.Set(source, dest, []byte("text"))
		return d.Hash(&m, 0)
	}
	of := func(ton uint8, text string) sms.Address { return sms.Address{TON: ton, Addr: []byte(text)} }
	first := hash(of(1, "46700000009"), of(1, "46701234567"))
	for _, other := range []uint64{
		hash(of(0, "+46700000009"), of(0, "46701234567")), hash(of(0, "0046700000009"), of(1, "+46701234567")),
		hash(of(0, "01146700000009"), of(0, "0046701234567")),
	} {
		if other != first {
			t.Error("another form is another message")
		}
	}
	for _, other := range []uint64{
		hash(of(1, "46700000008"), of(1, "46701234567")), hash(of(5, "46700000009x"), of(1, "46701234567")),
		hash(of(1, "46700000009"), of(2, "701234567")),
	} {
		if other == first {
			t.Error("another number is the same message")
		}
	}
}
