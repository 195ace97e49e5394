package own

import (
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A Known is the known facts about a message that was accepted.
type Known struct {
	ID           string     `json:"id"`
	Reference    string     `json:"client_reference,omitempty"`
	From         string     `json:"from,omitempty"`
	To           string     `json:"to"`
	State        string     `json:"state"`
	AcceptedAt   time.Time  `json:"accepted_at"`
	SendAt       *time.Time `json:"send_at,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
	Parts        int        `json:"parts,omitempty"`
	At           *time.Time `json:"at,omitempty"` // when the message came to a final state
	Reason       string     `json:"reason,omitempty"`
	SMSCStatus   uint32     `json:"smsc_status,omitempty"`
	NetworkError string     `json:"network_error,omitempty"`
	SMSCID       string     `json:"smsc_id,omitempty"`
	Network      string     `json:"network,omitempty"`   // network of the recipient, MCC and MNC
	Connector    string     `json:"connector,omitempty"` // connector by which the message was sent
	Quote
}

// A Quote is what a message costs its client, all its short messages together.
type Quote struct {
	Price    string `json:"price,omitempty"` // "": unknown, or hidden from the client
	Currency string `json:"currency,omitempty"`
}

// QuoteOf returns a Quote as clients see it.
func QuoteOf(q sms.Quote) Quote {
	if !q.IsKnown() {
		return Quote{}
	}
	return Quote{q.Price.String(), q.Currency}
}

// KnownOf returns the known facts about a message: its addresses as its client wrote them, its context, and
// its times by the wall clock. Times that are 0 are left out.
func KnownOf(id uint64, source, dest sms.Address, context []byte, state string, accepted, sendAt, expires int64) Known {
	c, _ := sms.ReadContext(context)
	return Known{
		ID: sms.FormatID(id), Reference: c.Reference, From: httpsms.Number(source), To: httpsms.Number(dest), State: state,
		AcceptedAt: wall(accepted), SendAt: At(sendAt), ExpiresAt: At(expires),
	}
}

// At returns a time in Unix nanoseconds, nil if it is 0.
func At(nanoseconds int64) *time.Time {
	if nanoseconds == 0 {
		return nil
	}
	t := wall(nanoseconds)
	return &t
}
