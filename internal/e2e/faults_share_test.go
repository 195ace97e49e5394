package e2e

import (
	"fmt"
	"testing"
	"time"

	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
)

// downRow returns the configuration of a connector to an SMSC that is down.
func downRow(t *testing.T, name, options string) string {
	s := newSMSC(t)
	s.down()
	return row(name, s, options)
}

// F7, H6: an account whose messages wait for an SMSC that is down does not stop other
// accounts, neither on the same connector nor on another.
func TestF7AccountFillsItsShare(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, accounts: otherAccount, limits: "max_jobs: 1000",
		more:   downRow(t, "dead", "max_queue: 100"),
		routes: "{destination: 4670, to: dead}\n{to: operator}",
	})
	s := operator.session()
	for i := range 20 { // 4,000 submits
		p := g.bind("transmitter")
		var lines []string
		for n := range 200 {
			lines = append(lines, submitLine(1000*i+n))
		}
		p.writeQuietly(wire(t, lines...))
		p.listen()
	}
	testutil.Eventually(t, "the queue has been used", func() bool { return g.Gateway.Table.Connector("dead").Queued() >= 20 })
	other := g.bindOther("transmitter")
	for n := 1; n <= 20; n++ {
		other.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=49700000001 short_message=\"%d\"", n, n))
		other.accepted(n, n)
		s.serve(n, n)
		other.fence()
	}
	// And the queue of the dead connector still has room for its messages.
	other.put(100, 104)
}

// F7: the same with queue_full: refuse.
func TestF7ShareRefuses(t *testing.T) {
	parallel(t)
	g := start(t, site{
		accounts: otherAccount, more: downRow(t, "dead", "max_queue: 100, queue_full: refuse"), routes: "{to: dead}",
	})
	c := g.bind("transmitter")
	c.submit(1, 150)
	heard := c.listen()
	testutil.Eventually(t, "everything is answered", func() bool { return heard.of("submit_sm_resp") == 150 })
	if n := heard.of("submit_sm_resp", "ESME_RMSGQFUL"); n < 50 {
		t.Errorf("%d were refused", n)
	}
	other := g.bindOther("transmitter")
	other.submit(1, 5)
	other.accepted(1, 5)
}

// F5, H2: an account's rate is that of all its sessions together, including successive
// ones. Submits are read no faster, or are throttled.
func TestF5RateOverReconnects(t *testing.T) {
	parallel(t)
	for _, polite := range []bool{false, true} {
		t.Run(fmt.Sprint("unbind=", polite), func(t *testing.T) {
			t.Parallel()
			const rate, sessions, each = 100, 40, 100
			smsc := smpppeer.StartSMSC(t, "secret", false)
			g := start(t, site{
				accounts: fmt.Sprintf("{system_id: slow, password: s3cret, rate: %d}", rate),
				more:     fmt.Sprintf("{name: operator, direction: out, address: %q, system_id: pmg, password: secret, window: 100}\n", smsc.Addr()),
				routes:   "{to: operator}",
			})
			g.online("operator", 1)
			watch := g.bind("transmitter")
			burst := wire(t, bindLine("transmitter", "slow", "s3cret"))
			for n := range each {
				burst = append(burst, wire(t, submitLine(n+2))...)
			}
			if polite {
				burst = append(burst, wire(t, "unbind seq=1000")...)
			}
			began := time.Now()
			for range sessions {
				p := g.dial("clients")
				p.write(burst)
				p.want("bind_transmitter_resp", "status=0")
				for range 3 {
					watch.exchange() // meanwhile the gateway reads as much of the burst as it accepts
				}
				p.conn.Close()
			}
			got := g.stats("clients").Accepted.Load()
			if most := int64(rate * (time.Since(began).Seconds() + 3)); got > most {
				t.Errorf("%d of %d messages were accepted, more than %d at a rate of %d", got, sessions*each, most, rate)
			}
			// An honest client of the account is answered, even if only with a throttled status.
			p := g.dial("clients")
			p.bind("transmitter", "slow", "s3cret")
			p.submit(1, 1)
			p.want("submit_sm_resp", "seq=1")
		})
	}
}

// hour is a delivery time an hour from now.
const hour = "schedule_delivery_time=000000010000000R"

// F16: scheduled messages have a limit of their own. Messages of other accounts, and those
// of this account that are not scheduled, are accepted as before.
func TestF16ManyScheduled(t *testing.T) {
	parallel(t)
	const many = 10_900 // 10,000 may be; after 1,000 refusals the client would be slowed
	operator := newSMSC(t)
	g := start(t, site{operator: operator, accounts: otherAccount})
	s := operator.session()
	c := g.bind("transmitter")
	b := make([]byte, 0, 8<<20)
	for n := range many {
		b = append(b, wire(t, submitLine(n+10, hour))...)
	}
	heard := c.listen()
	c.writeQuietly(b)
	testutil.Eventually(t, "all of them are answered", func() bool { return heard.of("submit_sm_resp") == many })
	other := g.bindOther("transmitter")
	other.submit(1, 5)
	other.accepted(1, 5)
	s.serve(1, 5)
	same := g.bind("transmitter")
	same.submit(6, 8)
	same.accepted(6, 8)
	s.serve(6, 8)
	s.conn.Close()
}

// H17: clients that connect and disconnect do not delay others, even if many submits wait.
func TestH17ChurnBesideWaiting(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, accounts: otherAccount,
		more:   downRow(t, "dead", "max_queue: 10"),
		routes: "{destination: 4670, to: dead}\n{to: operator}",
	})
	s := operator.session()
	for i := range 20 {
		p := g.bind("transmitter")
		var lines []string
		for n := range 300 {
			lines = append(lines, submitLine(300*i+n))
		}
		p.writeQuietly(wire(t, lines...))
		p.listen()
	}
	other := g.bindOther("transmitter")
	login := wire(t, bindLine("transmitter", "acme", "s3cret"))
	for n := range 300 {
		p := g.dial("clients")
		_, _ = p.conn.Write(login)
		p.conn.Close()
		if n%10 == 0 {
			other.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=49700000001 short_message=\"%d\"", n, n))
			other.accepted(n, n)
			s.serve(n, n)
		}
	}
}
