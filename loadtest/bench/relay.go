package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"pmg/loadtest/child"
	"time"
)

// ErrNoHAProxy means that HAProxy is not installed.
var ErrNoHAProxy = errors.New("cannot compare with HAProxy: it is not installed (Debian's package is haproxy)")

// haproxyConfig is a configuration that relays bytes and does nothing else.
const haproxyConfig = `global
%s
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen relay
  bind %s
  server sink %s
`

// Relay measures a gateway, without and with pdu log, and HAProxy relaying the same
// traffic in TCP mode, with many connections and with few. It returns ErrNoHAProxy if
// HAProxy is not installed.
func Relay(ctx context.Context, o Options) ([]Point, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		return nil, ErrNoHAProxy
	}
	var settings []Setting
	for _, connections := range []int{64, 2} {
		settings = append(settings,
			Setting{HAProxy, LogsNothing, connections, 10, "", ""},
			Setting{Pipeline, LogsNothing, connections, 10, "", ""},
			Setting{HAProxySingle, LogsNothing, connections, 10, "", ""},
			Setting{Pipeline, LogsPDUs, connections, 10, "", ""},
		)
	}
	return o.measure(ctx, settings, func(s Setting) (*run, error) {
		if s.Architecture == Pipeline {
			return o.runGateway(ctx, s)
		}
		return o.run(ctx, s, func(sink string) (*child.Child, error) {
			return startHAProxy(ctx, haproxy, s.Architecture == HAProxySingle, sink)
		})
	})
}

// startHAProxy starts a relay to a sink and waits until it listens.
func startHAProxy(ctx context.Context, haproxy string, single bool, sink string) (*child.Child, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	threads := ""
	if single {
		threads = "  nbthread 1"
	}
	c, err := child.Start(ctx, []string{haproxy, "-db", "-f"}, func(dir string) ([]string, error) {
		file := filepath.Join(dir, "haproxy.cfg")
		if err := os.WriteFile(file, fmt.Appendf(nil, haproxyConfig, threads, address, sink), 0o600); err != nil {
			return nil, fmt.Errorf("cannot write configuration: %w", err)
		}
		return []string{file}, nil
	})
	if err != nil {
		return nil, err
	}
	c.Address = address
	err = c.Await(ctx, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// freeAddress returns an address of this machine that nobody listens on. HAProxy needs
// one, because it does not report the port that it gets for port 0.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
