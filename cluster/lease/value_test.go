package lease

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func values() []Value {
	return []Value{
		{Epoch: 1, Run: 1, Node: "a"},
		{Epoch: MaxEpoch, Run: 1<<64 - 1, Node: strings.Repeat("n", MaxNode), Vacant: true},
		{Epoch: 258, Run: 0x0102030405060708, Node: "node-1.example", Vacant: true, Next: strings.Repeat("m", MaxNode)},
	}
}

func TestValueOctets(t *testing.T) {
	for _, v := range values() {
		octets := v.Append(nil)
		if got, err := Decode(octets); err != nil || got != v {
			t.Errorf("%+v becomes %+v, %v", v, got, err)
		}
		for n := range octets {
			if got, err := Decode(octets[:n]); err == nil || got != (Value{}) {
				t.Errorf("%d of %d octets of %+v: %+v, %v", n, len(octets), v, got, err)
			}
		}
		if _, err := Decode(append(octets, 0)); err == nil {
			t.Errorf("an octet behind %+v is accepted", v)
		}
	}
	want := "\x01\x01\x00\x00\x00\x00\x00\x00\x01\x02\x01\x02\x03\x04\x05\x06\x07\x08\x01a\x02bc"
	if got := string(Value{Epoch: 258, Run: 0x0102030405060708, Node: "a", Vacant: true, Next: "bc"}.Append(nil)); got != want {
		t.Errorf("octets %q, want %q", got, want)
	}
}

func TestValueErrors(t *testing.T) {
	for what, v := range map[string]Value{
		"epoch 0":              {Run: 1, Node: "a"},
		"epoch too high":       {Epoch: MaxEpoch + 1, Run: 1, Node: "a"},
		"run 0":                {Epoch: 1, Node: "a"},
		"no node":              {Epoch: 1, Run: 1},
		"long node":            {Epoch: 1, Run: 1, Node: strings.Repeat("n", MaxNode+1)},
		"node with a space":    {Epoch: 1, Run: 1, Node: "a b"},
		"node with a new line": {Epoch: 1, Run: 1, Node: "a\n"},
		"node with DEL":        {Epoch: 1, Run: 1, Node: "a\x7f"},
		"next of an owner":     {Epoch: 1, Run: 1, Node: "a", Next: "b"},
		"long next":            {Epoch: 1, Run: 1, Node: "a", Vacant: true, Next: strings.Repeat("n", MaxNode+1)},
		"next with a letter":   {Epoch: 1, Run: 1, Node: "a", Vacant: true, Next: "ä"},
	} {
		if got, err := Decode(v.Append(nil)); err == nil || errors.Is(err, ErrLaterFormat) || got != (Value{}) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	octets := Value{Epoch: 1, Run: 1, Node: "a"}.Append(nil)
	octets[1] = 2
	if _, err := Decode(octets); err == nil {
		t.Error("an unknown flag is accepted")
	}
	octets[0], octets[1] = 0, 0
	if _, err := Decode(octets); err == nil || errors.Is(err, ErrLaterFormat) {
		t.Errorf("format 0: %v", err)
	}
	if _, err := Decode([]byte{2}); !errors.Is(err, ErrLaterFormat) {
		t.Errorf("format 2: %v", err)
	}
}

// What is decoded is what was encoded, so that two nodes never see a value differently.
func FuzzDecode(f *testing.F) {
	for _, v := range values() {
		f.Add(v.Append(nil))
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		v, err := Decode(octets)
		if err != nil {
			if v != (Value{}) {
				t.Errorf("%+v with %v", v, err)
			}
			return
		}
		if got := v.Append(nil); !reflect.DeepEqual(got, octets) {
			t.Errorf("%q is decoded as %+v, which is %q", octets, v, got)
		}
	})
}
