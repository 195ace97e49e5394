package telemetry

import "math"

// A Sampler selects the messages to trace by their ids, so that all gateways select the same, also after a restart.
type Sampler struct{ below uint64 }

// OneIn returns a Sampler that selects about one message in n; n is at least 1.
func OneIn(n int) Sampler { return Sampler{math.MaxUint64 / uint64(n)} }

// Takes reports whether a message is traced.
func (s Sampler) Takes(id uint64) bool { return mix(id) <= s.below }

// mix is the finalizer of SplitMix64. It is needed because ids are consecutive.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// TraceOf returns the trace id of a message. It is computed from the message's id, so that receipts and calls need not store
// it.
func TraceOf(id uint64) (t [16]byte) {
	hi, lo := mix(^id), mix(id^0x5851f42d4c957f2d)
	for i := range 8 {
		t[i], t[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	t[15] |= 1 // never all zero
	return t
}

// SpanOf returns the id of one of the spans of a message.
func SpanOf(id uint64, n uint8) (s [8]byte) {
	x := mix(mix(id) + uint64(n))
	for i := range s {
		s[i] = byte(x >> (56 - 8*i))
	}
	s[7] |= 1 // never all zero
	return s
}
