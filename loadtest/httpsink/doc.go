// Package httpsink is a server for tests: an SMSC that is called by HTTP, as the gateway's own API and as Kannel's
// smsbox, and a receiver of webhooks. It counts as package loadtest does, misbehaves on request, and shares no code with the
// gateway.
//
//	gateway ── POST /v1/messages ────► dialect ──► fate ──► accept ──► seen, references
//	   │    ── GET /cgi-bin/sendsms ─►                        │
//	   ◄────── receipts ───────────────── caller ◄── queue ◄──┘ with receipts
//	   └────── POST /webhook ─────────► readEvents ──► fate ──► events, by webhook-id
//
// # Bounds
//
// Bodies, headers, requests and calls under way, waiting receipts, remembered ids and shown requests are limited, each
// by a constant beside its code.
//
// # Start reading
//
// sink.go (options, start, end), serve.go (a request and what faults do with it), message.go and kannel.go (the dialects),
// receipts.go, webhook.go.
package httpsink
