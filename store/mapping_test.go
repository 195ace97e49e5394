package store

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pmg/sms"
)

// A mapping is read as it was written, by the wall clock.
func TestMapping(t *testing.T) {
	m := sample(1000, "text")
	v := MappingOf(m, 5)
	got, err := DecodeMapping(v.Append(nil))
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Fatalf("got %+v %v, want %+v", got, err, v)
	}
	if first := v.Append(nil)[0]; first != mappingOfPeer {
		t.Errorf("without a way to the peer the version is %d", first)
	}
	v.By, v.PeerID, v.Flags, v.Alphabet = []byte("operator"), []byte("4711"), sms.HasHeader, sms.UCS2
	record := v.Append(nil)
	if got, err = DecodeMapping(record); err != nil || !reflect.DeepEqual(got, v) || record[0] != mappingWithWay {
		t.Errorf("got %+v %v, want %+v", got, err, v)
	}
	v.Submitted = []byte("submitted")
	for range 2 {
		record = v.Append(nil)
		if got, err = DecodeMapping(record); err != nil || !reflect.DeepEqual(got, v) || record[0] != mappingSubmitted {
			t.Errorf("got %+v %v, want %+v", got, err, v)
		}
		v.By, v.PeerID, v.Flags, v.Alphabet = nil, nil, 0, 0
	}
	if v.Arrived != 1005 || v.DeliverAt != 2005 || v.KnownID() != m.KnownID() || v.WholeID() != m.WholeID() || string(v.Account) != "acme" {
		t.Errorf("%+v", v)
	}
}

// A record that has our id alone is no mapping, and a version that does not know it says that it is newer. No mapping is one.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	record := AppendElsewhere([]byte("x"), 7)[1:]
	if id, ok := Elsewhere(record); id != 7 || !ok || len(record) != 9 {
		t.Errorf("%d, %v of %d octets", id, ok, len(record))
	}
	if _, err := DecodeMapping(record); !errors.Is(err, ErrNewer) {
		t.Errorf("as a mapping: %v", err)
	}
	v := MappingOf(sample(1000, "text"), 5)
	for name, b := range map[string][]byte{"nothing": nil, "cut": record[:8], "more": append(record, 0), "mapping": v.Append(nil), "other": make([]byte, 9)} {
		if _, ok := Elsewhere(b); ok {
			t.Errorf("%s is taken for one", name)
		}
	}
}

// A mapping that was cut short is refused, and so is one with something behind it.
func TestMappingDamaged(t *testing.T) {
	t.Parallel()
	v := MappingOf(sample(1000, "text"), 5)
	for range 2 {
		record := v.Append(nil)
		for n := range record {
			if _, err := DecodeMapping(record[:n:n]); err == nil {
				t.Errorf("%d of %d octets are read", n, len(record))
			}
		}
		if _, err := DecodeMapping(append(record, 0)); err == nil {
			t.Error("another octet behind it is not noticed")
		}
		v.By, v.PeerID, v.Submitted = []byte("operator"), []byte("4711"), []byte("submitted")
	}
}

// Notes of a kind are read by day and in the order of the keys, from a key on.
func TestNotes(t *testing.T) {
	errEnough := errors.New("enough")
	engines(t, func(t *testing.T, s Store) {
		want := func(from string, limit int, stop, all string) {
			t.Helper()
			var got []string
			err := s.Notes("north", []byte(from), limit, func(id, value []byte) error {
				if string(id) == stop {
					return errEnough
				}
				got = append(got, string(id)+"="+string(value))
				return nil
			})
			if strings.Join(got, " ") != all || stop == "" && err != nil || stop != "" && !errors.Is(err, errEnough) {
				t.Errorf("from %q, %d: %q %v, want %q", from, limit, got, err, all)
			}
		}
		want("", 10, "", "")
		commit(t, s, func(b *Batch) {
			b.Note("north", []byte("c"), []byte("3"), 6)
			b.Note("north", []byte("a\x00"), []byte("5"), 6)
			b.Note("north", []byte("b"), []byte("2"), 5)
			b.Note("north", []byte("a"), []byte("1"), 5)
			b.Note("nort", []byte("a"), []byte("4"), 6)
			b.Note("northern", []byte("a"), []byte("4"), 6)
			b.Note("south", []byte("a"), []byte("4"), 7)
		})
		want("", 10, "", "a=1 b=2 a\x00=5 c=3")
		want("", 3, "", "a=1 b=2 a\x00=5")
		want("a\x00", 10, "", "b=2 a\x00=5 c=3")
		want("b", 1, "", "b=2")
		want("", 10, "b", "a=1")
		commit(t, s, func(b *Batch) { b.ForgetBefore(6) })
		want("", 10, "", "a\x00=5 c=3")
		want("d", 10, "", "")
	})
}

// A record of a mapping that is damaged is refused, and never ends the process.
// One that is read is written again as it was.
func FuzzMapping(f *testing.F) {
	v := MappingOf(sample(7, "text"), 1)
	f.Add(v.Append(nil))
	v.By, v.PeerID = []byte("operator"), []byte("4711")
	f.Add(v.Append(nil))
	v.Submitted = []byte("submitted")
	f.Add(v.Append(nil))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := DecodeMapping(b); err == nil && string(v.Append(nil)) != string(b) {
			t.Errorf("%x is written again as %x", b, v.Append(nil))
		}
	})
}

// The names of kinds are on the disk, as earlier versions have written them.
func TestKinds(t *testing.T) {
	t.Parallel()
	b := &Batch{}
	for _, k := range []Kind{KindEnded, KindForm, KindKeyword, KindPart, KindRequest, KindWait, IDsOf("north")} {
		b.Note(k, []byte("k"), nil, 1)
	}
	const want = ".ended\x00k.forms\x00k.keywords\x00k.parts\x00k.request\x00k.waits\x00knorth\x00k"
	if got := string(b.octets); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
