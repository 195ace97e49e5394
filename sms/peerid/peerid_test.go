package peerid

import (
	"bytes"
	"fmt"
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
	const uuid = "61ce3b960c944d9c8c3e00000000000a"
	for _, id := range []string{"61CE3B96-0C94-4D9C-8C3E-00000000000A", "61ce3b96-0c94-4d9c-8c3e-00000000000a", "{61CE3B96-0C94-4D9C-8C3E-00000000000A}", uuid} {
		f(id, uuid, "none", "none")
	}
	f("001e3b96-0c94-4d9c-8c3e-00000000000a", "1e3b960c944d9c8c3e00000000000a", "none", "none")
	f("61CE3B96-0C94-4D9C-8C3E-00000000000a", "61CE3B96-0C94-4D9C-8C3E-00000000000a", "none", "none")
	f("61CE3B96-0C94-4D9C-8C3E-0000-000000A", "61ce3b96-0c94-4d9c-8c3e-0000-000000a", "none", "none")
	f("{61CE3B96}", "{61CE3B96}", "none", "none")
	f("61CE3B96-0c94", "61CE3B96-0c94", "none", "none")
	f(" ABC123 ", "abc123", "none", "11256099")
	f("   ", "none", "none", "none")
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

// A Learner finds out in which way a peer writes ids. It does not know which answer and which
// receipt belong together, but for equal ids with letters. It never concludes anything else.
// Receipts of ids that count are ten behind.
func TestLearner(t *testing.T) {
	for _, row := range []struct {
		ids  ids
		want Relation
	}{
		{ids{hex, hex}, Same}, {ids{capitals, hex}, Same}, {ids{decimal, padded}, Same},
		{ids{hex, padded}, ToDecimal}, {ids{capitals, decimal}, ToDecimal},
		{ids{padded, hex}, ToHex}, {ids{decimal, capitals}, ToHex},
	} {
		for _, from := range []uint64{1, 0x1000, 0x38601f0} {
			for _, behind := range []uint64{0, 10} {
				var l Learner
				answers := map[string]bool{}
				at := uint64(0)
				for n := from; n < from+100; n++ {
					answer := row.ids.answer(n)
					l.Answered([]byte(answer))
					answers[key(answer, Same)] = true
					if n < from+behind {
						continue
					}
					receipt := row.ids.receipt(n - behind)
					l.Received([]byte(receipt))
					if answers[key(receipt, Same)] {
						l.Proves([]byte(receipt))
					}
					r, sure := l.Known()
					if sure && r != row.want && n < 0x10000 {
						t.Fatalf("%s, %s from %d, %d behind: %s at %d", row.ids.answer(255), row.ids.receipt(255), from, behind, r, n)
					}
					if sure && at == 0 {
						at = n - from
					}
				}
				if r, sure := l.Known(); r != row.want || !sure || at > 60 {
					t.Errorf("%s, %s from %d, %d behind: %s, %t since %d", row.ids.answer(255), row.ids.receipt(255), from, behind, r, sure, at)
				}
				if again, ok := Read(l.Append(nil)); !ok || again.Suspects() != l.Suspects() {
					t.Error("it cannot be stored")
				} else if r, sure := again.Known(); r != row.want || !sure {
					t.Errorf("stored it is %s, %t", r, sure)
				}
			}
		}
	}
}

// Ids that are no numbers, have one digit, or come again and again are no evidence. One receipt with a letter
// ends what was concluded.
func TestLearnerDoubts(t *testing.T) {
	var l Learner
	check := func(want Relation, sure bool) {
		t.Helper()
		if r, s := l.Known(); r != want || s != sure {
			t.Errorf("%s, %t", r, s)
		}
	}
	for range 100 {
		for _, id := range []string{"xyz", "61ce3b96-0c94-4d9c-8c3e-000000000001", "126e85a6edeac1a02020099312479564"} {
			l.Answered([]byte(id))
			l.Received([]byte(id))
			l.Proves([]byte(id))
		}
		l.Answered([]byte("12345678"))
		l.Received([]byte("12345678"))
	}
	check(Same, false)
	for n := range uint64(100) {
		l.Answered([]byte(hex(n)))
		l.Received([]byte(decimal(n)))
	}
	check(ToDecimal, true)
	l.Received([]byte("fe"))
	check(Same, false)
	if !l.Suspects() {
		t.Error("no suspicion")
	}
	for n := range uint64(100) { // that was an accident
		l.Answered([]byte(hex(1000 + n)))
		l.Received([]byte(decimal(1000 + n)))
	}
	check(ToDecimal, true)
	l.Received([]byte("fe"))
	l.Proves([]byte("fe"))
	check(Same, true)

	l = Learner{}
	for n := range uint64(100) {
		l.Answered([]byte(decimal(145100315320224957 + n))) // too long for a hexadecimal number
		l.Received([]byte(decimal(145100315320224957 + n)))
	}
	check(Same, true)

	l = Fixed(ToDecimal)
	for n := range uint64(100) {
		l.Answered([]byte(hex(n)))
		l.Received([]byte(hex(n)))
		l.Proves([]byte(hex(n)))
	}
	check(ToDecimal, true)
}

func TestAllocations(t *testing.T) {
	var l Learner
	b, answer, receipt := make([]byte, 0, MaxLen), []byte("38601fa"), []byte("0059113978")
	if n := testing.AllocsPerRun(10, func() {
		_, _ = AppendKey(b, receipt, ToDecimal)
		l.Answered(answer)
		l.Received(receipt)
		_, _ = l.Known()
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
		l.Answered(id)
		l.Received(id)
		if _, certain := l.Known(); certain || IsAmbiguous(id) && !IsNumber(id) {
			t.Fatalf("%q: certain", id)
		}
	})
}

// Receipts with letters that come here and there, which are somebody else's, do not make those of a
// SMSC hexadecimal that counts in decimal.
func TestLearnerForged(t *testing.T) {
	for from, every := range map[uint64]uint64{1: 20, 1000: 20, 20_000_000: 2} {
		var l Learner
		for n := from; n < from+1000; n++ {
			id := []byte(decimal(n))
			l.Answered(id)
			l.Received(id)
			l.Proves(id)
			if n%every == 0 {
				for i := range uint64(10) {
					l.Received([]byte(hex(0xabc000 + 10*n + i)))
				}
			}
			if r, sure := l.Known(); sure && r != Same {
				t.Fatalf("from %d: %s at %d", from, r, n)
			}
		}
	}
	var l Learner
	for n := range uint64(200) { // and an SMSC that writes them so is still known
		l.Answered([]byte(decimal(20_000_000 + n)))
		l.Received([]byte(hex(20_000_000 + n)))
	}
	if r, sure := l.Known(); r != ToHex || !sure {
		t.Errorf("%s, %t", r, sure)
	}
}

// R25: receipts with long ids that belong to somebody else do not make those of an SMSC decimal that counts
// in hexadecimal, also after a restart.
func TestLearnerForeign(t *testing.T) {
	var l Learner
	for n := uint64(1); n < 0x200; n++ {
		l.Answered([]byte(hex(n)))
		for i := range uint64(3) {
			l.Received([]byte(decimal(7e18 + 3*n + i)))
		}
		if n%16 == 5 {
			l.Received([]byte(capitals(n)))
		}
		if r, sure := l.Known(); sure {
			t.Fatalf("%s at %d", r, n)
		}
		if n%50 == 0 {
			l, _ = Read(l.Append(nil))
		}
	}
	if earlier, ok := Read(l.Append(nil)[:stateLen-2]); !ok || earlier.answers.longest != 0 || earlier.Suspects() != l.Suspects() {
		t.Error("what an earlier version has stored cannot be read")
	}
	for n := range uint64(100) { // and an SMSC that writes long ones so is still known
		l.Answered([]byte(hex(7e18 + n)))
		l.Received([]byte(decimal(7e18 + n)))
	}
	if r, sure := l.Known(); r != ToDecimal || !sure {
		t.Errorf("%s, %t", r, sure)
	}
}

// What is known is stored a few dozen times, however many ids come, and what is stored is as good.
func TestStage(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"%d", "%x", "%08X", "msg-%d"} {
		var l Learner
		changes, last := 0, l.Stage()
		for i := range 100_000 {
			id := fmt.Appendf(nil, form, i*37)
			l.Answered(id)
			l.Received(id)
			if s := l.Stage(); s != last {
				changes, last = changes+1, s
			}
		}
		if changes == 0 || changes > 40 {
			t.Errorf("%s: %d changes", form, changes)
		}
		if again, ok := Read(l.Append(nil)); !ok || again.Stage() != last || again.HasNoNumbers() != (form == "msg-%d") {
			t.Errorf("%s: %+v is left of %+v", form, again.Stage(), last)
		}
	}
}

// Before dashes of UUIDs did not matter, their keys had them.
func TestOlderKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"61ce3b960c944d9c8c3e00000000000a":  "61ce3b96-0c94-4d9c-8c3e-00000000000a",
		"1e3b960c944d9c8c3e00000000000a":    "001e3b96-0c94-4d9c-8c3e-00000000000a",
		"61ce3b960c944d9c8c3e00000000000ab": "",
		"61ce3b960c944d9c":                  "",
		"12345678901234567890":              "",
		"xyce3b960c944d9c8c3e00000000000a":  "",
	} {
		if got, ok := OlderKey([]byte(key)); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %s, %t", key, got, ok)
		}
	}
}
