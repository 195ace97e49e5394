package nats

import (
	"encoding/binary"
	"hash/crc32"

	"pmg/store/journal"
)

// A frame is what one message of the stream has: a record, or a part of one that is larger than a message may be. All numbers are
// big-endian.
//
//	 0  checksum: CRC-32C of the octets from 4 to the end
//	 4  version, a zero
//	 6  number of the part, from 0
//	 8  how many parts the record has
//	10  two zeros
//	12  node, run, number of its ID
//	28  the record, or the part
type frame struct {
	part, parts int
	id          journal.ID
	octets      []byte
}

const (
	frameVersion = 1
	frameHead    = 28
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends the octets of a frame to b.
func appendFrame(b []byte, f *frame) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, frameVersion, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(f.part))
	b = binary.BigEndian.AppendUint16(b, uint16(f.parts))
	b = append(b, 0, 0)
	b = binary.BigEndian.AppendUint32(b, f.id.Node)
	b = binary.BigEndian.AppendUint32(b, f.id.Run)
	b = binary.BigEndian.AppendUint64(b, f.id.Number)
	b = append(b, f.octets...)
	binary.BigEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:], castagnoli))
	return b
}

// readFrame decodes a message. The frame's octets are a part of b. ok is false if the message is
// not a valid frame.
func readFrame(b []byte) (f frame, ok bool) {
	if len(b) < frameHead || b[4] != frameVersion || binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return f, false
	}
	f = frame{
		part: int(binary.BigEndian.Uint16(b[6:])), parts: int(binary.BigEndian.Uint16(b[8:])),
		id: journal.ID{
			Node: binary.BigEndian.Uint32(b[12:]), Run: binary.BigEndian.Uint32(b[16:]), Number: binary.BigEndian.Uint64(b[20:]),
		},
		octets: b[frameHead:],
	}
	return f, f.part < f.parts
}
