package loadtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// The sizes of the request and the answer of a round trip: those of a submit_sm with 60
// octets of text between addresses of usual length, and of its answer.
const (
	echoRequest = 115
	echoAnswer  = 33
)

// An EchoServer answers every request of the size of a submit_sm with an answer of the
// size of a submit_sm_resp, and does nothing else. A gateway's latency is compared with
// its latency, which is that of the machine.
type EchoServer struct {
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil when closed
}

// StartEcho listens on an address and serves until Close.
func StartEcho(listen string) (*EchoServer, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot start echo: %w", err)
	}
	e := &EchoServer{listener: listener, conns: map[net.Conn]struct{}{}}
	e.running.Go(e.accept)
	return e, nil
}

// Addr returns the address that the server listens on.
func (e *EchoServer) Addr() string { return e.listener.Addr().String() }

// Close closes the listener and all connections.
func (e *EchoServer) Close() error {
	err := e.listener.Close()
	e.mu.Lock()
	for conn := range e.conns {
		conn.Close()
	}
	e.conns = nil
	e.mu.Unlock()
	e.running.Wait()
	return err
}

func (e *EchoServer) accept() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.mu.Lock()
		if e.conns == nil {
			conn.Close()
		} else {
			e.conns[conn] = struct{}{}
			e.running.Go(func() { e.serve(conn) })
		}
		e.mu.Unlock()
	}
}

func (e *EchoServer) serve(conn net.Conn) {
	defer conn.Close()
	var request [echoRequest]byte
	var answer [echoAnswer]byte
	for {
		if _, err := io.ReadFull(conn, request[:]); err != nil {
			break
		}
		if _, err := conn.Write(answer[:]); err != nil {
			break
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, conn)
}

// Echo makes round trips to an EchoServer, possibly through a relay, one at a time on
// one connection. It returns the distribution of their times.
func Echo(ctx context.Context, address string, roundTrips int) (Latency, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return Latency{}, fmt.Errorf("cannot connect: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var request [echoRequest]byte
	var answer [echoAnswer]byte
	taken := newHistogram()
	for range roundTrips {
		began := time.Now()
		if _, err := conn.Write(request[:]); err != nil {
			return Latency{}, fmt.Errorf("cannot send request: %w", err)
		}
		if _, err := io.ReadFull(conn, answer[:]); err != nil {
			return Latency{}, fmt.Errorf("cannot read answer: %w", err)
		}
		record(taken, int64(time.Since(began)))
	}
	return latencyOf(taken), nil
}

// OneCore keeps this process on one core until restore is called. Load and sink share
// the machine with the gateway that they measure, and waking a second core for a few
// microseconds of work costs more than it saves. GOMAXPROCS in the environment wins.
func OneCore() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}
