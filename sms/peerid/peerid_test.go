package peerid

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func key(id string, r Relation) string {
	b, ok := AppendKey([]byte("> "), []byte(id), r)
	if !ok {
		return "none"
	}
	return string(b[2:])
}

func TestAppendKey(t *testing.T) {
	f := func(id, same, toDecimal, toHex string) {
		t.Helper()
		if a, b, c := key(id, Same), key(id, ToDecimal), key(id, ToHex); a != same || b != toDecimal || c != toHex {
			t.Errorf("%q: %q, %q, %q", id, a, b, c)
		}
	}
	f("", "none", "none", "none")
	f("0", "0", "0", "0")
	f("000", "0", "0", "0")
	f("0059113978", "59113978", "38601fa", "1494301048") // deliver_sm_receipt_hex_vs_decimal
	f("38601fa", "38601fa", "none", "59113978")
	f("038601FA", "38601fa", "none", "59113978")
	f("94251430923", "94251430923", "15f1d2b40b", "10180435839267")
	f("145100315320224957", "145100315320224957", "2037ff7cf758cbd", "none")
	f("126e85a6edeac1a02020099312479564", "126e85a6edeac1a02020099312479564", "none", "none")
	f("6a3ed98a66444e8abac3acc9dba8656f", "6a3ed98a66444e8abac3acc9dba8656f", "none", "none")
	f("18446744073709551615", "18446744073709551615", "ffffffffffffffff", "none")
	f("18446744073709551616", "18446744073709551616", "none", "none")
	f("ffffffffffffffff", "ffffffffffffffff", "none", "18446744073709551615")
	f("aB3", "aB3", "none", "none") // capital and small letters are different digits here
	f("0Zz", "0Zz", "none", "none")
	f("-1", "-1", "none", "none")
	f("msg-12345", "msg-12345", "none", "none")
	long := strings.Repeat("0", 65)
	f(long, long, "none", "none")
}

func TestRelationNames(t *testing.T) {
	for r := range relations {
		if got, ok := ParseRelation(r.String()); !ok || got != r {
			t.Errorf("%s: %v, %t", r, got, ok)
		}
	}
	if _, ok := ParseRelation("unknown"); ok || relations.String() != "unknown" {
		t.Error("an unknown relation is known")
	}
}

// ids are how a peer writes a number in an answer and in a receipt.
type ids struct{ answer, receipt func(n uint64) string }

func hex(n uint64) string      { return strconv.FormatUint(n, 16) }
func capitals(n uint64) string { return strings.ToUpper(hex(n)) }
func decimal(n uint64) string  { return strconv.FormatUint(n, 10) }
func padded(n uint64) string   { return strings.Repeat("0", 20-len(decimal(n))) + decimal(n) }
func word(n uint64) string     { return "m" + decimal(n) }

// A Learner finds out how a peer writes ids, whichever way, and keeps to it.
func TestLearner(t *testing.T) {
	for _, row := range []struct {
		ids  ids
		want Relation
	}{
		{ids{hex, hex}, Same}, {ids{capitals, hex}, Same}, {ids{decimal, padded}, Same}, {ids{word, word}, Same},
		{ids{hex, padded}, ToDecimal}, {ids{capitals, decimal}, ToDecimal},
		{ids{padded, hex}, ToHex}, {ids{decimal, capitals}, ToHex},
	} {
		var l Learner
		for n := range uint64(100) {
			answer, receipt := row.ids.answer(5*n), row.ids.receipt(5*n)
			found := slices.IndexFunc(l.Relations(), func(r Relation) bool { return key(receipt, r) == key(answer, Same) })
			if found < 0 {
				t.Fatalf("%s is not found by %s", answer, receipt)
			}
			l.Matched([]byte(answer), []byte(receipt))
		}
		if r, sure := l.Known(); r != row.want || !sure || len(l.Relations()) != 1 {
			t.Errorf("%s, %s: %s, %t, want %s", row.ids.answer(255), row.ids.receipt(255), r, sure, row.want)
		}
	}
}

// A Learner is not sure of what contradicts itself, nor of numbers that are the same in
// both forms, and it doubts when nothing is found any more.
func TestLearnerDoubts(t *testing.T) {
	var l Learner
	learn := func(times int, answer, receipt string) {
		for range times {
			l.Matched([]byte(answer), []byte(receipt))
		}
	}
	check := func(want Relation, sure bool, relations int) {
		t.Helper()
		if r, s := l.Known(); r != want || s != sure || len(l.Relations()) != relations || l.Relations()[0] != want {
			t.Errorf("%s, %t, %d relations", r, s, len(l.Relations()))
		}
	}
	learn(100, "5", "05")
	learn(100, "", "1")
	learn(100, "abc", "xyz")
	check(Same, false, 3)
	for range 20 {
		learn(1, "ff", "255")
		learn(1, "ff", "ff")
	}
	check(Same, false, 3)
	learn(enough-1, "ff", "255")
	check(ToDecimal, false, 3)
	learn(1, "ff", "255")
	check(ToDecimal, true, 1)
	learn(enough-1, "255", "ff")
	check(ToDecimal, true, 1)
	learn(1, "255", "ff")
	check(ToHex, true, 1)
	for range doubts - 1 {
		l.Missed()
	}
	check(ToHex, true, 1)
	learn(1, "5", "5")
	l.Missed()
	check(ToHex, true, 1)
	for range doubts {
		l.Missed()
	}
	check(ToHex, false, 3)

	l = Fixed(ToDecimal)
	learn(100, "ff", "ff")
	for range 3 * doubts {
		l.Missed()
	}
	check(ToDecimal, true, 1)
}

func TestAllocations(t *testing.T) {
	var l Learner
	b, answer, receipt := make([]byte, 0, MaxLen), []byte("38601fa"), []byte("0059113978")
	if n := testing.AllocsPerRun(10, func() {
		for _, r := range l.Relations() {
			_, _ = AppendKey(b, receipt, r)
		}
		l.Matched(answer, receipt)
		l.Missed()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The key of a key is the key. A number in another form is found by its key.
func FuzzAppendKey(f *testing.F) {
	for _, id := range []string{"", "0", "0059113978", "38601FA", "126e85a6edeac1a02020099312479564", "18446744073709551616"} {
		f.Add([]byte(id))
	}
	f.Fuzz(func(t *testing.T, id []byte) {
		same, ok := AppendKey(nil, id, Same)
		if ok != (len(id) > 0) || len(same) > len(id) {
			t.Fatalf("%q: %q, %t", id, same, ok)
		}
		if again, _ := AppendKey(nil, same, Same); !bytes.Equal(again, same) {
			t.Fatalf("%q: %q, %q", id, same, again)
		}
		// If the id is a receipt's, the answer that it leads to leads back.
		for r, back := range map[Relation]Relation{ToDecimal: ToHex, ToHex: ToDecimal} {
			if answer, ok := AppendKey(nil, id, r); ok {
				if receipt, ok := AppendKey(nil, answer, back); !ok || !bytes.Equal(receipt, same) {
					t.Fatalf("%q: answer %q, receipt %q", id, answer, receipt)
				}
			}
		}
		var l Learner
		l.Matched(id, same)
		l.Matched(same, id)
	})
}
