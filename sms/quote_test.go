package sms

import (
	"bytes"
	"testing"
)

// A context keeps what it has when its Quote is set, replaced and removed.
func TestRequote(t *testing.T) {
	t.Parallel()
	c := Context{Dialect: 2, Reference: "7", URL: "http://h/", Parts: 3, Fields: []Field{{1, "3"}}}
	plain := c.Append(nil)
	first, second := Quote{45_000, "EUR"}, Quote{0, "SEK"}
	c.Quote = first
	quoted := Requote(nil, plain, first)
	for what, b := range map[string][]byte{"set": quoted, "read and written": c.Append(nil), "replaced": Requote(nil, Requote(nil, plain, second), first)} {
		if got, ok := ReadContext(b); !ok || got.Quote != first || QuoteOf(b) != first || got.URL != c.URL || got.Parts != 3 || len(got.Fields) != 1 {
			t.Errorf("%s: %x is %+v", what, b, got)
		}
	}
	if b := Requote(nil, quoted, Quote{}); !bytes.Equal(b, plain) {
		t.Errorf("removed: %x, not %x", b, plain)
	}
	if first.String() != "0.045 EUR" || second.String() != "0.00 SEK" || (Quote{}).String() != "" {
		t.Errorf("%s, %s", first, second)
	}
}

// Octets that no Quote has are an unknown price, not another one.
func TestReadQuote(t *testing.T) {
	t.Parallel()
	good := Quote{45_000, "EUR"}.Append(nil)
	if len(good) != QuoteSize || ReadQuote(good).Price != 45_000 || ReadQuote(Quote{}.Append(nil)).IsKnown() {
		t.Errorf("%x", good)
	}
	for n := range len(good) {
		if q := ReadQuote(good[:n]); q.IsKnown() {
			t.Errorf("%x is %s", good[:n], q)
		}
	}
	for _, context := range [][]byte{nil, {1}, {1, 2, numberQuote, 0, 11, 0}, {1, 2, numberQuote, 0, 1, 0}, append([]byte{1, 2, 9, 255, 255}, good...)} {
		if q := QuoteOf(context); q.IsKnown() {
			t.Errorf("%x has %s", context, q)
		}
	}
}

// A message that did not come by HTTP has no Quote, and setting one costs no allocation.
func TestSetQuote(t *testing.T) {
	m := &Message{}
	m.Set(Address{Addr: []byte("1")}, Address{Addr: []byte("46700000001")}, []byte("hello"))
	if SetQuote(m, Quote{1, "EUR"}); m.Context() != nil {
		t.Errorf("%x", m.Context())
	}
	m.SetNative(WithContext, (&Context{Reference: "7"}).Append(nil))
	if n := testing.AllocsPerRun(100, func() { SetQuote(m, Quote{90_000, "EUR"}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	SetPrice(m, 90_000, 2)
	if q := QuoteOf(m.Context()); q.Price != 90_000 || PriceOf(m) != 90_000 || ShortsOf(m) != 2 || string(m.Text()) != "hello" {
		t.Errorf("%s, %s, %q", q, PriceOf(m), m.Text())
	}
	if SetQuote(m, Quote{}); QuoteOf(m.Context()).IsKnown() {
		t.Error("it is still known")
	}
}
