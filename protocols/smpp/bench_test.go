package smpp

import (
	"testing"

	"pmg/protocols/prototest"
)

// The four most frequent PDUs, without optional parameters, as most of them are.
// Compare: go test -run - -bench . -count 10 | benchstat
var hot = []prototest.Sample{
	{Name: "submit_sm", Hex: "0000006c000000040000000000000011000101343637303030303030303100010134363730303030303030320000000000000100000035" +
		"48656c6c6f2c20776f726c643a20612074657874206f662066696674792063686172616374657273206f7220736f2e2e2e2e206f6b"},
	{Name: "submit_sm_resp", Hex: "000000218000000400000000000000113031393066336132633831623030303100"},
	{Name: "deliver_sm", Hex: "0000004000000005000000000000000300020138373635343332310004093430" +
		"34303400000000000000000000084024232125262F3A000E0001010006000101"},
	{Name: "deliver_sm_resp", Hex: "0000001180000005000000000000000300"},
}

func BenchmarkDecode(b *testing.B) {
	for _, h := range hot {
		b.Run(h.Name, func(b *testing.B) {
			in := h.Octets(b)
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
		b.Run(h.Name, func(b *testing.B) {
			var p PDU
			if err := p.Decode(h.Octets(b)); err != nil {
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
		b.Run(h.Name, func(b *testing.B) {
			var p PDU
			if err := p.Decode(h.Octets(b)); err != nil {
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
