package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// F6, H15: limits.memory holds, whatever the size of messages. Submits beyond it are
// refused or not read.
func TestH15LargeMessages(t *testing.T) {
	parallel(t)
	const clients, each, size = 10, 300, 65000 // 195 MB
	c := startChild(t, 1000, site{
		limits: "memory: 64MiB", more: downRow(t, "operator", "max_queue: 50000"), routes: "{to: operator}", silent: true,
	})
	before := c.usage()
	line := fmt.Sprintf("submit_sm seq=1 source_addr=1234 destination_addr=46700000001 message_payload=\"%s\"", strings.Repeat("x", size))
	b := wire(t, line)
	var all []*received
	written := make(chan struct{}, clients)
	for range clients {
		p := dial(t, c.addr)
		p.bind("transmitter", "acme", "s3cret")
		all = append(all, p.listen())
		go func() {
			for range each {
				if _, err := p.conn.Write(b); err != nil {
					break
				}
			}
			written <- struct{}{}
		}()
	}
	answered := func() (n int) {
		for _, h := range all {
			n += h.of("submit_sm_resp")
		}
		return n
	}
	// All is read in the end, or the gateway does not read any more.
	for same, last := 0, -1; len(written) < clients && same < 10; {
		used := c.usage()
		if grown := int64(used.Memory) - int64(before.Memory); grown > 128<<20 {
			t.Fatalf("%d MiB are used with a limit of 64 MiB", grown>>20)
		}
		if now := answered(); now == last {
			same++
		} else {
			same, last = 0, now
		}
	}
	after := c.usage()
	if grown := int64(after.Memory) - int64(before.Memory); grown > 128<<20 {
		t.Errorf("%d MiB are used with a limit of 64 MiB", grown>>20)
	}
	// Another client can still log in and gets an answer.
	p := dial(t, c.addr)
	p.bind("transmitter", "acme", "s3cret")
	p.fence()
}

// H15: the limit also holds if an SMSC sends large messages without a route as fast as it
// can, and answers to requests that were never sent.
func TestH15FloodOfSMSC(t *testing.T) {
	parallel(t)
	const many, size = 2500, 60000 // 150 MB
	operator := newSMSC(t)
	c := startChild(t, 1000, site{
		operator: operator, limits: "memory: 64MiB", clients: "max_queue: 1000000",
		routes: "{from: operator, to: {account: acme}}\n{to: operator}", silent: true,
	})
	s := operator.session()
	before := c.usage()
	large := wire(t, fmt.Sprintf("deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 message_payload=\"%s\"", strings.Repeat("x", size)))
	unasked := bytes.Repeat(wire(t, "submit_sm_resp seq=4711 status=0 message_id=1"), 20)
	s.listen()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range many {
			if _, err := s.conn.Write(large); err != nil {
				return // the gateway may have closed the connection
			}
			if _, err := s.conn.Write(unasked); err != nil {
				return
			}
		}
	}()
	for more, looks := true, 0; more && looks < 50; looks++ { // it may not read any more
		select {
		case <-written:
			more = false
		default:
		}
		used := c.usage()
		if grown := int64(used.Memory) - int64(before.Memory); grown > 128<<20 {
			t.Fatalf("%d MiB are used with a limit of 64 MiB", grown>>20)
		}
	}
	p := dial(t, c.addr)
	p.bind("transmitter", "acme", "s3cret")
	p.fence()
}
