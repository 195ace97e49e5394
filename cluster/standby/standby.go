// Package standby answers connections to a node that stands by. Clients are refused in a way that
// makes them try the next address. Operators and load balancers learn which node owns the work. The
// sockets keep listening, so that the gateway can take them over without a gap.
//
// # Start reading
//
// standby.go
package standby

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"pmg/internal/sock"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// A Protocol is the protocol that is spoken on a socket.
type Protocol uint8

// The protocols. Connections of the protocol Other are closed.
const (
	Other Protocol = iota
	SMPP
	HTTP
	Admin
	UCP
)

// A Socket is a listening socket.
type Socket struct {
	sock.Listening
	Protocol Protocol
	TLS      *tls.Config // nil: connections are not encrypted
}

// A State returns the node's state: as a value for JSON, and as a line of text.
type State func() (state any, line string)

// A Door answers connections until it is closed.
type Door struct {
	state     State
	listeners []net.Listener
	server    http.Server
	admin     http.Server
	metrics   http.Handler
	running   sync.WaitGroup
	places    chan struct{} // limits the connections that are being refused
}

const (
	maxRefusing   = 64 // further connections are closed without an answer
	refuseTimeout = 5 * time.Second
	retryAfter    = "1" // seconds
)

// Open begins to answer connections on sockets. The sockets stay open when the door is closed.
// metrics serves the node's metrics.
func Open(sockets []Socket, state State, metrics http.Handler) (*Door, error) {
	d := &Door{state: state, metrics: metrics, places: make(chan struct{}, maxRefusing)}
	d.server = http.Server{Handler: http.HandlerFunc(d.refuseHTTP), ReadTimeout: refuseTimeout, WriteTimeout: refuseTimeout}
	d.admin = http.Server{Handler: d.routes(), ReadTimeout: refuseTimeout, WriteTimeout: refuseTimeout}
	for _, s := range sockets {
		l, err := s.Share()
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		if s.TLS != nil {
			l = tls.NewListener(l, s.TLS)
		}
		d.listeners = append(d.listeners, l)
		d.running.Go(func() {
			switch s.Protocol {
			case HTTP:
				_ = d.server.Serve(l) // Close makes Serve return
			case Admin:
				_ = d.admin.Serve(l)
			default:
				d.refuseAll(l, s.Protocol)
			}
		})
	}
	return d, nil
}

// Close stops answering.
func (d *Door) Close() error {
	err := errors.Join(d.server.Close(), d.admin.Close())
	for _, l := range d.listeners {
		_ = l.Close() // the servers close their own listeners
	}
	d.running.Wait()
	return err
}

// refuseAll refuses connections until the socket is closed.
func (d *Door) refuseAll(l net.Listener, p Protocol) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no file descriptor is free
			continue
		}
		select {
		case d.places <- struct{}{}:
			go func() {
				defer func() { <-d.places }()
				refuse(conn, p)
			}()
		default:
			_ = conn.Close()
		}
	}
}

const (
	smppHead = 16
	isAnswer = 0x80000000
	// refusal is a status that makes clients try again, and that no client mistakes for a wrong
	// password.
	refusal = smpp.StatusSysErr
)

// refuse answers the first PDU if it is a request that a client begins with, and closes the connection.
func refuse(conn net.Conn, p Protocol) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(refuseTimeout)) != nil {
		return
	}
	var answer []byte
	switch p {
	case SMPP:
		answer = refuseBind(conn)
	case UCP:
		answer = refuseOperation(conn)
	}
	if len(answer) > 0 {
		_, _ = conn.Write(answer) // the client may have disconnected
	}
}

// refuseBind reads a bind request of SMPP, and returns the answer, nil if there is none.
func refuseBind(from io.Reader) []byte {
	var head [smppHead]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil
	}
	length, command := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	switch smpp.CommandID(command) {
	case smpp.BindReceiver, smpp.BindTransmitter, smpp.BindTransceiver:
	default:
		return nil
	}
	if length < smppHead || length > 1024 {
		return nil
	}
	if _, err := io.CopyN(io.Discard, from, int64(length-smppHead)); err != nil {
		return nil // unread data would reset the connection before the client reads the answer
	}
	binary.BigEndian.PutUint32(head[:], smppHead)
	binary.BigEndian.PutUint32(head[4:], command|isAnswer)
	binary.BigEndian.PutUint32(head[8:], refusal)
	return head[:]
}

const (
	maxOperation = 4096 // octets of UCP that are read, with noise in front of the frame
	stx          = 2    // the first octet of a frame of UCP
)

// refuseOperation reads the first frame of UCP, and returns the answer, nil if there is none.
func refuseOperation(from io.Reader) []byte {
	driver, b := ucp.New(ucp.Options{}), make([]byte, 0, maxOperation)
	for {
		n, err := driver.Frame(b)
		if err != nil {
			return nil
		}
		switch isNoise := len(b) > 0 && b[0] != stx; {
		case n <= len(b) && isNoise:
			b = b[n:]
			continue
		case n <= len(b):
			return ucp.Refuse(nil, b[:n])
		case len(b) == cap(b):
			return nil
		}
		n, err = from.Read(b[len(b):cap(b)])
		if b = b[:len(b)+n]; err != nil && n == 0 {
			return nil
		}
	}
}

// refuseHTTP refuses an HTTP request of a client.
func (d *Door) refuseHTTP(w http.ResponseWriter, _ *http.Request) {
	_, line := d.state()
	h := w.Header()
	h.Set("Retry-After", retryAfter)
	h.Set("Content-Type", "application/problem+json")
	h.Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "about:blank", "title": "This node stands by", "status": http.StatusServiceUnavailable, "detail": line,
	})
}

// routes returns the handler of the paths that operators and balancers may request.
func (d *Door) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		_, line := d.state()
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, line)
	})
	m.HandleFunc("GET /cluster", func(w http.ResponseWriter, _ *http.Request) {
		state, _ := d.state()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(state)
	})
	m.Handle("GET /metrics", d.metrics)
	m.HandleFunc("/", d.refuseHTTP)
	return m
}
