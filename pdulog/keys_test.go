package pdulog

import (
	"bytes"
	"slices"
	"strconv"
	"testing"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/logtext"
)

// FuzzKeys shows that a line has the keys that a search asks for, whatever its values are, and no others.
func FuzzKeys(f *testing.F) {
	for _, c := range [...]struct {
		sequence uint32
		value    string
		text     string
	}{
		{17, "46700000002", "hello"},
		{4_000_000_000, "+46700000002", `id:A0000FA0 sub:001 stat:DELIVRD text:"`},
		{0, "0046 70", `id:00a\0 stat:UNDELIV err:001`},
		{1, `a"b=c d\`, "stat:DELIVRD"},
		{1, "", "id: "},
		{8, "041070", `id:stat"`},
		{9, "000002", "id:0stat:"},
		{1, "é\x00!", ` source_addr=1 id=2 \"`},
	} {
		f.Add(c.sequence, c.value, c.text)
	}
	f.Fuzz(func(t *testing.T, sequence uint32, value, text string) {
		names := []string{
			"source_addr_ton", "source_addr", "message_id", "status2", "short_message", "destination_addr", "reference", "service_type",
			"receipted_message_id", "OAdC", "AdC", "from", "to", "message_payload", "id2", "id", "account",
		}
		for _, isAnswer := range []bool{false, true} {
			line := strconv.AppendUint([]byte("2026-11-24T23:53:00.285233Z clients/39 < submit_sm seq="), uint64(sequence), 10)
			if isAnswer {
				line = append(line, " status=0x58(ESME_RTHROTTLED)"...)
			}
			for _, name := range names {
				v := value
				if name == "short_message" || name == "message_payload" {
					v = text
				}
				line = logtext.AppendValue(append(append(append(line, ' '), name...), '='), []byte(v))
			}
			got, at := AppendKeys(line, nil)
			if want := time.Date(2026, 11, 24, 23, 53, 0, 285233000, time.UTC).UnixMicro(); at != want {
				t.Errorf("%s: time %d, want %d", line, at, want)
			}
			want := wantedKeys(t, line, isAnswer)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: keys %x, want %x", line, got, want)
			}
		}
	})
}

// wantedKeys returns the keys of a line as a search makes them of its fields.
func wantedKeys(t *testing.T, line []byte, isAnswer bool) (keys []uint64) {
	e, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	rest := bytes.SplitN(line, []byte{' '}, 5)[4]
	hash, _, ok := pairOf(&e)
	if !ok {
		t.Fatalf("%s has no sequence", line)
	}
	keys = append(keys, hash, logfile.Hash(accountKey, fieldOf(rest, "account")))
	if isAnswer {
		keys = append(keys, logfile.Hash(failureKey, nil))
	}
	for _, name := range []string{"message_id", "reference", "receipted_message_id", "id"} {
		if v := fieldOf(rest, name); len(v) > 0 {
			keys = append(keys, IDHash(v))
		}
	}
	for _, name := range []string{"source_addr", "destination_addr", "OAdC", "AdC", "from", "to"} {
		if v := fieldOf(rest, name); len(v) > 0 {
			keys = append(keys, NumberHash(v))
		}
	}
	for _, name := range []string{"short_message", "message_payload"} {
		if v, ok := bytes.CutPrefix(fieldOf(rest, name), []byte("id:")); ok {
			id, _, _ := bytes.Cut(v, []byte{' '})
			keys = append(keys, IDHash(id))
			if _, state, ok := bytes.Cut(v, []byte("stat:")); ok && !bytes.HasPrefix(state, []byte("DELIVRD")) {
				keys = append(keys, logfile.Hash(failureKey, nil))
			}
		}
	}
	return keys
}

// All forms of an id, and all of a number, have one key; another id has another.
func TestKeysOfForms(t *testing.T) {
	for _, ids := range [][]string{
		{"00000000a0000fa0", "A0000FA0", "a0000fa0", `A0000FA0\x00`}, {"0aB", "ab"}, {"0", ""}, {"0006610E690D5B06", "6610e690d5b06"},
	} {
		for _, id := range ids[1:] {
			if IDHash([]byte(id)) != IDHash([]byte(ids[0])) {
				t.Errorf("%s and %s have other keys", id, ids[0])
			}
		}
	}
	for _, numbers := range [][]string{
		{"46700000002", "+46700000002", "0046700000002", "0700000002"}, {"1002", "+1002", "001002"}, {"12345678", "0012345678"},
	} {
		for _, n := range numbers {
			if NumberHash([]byte(n)) != NumberHash([]byte(numbers[0])) {
				t.Errorf("%s and %s have other keys", n, numbers[0])
			}
		}
	}
	all := map[uint64]int{}
	for n := range 200_000 {
		all[IDHash(strconv.AppendInt(nil, int64(n), 16))]++
		all[NumberHash(strconv.AppendInt(nil, int64(n), 10))]++
		all[pairHash([]byte("clients/1"), n%2 == 0, uint32(n/2))]++
	}
	if len(all) < 3*200_000-1 { // of numbers, and of ids, none has a zero in front
		t.Errorf("%d values have only %d keys", 3*200_000, len(all))
	}
}
