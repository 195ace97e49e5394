// Package webhook calls the URLs of clients with the events of their messages: receipts, and messages from mobiles.
//
// A lane leads to one URL. Its courier makes at most eight calls at a time, and delivers the events of a
// message in order. The lane decides when an event is tried again. webhook_fallback is called while the
// webhook rests.
//
// # Start reading
//
// courier.go (Service, courier), event.go (Events), choice.go (which URL), then once.go.
package webhook
