package pdulog

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms"
)

// About holds the fields of a line that follow its PDU.
type About struct {
	ID      uint64 // id of the message that the PDU is about; 0: none
	Account string // account of the client; empty: none
	Refusal sms.Refusal

	Pressing bool // the session continues although many of its PDUs are refused, so that its lines are limited
}

// append appends the fields after those of the PDU. It omits the id if the PDU itself shows the id, as an
// answer to a client of SMPP 3.4 does.
func (a *About) append(b []byte, p protocols.PDU) []byte {
	if a.Refusal.Code != sms.OK || a.Refusal.Each != "" {
		b = a.Refusal.Append(append(b, logtext.Reason...))
	}
	if a.ID != 0 {
		at := len(b)
		b = sms.AppendID(append(b, " id="...), a.ID)
		if string(b[len(b)-sms.IDLen:]) == string(p.MessageID()) {
			b = b[:at]
		}
	}
	if a.Account != "" {
		b = logtext.AppendValue(append(b, " account="...), []byte(a.Account))
	}
	return b
}

// A textHash writes a hash in place of a text: equal texts have equal hashes, and without the key nobody can
// find the text of a hash by trial.
type textHash struct {
	key []byte
	sha hash.Hash
	sum [sha256.Size]byte
}

// newTextHash returns the hash that the options request, nil if they request none.
func newTextHash(o *Options) *textHash {
	if o.Text || len(o.TextKey) == 0 {
		return nil
	}
	key := sha256.Sum256(o.TextKey) // a hash has a fixed length, so that a text cannot begin with the end of a key
	return &textHash{key: key[:], sha: sha256.New()}
}

// append appends the field, if the PDU has a text.
func (h *textHash) append(b []byte, p protocols.PDU) []byte {
	text, ok := p.Text()
	if !ok || len(text.Octets) == 0 {
		return b
	}
	h.sha.Reset()
	_, _ = h.sha.Write(h.key) // a hash takes all
	_, _ = h.sha.Write(text.Octets)
	return hex.AppendEncode(append(b, logtext.TextHash...), h.sha.Sum(h.sum[:0])[:logtext.TextHashLen/2])
}
