// Package httpapi serves the connectors of protocol http: it puts together the listeners, the dialects, the
// pages for customers, the webhooks and the SMSCs that are called by HTTP. The gateway treats messages of
// these connectors like messages of sessions.
//
// # Start reading
//
// engine.go (Over), then handler.go (which dialect answers).
package httpapi
