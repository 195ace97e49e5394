package loadtest

import (
	"context"
	"net"
	"time"

	"pmg/protocols/smpp"
)

const (
	floodChunk    = 32                     // submits in one write
	floodBuffer   = 4 << 10                // receive buffer of the socket, which is never read
	floodInterval = 3 * time.Millisecond   // between chunks, because unread answers are tested and not the rate
	floodPause    = 100 * time.Millisecond // before a flood that was disconnected connects again
)

// Flood is a hostile client: it submits some 10,000 messages a second, or as fast as the
// gateway reads, ignores the window and never reads an answer. When it is disconnected,
// it connects again. It goes on until ctx ends, and returns how many submits it has
// written. It uses only the credentials, the addresses, First and Size of the options.
func Flood(ctx context.Context, o LoadOptions) (written int64) {
	w := &smppWire{}
	t := w.newTemplate(&o)
	for ctx.Err() == nil {
		written += flood(ctx, &o, t, o.First+written)
		select {
		case <-ctx.Done():
		case <-time.After(floodPause):
		}
	}
	return written
}

// flood floods on one connection until it is disconnected or ctx ends.
func flood(ctx context.Context, o *LoadOptions, t template, first int64) (written int64) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", o.To)
	if err != nil {
		return 0
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.(*net.TCPConn).SetReadBuffer(floodBuffer) // an error is ignored, because a larger buffer only takes longer to fill
	out := (&smppWire{}).appendLogin(nil, 1, &loginRequest{Account{o.SystemID, o.Password}, o.Bind})
	for {
		if _, err := conn.Write(out); err != nil {
			return written
		}
		time.Sleep(floodInterval)
		out = out[:0]
		for range floodChunk {
			out = t.append(out, uint32(written)%(smpp.MaxSequence-1)+2, first+written)
			written++
		}
	}
}
