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
// Bodies, headers, requests under way, receipts that wait, calls under way, ids that are remembered and requests that are shown
// are limited, each by a constant beside the code that it limits.
//
// # Start reading
//
// sink.go (options, start, end), serve.go (a request and what faults do with it), message.go and kannel.go (the dialects),
// receipts.go, webhook.go.
package httpsink
