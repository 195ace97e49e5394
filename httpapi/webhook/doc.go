// Package webhook calls the URLs of clients with the events of their messages: receipts, and messages from mobiles.
//
// A lane leads to one URL. Its courier makes at most eight calls together, passes the events of a message in their order, and
// leaves to the lane when one is tried again. webhook_fallback is called while the webhook rests.
//
// # Start reading
//
// courier.go (Service, courier), event.go (Events), choice.go (which URL), then once.go.
package webhook
