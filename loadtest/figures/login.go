package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pmg/protocols/smpp"
)

// idle holds silent connections open, opens those again that the gateway closes, and logs
// in from another address.
func idle(b *bench) error {
	g, err := b.start(setting{smsc: "127.0.0.1:1"})
	if err != nil {
		return err
	}
	defer g.kill()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	connections := b.scaled(1500)
	var opened atomic.Int64
	for range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				if c, err := connect(attacker, g.addr); err == nil {
					opened.Add(1)
					stop := context.AfterFunc(ctx, func() { c.Close() })
					_, _, _ = c.answer(time.Hour)
					stop()
					c.Close()
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	for opened.Load() < int64(connections) {
		time.Sleep(10 * time.Millisecond)
	}
	good, longest := 0, time.Duration(0)
	const tries = 20
	for range tries {
		began := time.Now()
		c, err := login(honest, g.addr, "load", 5*time.Second)
		if err != nil {
			continue
		}
		defer c.Close()
		good++
		longest = max(longest, time.Since(began))
	}
	b.record(fmt.Sprintf("logins from another address within 5 s, of %d, beside %d idle connections", tries, connections), "%d", good)
	if good > 0 {
		b.record("longest of them", "%.1f ms", longest.Seconds()*1000)
	}
	return nil
}

// guesses tries passwords and hangs up after a few milliseconds, before it is refused. One
// of each thousand guesses is right, so the number of successful logins shows how many
// guesses were checked.
func guesses(b *bench) error {
	g, err := b.start(setting{smsc: "127.0.0.1:1"})
	if err != nil {
		return err
	}
	defer g.kill()
	var tried, found atomic.Int64
	var wg sync.WaitGroup
	d := b.scaledTime(10 * time.Second)
	end := time.Now().Add(d)
	for range 16 {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				c, err := connect(attacker, g.addr)
				if err != nil {
					continue
				}
				password := "wrong"
				if n%10 == 9 {
					password = "secret"
				}
				_, _ = c.Write(bindPDU("load", password))
				tried.Add(1)
				if _, status, err := c.answer(5 * time.Millisecond); err == nil && status == 0 {
					found.Add(1)
				}
				_ = c.Conn.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		})
	}
	wg.Wait()
	b.record("guesses a second that were sent", "%.0f", float64(tried.Load())/d.Seconds())
	b.record("guesses a second whose answer the guesser got", "%.0f", float64(10*found.Load())/d.Seconds())
	began := time.Now()
	c, err := login(attacker, g.addr, "load", b.scaledTime(2*time.Minute))
	if err != nil {
		b.record("right password from that address afterwards", "not in after %.0f s: %v", time.Since(began).Seconds(), err)
	} else {
		b.record("right password from that address afterwards", "in after %.3f s", time.Since(began).Seconds())
		c.Close()
	}
	began = time.Now()
	if c, err = login(honest, g.addr, "load", 10*time.Second); err != nil {
		b.record("from another address", "not in after %.0f s: %v", time.Since(began).Seconds(), err)
		return nil
	}
	b.record("from another address", "in after %.3f s", time.Since(began).Seconds())
	c.Close()
	return nil
}

// flood sends keep-alives over four connections that never log in; a connection
// that is closed is opened again.
func flood(b *bench) error {
	g, err := b.start(setting{smsc: "127.0.0.1:1"})
	if err != nil {
		return err
	}
	defer g.kill()
	one := emptyRequest(smpp.EnquireLink)
	var many []byte
	for range 1000 {
		many = append(many, one...)
	}
	var answered, connections atomic.Int64
	var wg sync.WaitGroup
	d := b.scaledTime(time.Minute)
	end := time.Now().Add(d)
	written := g.written()
	for range 4 {
		wg.Go(func() {
			for time.Now().Before(end) {
				c, err := connect(attacker, g.addr)
				if err != nil {
					continue
				}
				connections.Add(1)
				go func() {
					for {
						if _, err := c.Write(many); err != nil {
							return
						}
					}
				}()
				buf := make([]byte, 1<<16)
				_ = c.SetReadDeadline(end)
				for {
					n, err := c.Read(buf)
					answered.Add(int64(n / len(one)))
					if err != nil {
						break
					}
				}
				c.Close()
			}
		})
	}
	wg.Wait()
	octets, files := g.pdulog()
	b.record("keep-alives a second that were answered", "%.0f", float64(answered.Load())/d.Seconds())
	b.record("connections a second", "%.0f", float64(connections.Load())/d.Seconds())
	b.record("written", "%.1f MB", float64(g.written()-written)/1e6)
	b.record("pdu log on disk", "%.1f MB in %d files", float64(octets)/1e6, files)
	b.record("lines of its own log", "%d", g.logged())
	return nil
}
