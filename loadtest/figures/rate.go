package main

import (
	"time"

	"pmg/loadtest"
	"pmg/protocols/smpp"
)

// rates submits as an account with a rate of 100, a hundred submits for each of
// many logins, and then once as an honest client of that account.
func rates(b *bench) error {
	for _, polite := range []bool{true, false} {
		name := "submit and close"
		if polite {
			name = "submit and unbind"
		}
		if err := b.rate(name, polite); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) rate(name string, polite bool) error {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer sink.Close()
	g, err := b.start(setting{
		smsc: sink.Addr(), operator: "window: 100, instances: 4, reconnect_delay: 100ms",
		accounts: "  - {system_id: slow, password: secret, rate: 100}",
	})
	if err != nil {
		return err
	}
	defer g.kill()
	burst := bindPDU("slow", "secret")
	for range 100 {
		burst = append(burst, submitPDU(60)...)
	}
	if polite {
		burst = append(burst, emptyRequest(smpp.Unbind)...)
	}
	d := b.scaledTime(10 * time.Second)
	before := sink.Result().Submits
	for end := time.Now().Add(d); time.Now().Before(end); {
		c, err := connect(attacker, g.addr)
		if err != nil {
			continue
		}
		_, _ = c.Write(burst)
		_, _, _ = c.answer(time.Second) // of the login
		_, _, _ = c.answer(10 * time.Millisecond)
		c.Close()
	}
	b.record(name+": messages a second at a rate of 100", "%.0f", float64(sink.Result().Submits-before)/d.Seconds())
	began := time.Now()
	c, err := login(honest, g.addr, "slow", 30*time.Second)
	if err != nil {
		b.record(name+": the honest client afterwards", "not in after %.0f s: %v", time.Since(began).Seconds(), err)
		return nil
	}
	defer c.Close()
	_, _ = c.Write(submitPDU(60))
	if _, status, err := c.answer(2 * time.Minute); err != nil {
		b.record(name+": the honest client afterwards", "not answered after %.0f s", time.Since(began).Seconds())
	} else {
		b.record(name+": the honest client afterwards", "answered after %.3f s with status %#x", time.Since(began).Seconds(), status)
	}
	return nil
}

// closes counts the connections to an SMSC that closes each after its login.
func closes(b *bench) error {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Faults: loadtest.Faults{CloseBindEvery: 1}})
	if err != nil {
		return err
	}
	defer sink.Close()
	g, err := b.start(setting{smsc: sink.Addr(), operator: "reconnect_delay: 10s"})
	if err != nil {
		return err
	}
	defer g.kill()
	c, err := login(honest, g.addr, "load", 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_, _ = c.Write(submitPDU(60)) // there is something to send
	lines := g.logged()
	time.Sleep(b.scaledTime(10 * time.Second))
	b.record("connections", "%d", sink.Result().Binds)
	b.record("lines of its own log", "%d", g.logged()-lines)
	return nil
}
