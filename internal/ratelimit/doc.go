// Package ratelimit computes how long the next message must wait so that a rate
// is kept.
//
// It is the generic cell rate algorithm (ITU-T I.371). Its state is one number,
// the time at which the next message would be exactly on schedule. A message may
// be ahead of its schedule by the burst less one.
//
// # Start reading
//
// Limiter.Reserve, then Shared.Admit.
package ratelimit
