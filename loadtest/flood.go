package loadtest

import (
	"context"
	"net"
	"time"

	"pmg/protocols/smpp"
)

const (
	floodChunk  = 32                     // submits written at once
	floodBuffer = 4 << 10                // what the system may hold of the answers nobody reads
	floodBreath = 3 * time.Millisecond   // between chunks: it is not reading that is to hurt, not numbers
	floodPause  = 100 * time.Millisecond // before a flood that was cut off begins anew
)

// Flood is the client that a gateway must survive: it submits some 10,000
// messages a second, or as fast as the gateway reads, with no regard to the
// window, and never reads an answer. Cut off, it comes back. It goes on until ctx
// ends and tells how many submits it has written. Of the options it heeds who it
// is, the addresses, First and Size.
func Flood(ctx context.Context, o LoadOptions) (written int64) {
	t := newTemplate(&o)
	for ctx.Err() == nil {
		written += flood(ctx, &o, &t, o.First+written)
		select {
		case <-ctx.Done():
		case <-time.After(floodPause):
		}
	}
	return written
}

// flood is one connection of a Flood, until it is cut off or ctx ends.
func flood(ctx context.Context, o *LoadOptions, t *template, first int64) (written int64) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", o.To)
	if err != nil {
		return 0
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.(*net.TCPConn).SetReadBuffer(floodBuffer) // with the system's own buffer it only takes longer
	out := bindRequest(o, 1)
	for {
		if _, err := conn.Write(out); err != nil {
			return written
		}
		time.Sleep(floodBreath)
		out = out[:0]
		for range floodChunk {
			out = t.append(out, uint32(written)%(smpp.MaxSequence-1)+2, first+written)
			written++
		}
	}
}
