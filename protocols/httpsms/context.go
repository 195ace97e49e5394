package httpsms

import "pmg/sms"

// A Context is the context of a message, which its client gets back with each call.
type Context = sms.Context

// A Field is a field of a Context.
type Field = sms.Field

// The names of fields. The numbers are part of stored messages, so their meaning never changes.
const (
	Mask        uint8 = 1 + iota // mask of the wanted events, as the dialect writes it: dlr-mask, dlr-level
	Method                       // HTTP method of the calls
	Service                      // Kannel: name of the sendsms-user
	AccountInfo                  // Kannel: account
	Billing                      // Kannel: binfo
	MetaData                     // Kannel: meta-data
	Charset                      // Kannel: charset of the text
	Tags                         // labels that routes look at
	Batch                        // id of the batch that the message came in
)
