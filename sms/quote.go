package sms

import "encoding/binary"

// A Quote is what a client pays for a message, all its short messages together. It is a part of the message's Context.
type Quote struct {
	Price    Money
	Currency string // three letters; "": nothing is known of the price
}

// IsKnown reports whether the price is known.
func (q Quote) IsKnown() bool { return q.Currency != "" }

// String returns the price and its currency, "" if the price is not known.
func (q Quote) String() string {
	if !q.IsKnown() {
		return ""
	}
	return q.Price.String() + " " + q.Currency
}

// QuoteSize is the size of a stored Quote in octets.
const QuoteSize = 8 + currencySize

const currencySize = 3

// Append appends the stored form of a Quote, which has QuoteSize octets: the price, and the currency, or zeros.
func (q Quote) Append(b []byte) []byte {
	var currency [currencySize]byte
	copy(currency[:], q.Currency)
	return append(binary.BigEndian.AppendUint64(b, uint64(q.Price)), currency[:]...)
}

// ReadQuote reads the output of Append. It returns an unknown Quote for other octets.
func ReadQuote(b []byte) Quote {
	if len(b) != QuoteSize || b[8] == 0 {
		return Quote{}
	}
	return Quote{Money(binary.BigEndian.Uint64(b)), string(b[8:])}
}

// QuoteOf returns the Quote of a context.
func QuoteOf(context []byte) Quote { return ReadQuote(valueOf(context, numberQuote)) }

// Requote appends to b a context with the Quote q in the place of its own, or without a Quote if q is not known.
func Requote(b, context []byte, q Quote) []byte {
	if from, to := find(context, numberQuote); from > 0 {
		b, context = append(b, context[:from-valueHead]...), context[to:]
	}
	b = append(b, context...)
	if q.IsKnown() {
		b = q.Append(append(b, numberQuote, 0, QuoteSize))
	}
	return b
}

// SetQuote sets the Quote of a message that came by WithContext. Other messages have none.
func SetQuote(m *Message, q Quote) {
	context := m.Context()
	if context == nil || !q.IsKnown() && valueOf(context, numberQuote) == nil {
		return
	}
	var room [256]byte // most contexts fit, and are not allocated
	m.SetNative(WithContext, Requote(room[:0], context, q))
}
