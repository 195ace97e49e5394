package smpp

import (
	"encoding/hex"
	"testing"
)

// The four most frequent PDUs, without optional parameters, as most of them are.
// Compare: go test -run - -bench . -count 10 | benchstat
var hot = []struct{ name, hex string }{
	{"submit_sm", "0000006c000000040000000000000011000101343637303030303030303100010134363730303030303030320000000000000100000035" +
		"48656c6c6f2c20776f726c643a20612074657874206f662066696674792063686172616374657273206f7220736f2e2e2e2e206f6b"},
	{"submit_sm_resp", "000000218000000400000000000000113031393066336132633831623030303100"},
	{"deliver_sm", "0000004000000005000000000000000300020138373635343332310004093430" +
		"34303400000000000000000000084024232125262F3A000E0001010006000101"},
	{"deliver_sm_resp", "0000001180000005000000000000000300"},
}

func octetsOf(tb testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func BenchmarkDecode(b *testing.B) {
	for _, h := range hot {
		b.Run(h.name, func(b *testing.B) {
			in := octetsOf(b, h.hex)
			var p PDU
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Decode(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendWire(b *testing.B) {
	for _, h := range hot {
		b.Run(h.name, func(b *testing.B) {
			var p PDU
			if err := p.Decode(octetsOf(b, h.hex)); err != nil {
				b.Fatal(err)
			}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = p.AppendWire(out[:0])
			}
		})
	}
}

func BenchmarkAppendLog(b *testing.B) {
	for _, h := range hot {
		b.Run(h.name, func(b *testing.B) {
			var p PDU
			if err := p.Decode(octetsOf(b, h.hex)); err != nil {
				b.Fatal(err)
			}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = p.AppendLog(out[:0], true)
			}
		})
	}
}
