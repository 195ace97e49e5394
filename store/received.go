package store

import (
	"encoding/binary"

	"pmg/sms"
)

// receivedVersion is the version of the record of a Received.
const receivedVersion = 1

// A Received is a text from a mobile in the inbox of an account. The note with it (KindInbox, of the day Forever) has the key of
// ReceivedKey. Times are those of the wall clock.
type Received struct {
	From, To  sms.Address
	At, Until int64  // time of arrival; the text is removed after Until
	Text      []byte // in UTF-8; hexadecimal digits if Binary
	Binary    bool

	Reference   uint16 // of a long message; this and the next fields are as in userdata.Part
	Part, Parts uint8  // 0: the message is whole
	Wide        bool
}

// The flags of a Received's record.
const (
	receivedBinary uint8 = 1 << iota
	receivedWide
)

// walk passes w along the fields of a received text.
func (v *Received) walk(w *walk) {
	var flags uint8
	if v.Binary {
		flags = receivedBinary
	}
	if v.Wide {
		flags |= receivedWide
	}
	w.enum("flags", &flags, receivedBinary|receivedWide)
	v.Binary, v.Wide = flags&receivedBinary != 0, flags&receivedWide != 0
	w.time("time of arrival", &v.At)
	w.time("end", &v.Until)
	w.u8("sender's type", &v.From.TON)
	w.u8("sender's plan", &v.From.NPI)
	w.octets8("sender", &v.From.Addr)
	w.u8("recipient's type", &v.To.TON)
	w.u8("recipient's plan", &v.To.NPI)
	w.octets8("recipient", &v.To.Addr)
	w.u16("reference", &v.Reference)
	w.u8("part", &v.Part)
	w.u8("parts", &v.Parts)
	w.octets32("text", &v.Text)
}

// Append appends the text, encoded as a record.
func (v *Received) Append(b []byte) []byte {
	w := walk{mode: writing, b: b}
	w.begin(receivedVersion)
	v.walk(&w)
	return w.b
}

// DecodeReceived decodes a record that Append made. The result shares its octets with the record.
func DecodeReceived(record []byte) (v Received, err error) {
	w := walk{b: record}
	if err := w.version("received text", receivedVersion); err != nil {
		return Received{}, err
	}
	v.walk(&w)
	return v, w.end("received text")
}

// The octets behind the name of an account in the keys of KindInbox.
const (
	inboxText   = 'm' // the note has a Received
	inboxAnswer = 'a' // the note has our id of the reply, in eight octets
)

// ReceivedPrefix returns the beginning of the keys of an account's texts.
func ReceivedPrefix(account string) []byte { return append([]byte(account), 0, inboxText) }

// ReceivedKey returns the key of an account's text, by our id of the message.
func ReceivedKey(account string, id uint64) []byte {
	return binary.BigEndian.AppendUint64(ReceivedPrefix(account), id)
}

// AnsweredPrefix returns the beginning of the keys of an account's replies.
func AnsweredPrefix(account string) []byte { return append([]byte(account), 0, inboxAnswer) }

// AnsweredKey returns the key of the note that says which message is the reply to a text.
func AnsweredKey(account string, id uint64) []byte {
	return binary.BigEndian.AppendUint64(AnsweredPrefix(account), id)
}

// CutReceivedKey divides the key of a text. ok is false for keys of other notes.
func CutReceivedKey(key []byte) (account string, id uint64, ok bool) {
	at := len(key) - 8
	if at < 2 || key[at-1] != inboxText || key[at-2] != 0 {
		return "", 0, false
	}
	return string(key[:at-2]), binary.BigEndian.Uint64(key[at:]), true
}
