package httpcall

import (
	"context"
	"errors"
	"net"
)

// errDeposed is the reason why a call is not sent, as text that follows the name of a server.
var errDeposed = errors.New("is not called: this node does not own the work of the cluster any more")

// mayCall returns errDeposed if nothing may be sent now. holds is nil for a gateway without a cluster.
func mayCall(holds func() bool) error {
	if holds != nil && !holds() {
		return errDeposed
	}
	return nil
}

// whileHolds returns a Dial whose connections send nothing while holds returns false. holds is called
// directly before each system call, so that no part of a call that has begun is sent later.
func whileHolds(holds func() bool, d Dial) Dial {
	if holds == nil {
		return d
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return fenced{conn, holds}, nil
	}
}

// A fenced is such a connection.
type fenced struct {
	net.Conn
	holds func() bool
}

// Write implements io.Writer.
func (c fenced) Write(b []byte) (int, error) {
	if err := mayCall(c.holds); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
