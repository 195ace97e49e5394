package receipts

import (
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// The context of a message has what its client pays for it. The functions below correct that in a mapping before the client gets
// it with the message's outcome, so that an outcome never has a price that is not paid.

// quoteEnded corrects the Quote of a message that has ended. The parts of a message that was cut are charged when they end; of
// parts that are charged together, one has the price.
func quoteEnded(v *store.Mapping, m *sms.Message, e *keep.Ending) {
	if e.State == events.Cut || e.State == events.Sent && (e.Charge != 0 || sms.PriceOf(m) == 0) {
		return
	}
	unquote(v)
}

// unquote corrects the Quote of a message that is not charged. The price becomes 0; that of a part becomes unknown, because other
// parts of the long message may be charged.
func unquote(v *store.Mapping) {
	q := sms.QuoteOf(v.Context)
	if q.Price == 0 {
		return
	}
	if q.Price = 0; v.Parts > 1 {
		q = sms.Quote{}
	}
	v.Context = sms.Requote(nil, v.Context, q)
}

// forgetQuote removes the Quote of a message of which it is not known whether it is charged.
func forgetQuote(v *store.Mapping) {
	if sms.QuoteOf(v.Context).IsKnown() {
		v.Context = sms.Requote(nil, v.Context, sms.Quote{})
	}
}
