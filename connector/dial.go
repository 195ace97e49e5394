package connector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Dial connects the instance. It tries the connector's addresses in order, beginning with
// number i.Address, each for at most the configured time. If none can be reached, it
// returns the error of the last one.
func (i *Instance) Dial(ctx context.Context) (conn net.Conn, err error) {
	cfg := i.Connector.Config()
	addresses := cfg.AllAddresses()
	for n := range addresses {
		address := addresses[(i.Address+n)%len(addresses)]
		d := net.Dialer{Timeout: cfg.ConnectTimeout}
		if conn, err = d.DialContext(ctx, "tcp", address); err == nil {
			i.host, _, _ = net.SplitHostPort(address)
			return conn, nil
		}
		err = fmt.Errorf("cannot connect to %s: %w", address, dialReason(err, cfg.ConnectTimeout))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// dialReason returns the part of a Dialer's error that does not repeat the address.
func dialReason(err error, timeout time.Duration) error {
	var lookup *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &lookup):
		return lookup
	case !errors.As(err, &op):
		return err
	case op.Timeout():
		return fmt.Errorf("no answer in %s", timeout)
	}
	if call := (*os.SyscallError)(nil); errors.As(op.Err, &call) {
		return call.Err // "connection refused", without "connect: "
	}
	return op.Err
}
