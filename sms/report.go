package sms

import (
	"encoding/binary"
	"strconv"
)

// A Report is the content of a receipt. Its slices are parts of the octets that it was read from.
type Report struct {
	// Known is the id by which our client knows the message. It is 0 while that id is unknown: then ID identifies the message.
	Known uint64
	// ID is the peer's id of the message, as the peer wrote it. TextID is the id in the text of the receipt,
	// if it differs from ID.
	ID, TextID []byte

	State State
	// Word is the peer's word for the state, if State is NoState because the word is unknown.
	Word      []byte
	Submitted int64 // Unix nanoseconds by the wall clock; 0: not known
	Done      int64 // time of the state; in the form of Submitted
	Seconds   bool  // times in the peer's text have seconds
	// Parts and Delivered are the numbers of submitted and delivered parts; 0: unknown.
	Parts, Delivered uint8

	// Err is the error as a peer has written it into text. Network and NetworkError are the error as the
	// network has named it (SMPP 3.4 §5.3.2); Network is 0 if the network has named no error.
	Err          []byte
	Network      uint8
	NetworkError uint16

	// Extra are further fields in the peer's text, unchanged, such as price and network.
	Extra []byte
	// Text is the beginning of the message's text in the receipt.
	Text []byte
	// Taken means that the receipt was made from an SMSC's answer, which has accepted the message.
	Taken bool
	// Untaken means that no SMSC has accepted the message (of a long message the first part), and that the
	// gateway has made the receipt. A receipt without an ID may still be from an SMSC: for instance, the
	// receipt of a long message is made of several receipts.
	Untaken bool
	// Answer is the reason why the message was refused: the status of the SMSC in four octets, most
	// significant first, and its name.
	Answer []byte
	// Context is the context of the message, which the client gets back.
	Context []byte
	// Accepted is the time at which the gateway accepted the message; 0 if there is no Context. Submitted is the same time,
	// but may come from the peer.
	Accepted int64
	// Original is the text of the whole receipt as a peer sent it. It is nil in a receipt
	// that the gateway has made.
	Original []byte
}

// SetReport makes the message a receipt with the content r, and the given source and destination. It removes
// the native part. r may point into the message.
func (m *Message) SetReport(source, dest Address, r *Report) {
	var room [512]byte // most receipts fit, and are not allocated
	m.Set(source, dest, r.append(room[:0]))
	m.Kind = Receipt
	m.Flags |= HasReport
}

// Unreport turns a receipt back into the message from a mobile that it was made of, with the text of Report.Original.
func (m *Message) Unreport() {
	r, ok := m.Report()
	if !ok {
		return
	}
	m.SetText(append([]byte(nil), r.Original...))
	m.Kind = MO
	m.Flags &^= HasReport | ByText
}

// Report returns the content of a receipt. It reports false if the message is no receipt, or if the content
// is unknown. The slices of r are valid as long as the message.
func (m *Message) Report() (r Report, ok bool) {
	if m.Flags&HasReport == 0 {
		return r, false
	}
	return r, r.read(m.Text())
}

// AppendError appends the error in the form for clients: the peer's own text or, if the peer sent none, the network's number.
func (r *Report) AppendError(b []byte) []byte {
	switch {
	case len(r.Err) > 0:
		return append(b, r.Err...)
	case r.Network != 0:
		return strconv.AppendUint(b, uint64(r.NetworkError), 10)
	}
	return b
}

// IsKnownReceipt reports whether the message is a receipt of a known message, and so of a client.
func (m *Message) IsKnownReceipt() bool {
	r, ok := m.Report()
	return ok && r.Known != 0
}

// reportHead is the number of octets before the strings in a stored Report.
//
//	+-------+-----------+------+-------+-----------+---------+---------------+-------+------------------------+
//	| known | submitted | done | parts | delivered | network | network error | state | n × (length, octets) … |
//	| 8     | 8         | 8    | 1     | 1         | 1       | 2             | 1     | 4                      |
//	+-------+-----------+------+-------+-----------+---------+---------------+-------+------------------------+
//
// The highest bit of the state means that there are seconds, the next bit that an SMSC has accepted the
// message, and the third bit that no SMSC has.
const (
	reportHead    = 30
	reportSeconds = 0x80
	reportTaken   = 0x40
	reportUntaken = 0x20
	reportFlags   = reportSeconds | reportTaken | reportUntaken
)

// storedAlways is the number of strings of a Report that are stored even if they are empty.
const storedAlways = 5

// strings returns the strings of a Report in their stored order, which never changes. accepted contains
// Accepted in 8 octets, and is empty if Accepted is 0. The strings after storedAlways are stored only if
// they, or a later string, are not empty.
func (r *Report) strings(accepted *[]byte) [10]*[]byte {
	return [...]*[]byte{&r.ID, &r.TextID, &r.Err, &r.Text, &r.Original, &r.Word, &r.Extra, &r.Answer, &r.Context, accepted}
}

func (r *Report) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, r.Known)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Submitted))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Done))
	b = append(b, r.Parts, r.Delivered, r.Network)
	b = binary.BigEndian.AppendUint16(b, r.NetworkError)
	state := uint8(r.State)
	if r.Seconds {
		state |= reportSeconds
	}
	if r.Taken {
		state |= reportTaken
	}
	if r.Untaken {
		state |= reportUntaken
	}
	b = append(b, state)
	var room [8]byte
	var accepted []byte
	if r.Accepted != 0 {
		accepted = binary.BigEndian.AppendUint64(room[:0], uint64(r.Accepted))
	}
	list := r.strings(&accepted)
	n := len(list)
	for n > storedAlways && len(*list[n-1]) == 0 {
		n--
	}
	for _, s := range list[:n] {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(*s))), *s...)
	}
	return b
}

func (r *Report) read(b []byte) bool {
	if len(b) < reportHead || State(b[reportHead-1]&^reportFlags) >= states {
		return false
	}
	r.Known = binary.BigEndian.Uint64(b)
	r.Submitted = int64(binary.BigEndian.Uint64(b[8:]))
	r.Done = int64(binary.BigEndian.Uint64(b[16:]))
	r.Parts, r.Delivered, r.Network = b[24], b[25], b[26]
	r.NetworkError = binary.BigEndian.Uint16(b[27:])
	state := b[reportHead-1]
	r.State, r.Seconds = State(state&^reportFlags), state&reportSeconds != 0
	r.Taken, r.Untaken = state&reportTaken != 0, state&reportUntaken != 0
	b = b[reportHead:]
	var accepted []byte
	for i, s := range r.strings(&accepted) {
		if i >= storedAlways && len(b) == 0 {
			*s = nil
			continue
		}
		if len(b) < 4 {
			return false
		}
		n := binary.BigEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) || n == 0 && len(b) == 0 && i >= storedAlways {
			return false
		}
		*s = part(b, 0, int(n))
		b = b[n:]
	}
	switch len(accepted) {
	case 0:
		r.Accepted = 0
	case 8:
		r.Accepted = int64(binary.BigEndian.Uint64(accepted))
		return len(b) == 0 && r.Accepted != 0
	default:
		return false
	}
	return len(b) == 0
}
