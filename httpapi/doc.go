// Package httpapi serves the connectors without sessions: it puts together the listeners, the dialects, the webhooks and
// the SMSCs that are called by HTTP. The gateway's rooms decide about their messages as they do about those of sessions.
//
// # Start reading
//
// engine.go (Over), then handler.go (which dialect answers).
package httpapi
