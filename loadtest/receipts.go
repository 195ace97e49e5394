package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// ReceiptOptions are a sink's options for delivery receipts. The zero value sends a
// receipt after each answer to a submit that asked for one, on the same session.
type ReceiptOptions struct {
	Delay, DelayMax time.Duration // from the answer to the receipt; with DelayMax a random time between the two
	Fail            float64       // share of messages that are not delivered, 0 to 1
	Format          ReceiptFormat
	IDForm          IDForm // of message ids in answers to submits
	ReceiptIDForm   IDForm // of message ids in receipts
	First           bool   // a submit is answered after its receipt was sent
	OtherSession    bool   // receipts go over another session of the same client, if there is one
}

// Check returns what is wrong with the options.
func (o *ReceiptOptions) Check() error {
	switch {
	case o.Delay < 0 || o.DelayMax != 0 && o.DelayMax < o.Delay:
		return fmt.Errorf("the delay of receipts must be 0 or more and end after it begins, not %v to %v", o.Delay, o.DelayMax)
	case o.Fail < 0 || o.Fail > 1:
		return fmt.Errorf("the share of failed messages must be 0 to 1, not %g", o.Fail)
	case o.First && o.Delay+o.DelayMax > 0:
		return errors.New("a receipt that comes before the answer cannot be delayed: leave out one of the two")
	}
	return nil
}

// Wait returns the time to wait before a receipt.
func (o *ReceiptOptions) Wait() time.Duration {
	if o.DelayMax > o.Delay {
		return o.Delay + rand.N(o.DelayMax-o.Delay+1)
	}
	return o.Delay
}

// Fails reports whether a message is one of those that are not delivered.
func (o *ReceiptOptions) Fails() bool { return o.Fail > 0 && rand.Float64() < o.Fail }

// AnswerID returns an id as answers to submits have it.
func (o *ReceiptOptions) AnswerID(id uint64) string {
	return string(messageID{id, o.answerForm()}.append(nil))
}

// ReceiptID returns an id as receipts have it.
func (o *ReceiptOptions) ReceiptID(id uint64) string {
	return string(messageID{id, o.receiptForm()}.append(nil))
}

// answerForm returns the form of ids in answers to submits.
func (o *ReceiptOptions) answerForm() IDForm {
	if o.IDForm == SameForm {
		return HexForm
	}
	return o.IDForm
}

// receiptForm returns the form of ids in receipts.
func (o *ReceiptOptions) receiptForm() IDForm {
	if o.ReceiptIDForm == SameForm {
		return o.answerForm()
	}
	return o.ReceiptIDForm
}

// A ReceiptFormat says where a receipt says what it says.
type ReceiptFormat uint8

// The formats.
const (
	ReceiptBoth ReceiptFormat = iota // in its text and in optional parameters
	ReceiptText
	ReceiptTLV
)

// ParseReceiptFormat returns the format with that name.
func ParseReceiptFormat(name string) (ReceiptFormat, error) {
	for f, n := range []string{"both", "text", "tlv"} {
		if n == name {
			return ReceiptFormat(f), nil
		}
	}
	return 0, fmt.Errorf("cannot send receipts in format %q: use both, text or tlv", name)
}

// An IDForm is how a message id is written.
type IDForm uint8

// The forms.
const (
	SameForm        IDForm = iota // of receipts: that of answers; of answers: HexForm
	HexForm                       // 16 hexadecimal digits
	UpperForm                     // 16 hexadecimal digits, upper case
	ShortHexForm                  // hexadecimal without leading zeros
	ShortUpperForm                // hexadecimal without leading zeros, upper case
	DecimalForm                   // decimal without leading zeros
	LongDecimalForm               // 20 decimal digits
	idForms
)

// IDForms returns the names of the forms, by form.
func IDForms() []string {
	return []string{"same", "hex", "upper", "hex-short", "upper-short", "decimal", "decimal-long"}
}

// ParseIDForm returns the form with that name.
func ParseIDForm(name string) (IDForm, error) {
	for f, n := range IDForms() {
		if n == name {
			return IDForm(f), nil
		}
	}
	return 0, fmt.Errorf("cannot write message ids as %q: use %s", name, strings.Join(IDForms(), ", "))
}

// maxID is the length of the longest id.
const maxID = 20

// A messageID is a message id and how to write it.
type messageID struct {
	id   uint64
	form IDForm
}

func (m messageID) append(b []byte) []byte {
	switch m.form {
	case UpperForm:
		return appendNumber(b, m.id, 16, 16, "0123456789ABCDEF")
	case ShortHexForm:
		return appendNumber(b, m.id, 16, 1, "0123456789abcdef")
	case ShortUpperForm:
		return appendNumber(b, m.id, 16, 1, "0123456789ABCDEF")
	case DecimalForm:
		return appendNumber(b, m.id, 10, 1, "0123456789")
	case LongDecimalForm:
		return appendNumber(b, m.id, 10, maxID, "0123456789")
	}
	return appendNumber(b, m.id, 16, 16, "0123456789abcdef")
}

// appendNumber appends n with at least least digits.
func appendNumber(b []byte, n, base uint64, least int, digits string) []byte {
	var room [maxID]byte
	at := len(room)
	for n > 0 || len(room)-at < least {
		at--
		room[at] = digits[n%base]
		n /= base
	}
	return append(b, room[at:]...)
}

// A state is a message_state (SMPP 3.4 §5.2.28), 0 if it is not known.
type state uint8

const (
	stateEnroute       state = 1
	stateDelivered     state = 2
	stateExpired       state = 3
	stateUndeliverable state = 5
	stateAccepted      state = 6
	states                   = 9
)

// stateWords are the words for states in the text of receipts, by state.
func stateWords() [states]string {
	return [...]string{"", "ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "UNKNOWN", "REJECTD"}
}

func (s state) word() string {
	if s < states {
		return stateWords()[s]
	}
	return ""
}

// isFinal reports whether no other receipt follows for the message.
func (s state) isFinal() bool { return s != stateEnroute && s != stateAccepted }

func stateOf(word []byte) state {
	for s, w := range stateWords() {
		if string(word) == w {
			return state(s)
		}
	}
	return 0
}

// A delivery is a receipt, or a mobile-originated message, that a sink has to send.
type delivery struct {
	mo     bool
	id     uint64 // of the message that a receipt is for
	number int64  // of a mobile-originated message
	word   *word  // a mobile-originated message of Send; nil: one with a number

	source, destination shortAddress
	state               state
	err                 [3]byte
	submitted           time.Time
	text                [textBegin]byte // the beginning of the message that a receipt is for
	textLen             uint8
	refused             uint8 // times that the peer has refused it for the moment, up to mostRefused

	origin *session // session on which the message came; nil: it is mobile-originated
	answer answerTo // a submit to answer after the receipt was sent
}

// An answerTo is a submit that awaits its answer; sequence 0 is none.
type answerTo struct {
	header header
	id     messageID
}

// textBegin is how much of a message its receipt repeats (SMPP 3.4 appendix B).
const textBegin = 20

// A shortAddress is an address with its digits.
type shortAddress struct {
	ton, npi uint8
	length   uint8
	digits   [maxAddress]byte
}

func (a *shortAddress) set(from address) {
	a.ton, a.npi = from.ton, from.npi
	a.length = uint8(copy(a.digits[:], from.digits))
}

func (a *shortAddress) get() []byte { return a.digits[:a.length] }

// appendText appends the text of a mobile-originated message: that of Send, or its number.
func (d *delivery) appendText(b []byte) []byte {
	if d.word != nil {
		return append(b, d.word.text...)
	}
	b = append(b, '#')
	at := len(b)
	b = append(b, bytes.Repeat([]byte{'0'}, numberDigits)...)
	putDigits(b[at:], d.number)
	return append(b, ' ')
}
