package nats

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"pmg/store/journal"
	"pmg/store/seal"
)

// A frame is what one message of the stream has: a record, or a part of one that is larger than a message may be. The message is
// encrypted and authenticated by package seal, so that only a node with the cluster's secret can make one. All numbers inside
// are big-endian.
//
//	 0  number of the part, from 0
//	 2  how many parts the record has
//	 4  node, run, number of its ID
//	20  the record, or the part
type frame struct {
	part, parts int
	id          journal.ID
	octets      []byte
}

const (
	frameVersion = 2 // authenticated with each message, so that a message of another version cannot be decrypted
	frameHead    = 20
	// frameOctets is by how much a message is larger than its record.
	frameOctets = frameHead + seal.Overhead
)

// newSealer returns a Sealer that encrypts with the first secret, and decrypts with all. The keys also depend on the journal's
// origin, so that records of another journal cannot be decrypted.
func newSealer(secrets []string, origin string) (*seal.Sealer, error) {
	if len(secrets) == 0 {
		return nil, refuse([]string{"no secret is given for its records"})
	}
	var keys [][]byte
	for _, s := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(s), []byte(origin), "pmg journal of a cluster", sha256.Size)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return seal.New(keys)
}

// A framer makes messages of frames, and frames of messages.
type framer struct {
	sealer *seal.Sealer
	plain  []byte // room for the frame that is being encrypted
}

// append encrypts a frame, and appends the message to b.
func (r *framer) append(b []byte, f *frame) []byte {
	p := binary.BigEndian.AppendUint16(r.plain[:0], uint16(f.part))
	p = binary.BigEndian.AppendUint16(p, uint16(f.parts))
	p = binary.BigEndian.AppendUint32(p, f.id.Node)
	p = binary.BigEndian.AppendUint32(p, f.id.Run)
	p = binary.BigEndian.AppendUint64(p, f.id.Number)
	r.plain = append(p, f.octets...)
	return r.sealer.Append(b, frameVersion, r.plain)
}

// readFrame decrypts a message. ok is false if it was not made with one of the secrets.
func readFrame(s *seal.Sealer, b []byte) (f frame, ok bool) {
	if !seal.Is(b) {
		return f, false
	}
	p, err := s.Open(frameVersion, b)
	if err != nil || len(p) < frameHead {
		return f, false
	}
	f = frame{
		part: int(binary.BigEndian.Uint16(p)), parts: int(binary.BigEndian.Uint16(p[2:])),
		id: journal.ID{
			Node: binary.BigEndian.Uint32(p[4:]), Run: binary.BigEndian.Uint32(p[8:]), Number: binary.BigEndian.Uint64(p[12:]),
		},
		octets: p[frameHead:],
	}
	return f, f.part < f.parts
}
