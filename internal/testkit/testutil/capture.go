package testutil

import "encoding/binary"

// A Segment is a piece of data that one side of a connection has written.
type Segment struct {
	Peer uint16 // port of the other side, which identifies the connection
	Port uint16 // port of the gateway, which identifies the protocol
	Ours bool   // the gateway has written the data
	Data []byte
}

// Capture returns segments as a capture file (libpcap 2.4) of IPv4 packets. So tshark can judge
// them without the right to capture packets, and none is lost.
func Capture(segments []Segment) []byte {
	const (
		headers = 20 + 20 // IPv4 and TCP
		ipv4    = 228     // LINKTYPE_IPV4
	)
	le, be := binary.LittleEndian, binary.BigEndian
	f := le.AppendUint32(nil, 0xA1B2C3D4)
	f = append(f, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f = le.AppendUint32(le.AppendUint32(f, 1<<16), ipv4)
	type way struct {
		peer uint16
		ours bool
	}
	next := map[way]uint32{} // sequence numbers
	for i, s := range segments {
		size := uint32(headers + len(s.Data))
		for _, n := range []uint32{uint32(i), 0, size, size} { // seconds, microseconds, captured, sent
			f = le.AppendUint32(f, n)
		}
		from, to := s.Peer, s.Port
		if s.Ours {
			from, to = to, from
		}
		f = append(f, 0x45, 0)
		f = be.AppendUint16(f, uint16(size))
		f = append(f, 0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1)
		f = be.AppendUint16(be.AppendUint16(f, from), to)
		f = be.AppendUint32(be.AppendUint32(f, next[way{s.Peer, s.Ours}]), next[way{s.Peer, !s.Ours}])
		f = append(f, 0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0)
		f = append(f, s.Data...)
		next[way{s.Peer, s.Ours}] += uint32(len(s.Data))
	}
	return f
}
