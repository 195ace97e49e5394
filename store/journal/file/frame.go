package file

import (
	"encoding/binary"
	"hash/crc32"

	"pmg/store/journal"
)

// A frame is a record in a segment. All numbers are big-endian, and frames begin at multiples of 8.
//
//	 0  checksum: CRC-32C of the segment's number in 8 octets, and of the octets from 4 to the end of the record
//	 4  version, kind, two octets that are zero
//	 8  octets of the record
//	12  node, run, number of its ID
//	28  its place
//	36  the place up to which all was synced when this was written
//	44  the record
//
// The number of the segment makes frames of the file's earlier use invalid.
type frame struct {
	kind   kind
	id     journal.ID
	seq    journal.Seq
	synced journal.Seq
	record []byte
}

type kind uint8

const (
	isRecord kind = 1 + iota
	isEnd         // has no record; says what was synced; seq is the place of the last record
)

const (
	frameVersion = 1
	frameHead    = 44
	align        = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameSize returns how many octets a frame takes with a record of n octets.
func frameSize(n int) int { return (frameHead + n + align - 1) &^ (align - 1) }

// appendFrame appends a frame for the segment with this salt.
func appendFrame(b []byte, salt uint32, f *frame) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, frameVersion, byte(f.kind), 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.record)))
	b = binary.BigEndian.AppendUint32(b, f.id.Node)
	b = binary.BigEndian.AppendUint32(b, f.id.Run)
	b = binary.BigEndian.AppendUint64(b, f.id.Number)
	b = binary.BigEndian.AppendUint64(b, uint64(f.seq))
	b = binary.BigEndian.AppendUint64(b, uint64(f.synced))
	b = append(b, f.record...)
	binary.BigEndian.PutUint32(b[at:], crc32.Update(salt, castagnoli, b[at+4:]))
	for (len(b)-at)%align != 0 {
		b = append(b, 0)
	}
	return b
}

// saltOf returns the checksum of a segment's number, with which the checksums of its frames begin.
func saltOf(number uint64) uint32 {
	return crc32.Checksum(binary.BigEndian.AppendUint64(nil, number), castagnoli)
}

// readFrame reads the frame at the beginning of b. The frame's record is a part of b. ok is false
// if b does not begin with a frame of this segment.
func readFrame(b []byte, salt uint32) (f frame, size int, ok bool) {
	if len(b) < frameHead || b[4] != frameVersion || b[6] != 0 || b[7] != 0 {
		return f, 0, false
	}
	n := binary.BigEndian.Uint32(b[8:])
	if n > journal.MaxRecord || frameHead+int(n) > len(b) {
		return f, 0, false
	}
	if binary.BigEndian.Uint32(b) != crc32.Update(salt, castagnoli, b[4:frameHead+n]) {
		return f, 0, false
	}
	f = frame{
		kind: kind(b[5]),
		id: journal.ID{
			Node: binary.BigEndian.Uint32(b[12:]), Run: binary.BigEndian.Uint32(b[16:]), Number: binary.BigEndian.Uint64(b[20:]),
		},
		seq:    journal.Seq(binary.BigEndian.Uint64(b[28:])),
		synced: journal.Seq(binary.BigEndian.Uint64(b[36:])),
		record: b[frameHead : frameHead+n],
	}
	return f, min(frameSize(int(n)), len(b)), true
}
