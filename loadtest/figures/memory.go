package main

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pmg/loadtest"
)

// fill submits messages over a few connections until all are answered, or until there was
// no answer for ten seconds, and returns how many were accepted and refused.
func fill(g *gateway, clients, messages, size int) (accepted, refused int64) {
	var taken, not atomic.Int64
	one := submitPDU(size)
	var batch []byte
	const each = 10
	for range each {
		batch = append(batch, one...)
	}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			c, err := login(honest, g.addr, "load", 10*time.Second)
			if err != nil {
				return
			}
			defer c.Close()
			for range messages / clients / each {
				_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
				if _, err := c.Write(batch); err != nil {
					return
				}
				for range each {
					_, status, err := c.answer(10 * time.Second)
					switch {
					case err != nil:
						return
					case status == 0:
						taken.Add(1)
					default:
						not.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	return taken.Load(), not.Load()
}

const mb = 1e6

// large fills the queue of an SMSC that is down with messages as large as they can be.
func large(b *bench) error {
	messages := b.scaled(50000)
	for _, limit := range []string{"", "memory: 1GiB"} {
		name := "default"
		if limit != "" {
			name = limit
		}
		g, err := b.start(setting{
			smsc: "127.0.0.1:1", limits: limit, load: "share: 100", operator: "max_queue: 50000",
		})
		if err != nil {
			return err
		}
		accepted, refused := fill(g, 20, messages, 65000)
		now, most := g.memory()
		g.kill()
		b.record(name+": accepted, refused", "%d, %d", accepted, refused)
		b.record(name+": memory now, most", "%.0f MB, %.0f MB", float64(now)/mb, float64(most)/mb)
	}
	return nil
}

// small fills the queue of an SMSC that is down with short messages, starts the SMSC, and
// reads the memory a minute after all messages are sent.
func small(b *bench) error {
	messages := b.scaled(1_000_000)
	spare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	smsc := spare.Addr().String()
	spare.Close()
	g, err := b.start(setting{
		smsc: smsc, load: "share: 100", operator: "max_queue: 2000000, window: 100, instances: 4, reconnect_delay: 1s",
	})
	if err != nil {
		return err
	}
	defer g.kill()
	warm, _ := fill(g, 20, b.scaled(20000), 60) // memory that every gateway needs once
	empty, _ := g.memory()
	accepted, refused := fill(g, 20, messages, 60)
	full, _ := g.memory()
	b.record("accepted, refused", "%d, %d", accepted, refused)
	b.record("memory before, full", "%.0f MB, %.0f MB", float64(empty)/mb, float64(full)/mb)
	if accepted > 0 {
		b.record("octets of memory for each message", "%.0f", float64(full-empty)/float64(accepted))
	}
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: smsc})
	if err != nil {
		return err
	}
	defer sink.Close()
	for end := time.Now().Add(5 * time.Minute); sink.Result().Accepted < accepted+warm && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	sent, _ := g.memory()
	time.Sleep(b.scaledTime(time.Minute))
	after, _ := g.memory()
	b.record("delivered", "%d", sink.Result().Accepted)
	b.record("memory when all is sent, a minute later", "%.0f MB, %.0f MB", float64(sent)/mb, float64(after)/mb)
	return nil
}
