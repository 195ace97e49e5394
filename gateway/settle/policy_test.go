package settle

import (
	"fmt"
	"testing"
	"time"

	"pmg/connector"
	"pmg/sms"
)

// What each code of an answer leads to: whether the message is sent again, at which time
// at the earliest, whether the lane pauses, and what is counted (F15, F18, H8, H9).
func TestSettle(t *testing.T) {
	t.Parallel()
	type outcome struct {
		again                       bool
		pause, aside                time.Duration
		attempts, losses, throttles uint8
	}
	retried := outcome{again: true, aside: 5 * time.Second, attempts: 1}
	want := map[sms.Code]outcome{
		sms.Throttled:        {again: true, pause: 2 * time.Second, throttles: 1},
		sms.NoCredit:         {again: true, pause: 2 * time.Second, throttles: 1},
		sms.QueueFull:        retried, // F15: this may be the queue of one recipient
		sms.TemporaryFailure: retried,
		sms.SystemError:      retried,
		sms.Faulty:           retried, // and put aside when it has been tried three times
		sms.Timeout:          retried,
		sms.Undecided:        retried,
		sms.BadState:         {again: true, losses: 1}, // P6: the session ends
		sms.Lost:             {again: true, losses: 1}, // with other messages under way: not counted as its fault
	}
	d, operator := start(t, "throttle_pause: 2s, retry: [5s, 7s]")
	lane := d.table.LaneOf(operator)
	settle := func(m *sms.Message, code sms.Code, alone bool) connector.Outcome {
		m.NotBefore = 0
		return d.Settle(lane, m, sms.Answer{Code: code, At: now}, alone)
	}
	compare := func(code sms.Code, m *sms.Message, o connector.Outcome, want outcome) {
		t.Helper()
		got := outcome{again: o.Again, attempts: m.Attempts, losses: m.Losses, throttles: m.Throttles}
		if o.Pause != 0 {
			got.pause = time.Duration(o.Pause - now)
		}
		if m.NotBefore != 0 {
			got.aside = time.Duration(m.NotBefore - now)
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", code, got, want)
		}
	}
	for _, code := range sms.Codes() {
		if code == sms.OK {
			continue
		}
		m := &sms.Message{Origin: &sms.Origin{Account: "client"}}
		compare(code, m, settle(m, code, false), want[code])
	}
	m := &sms.Message{Origin: &sms.Origin{Account: "client"}}
	compare(sms.Lost, m, settle(m, sms.Lost, true), outcome{again: true, aside: 5 * time.Second, attempts: 1, losses: 1})

	ends := &sms.Message{Origin: &sms.Origin{Account: "client"}}
	for n, want := range []outcome{{again: true, aside: 5 * time.Second, attempts: 1, losses: 1}, {again: true, aside: 7 * time.Second, attempts: 2, losses: 2}} {
		if compare(sms.BadState, ends, settle(ends, sms.BadState, true), want); n == 1 && settle(ends, sms.BadState, true).Again {
			t.Error("a message may end sessions for ever")
		}
	}
	for range 40 { // this is not the message's fault, so it is not given up
		settle(m, sms.Lost, false)
	}
	if m.Attempts != 1 {
		t.Errorf("%d attempts after sessions that ended under others as well", m.Attempts)
	}
	settle(m, sms.QueueFull, false)
	if o := settle(m, sms.TemporaryFailure, false); o.Again {
		t.Error("sent again after the last pause")
	}
}

// A message that the peer throttles again and again has to wait, so that others go first.
// Any other answer resets that.
func TestSettleThrottled(t *testing.T) {
	t.Parallel()
	d, operator := start(t, "throttle_pause: 2s, retry: 5s")
	lane, m := d.table.LaneOf(operator), &sms.Message{Origin: &sms.Origin{Account: "client"}}
	for n := range 6 {
		m.NotBefore = 0
		o := d.Settle(lane, m, sms.Answer{Code: sms.Throttled, At: now}, false)
		if !o.Again || (m.NotBefore > 0) != (n >= patience) || m.Attempts != 0 {
			t.Errorf("throttled %d times: %+v, not before now+%d, %d attempts", n+1, o, m.NotBefore-now, m.Attempts)
		}
	}
	d.Settle(lane, m, sms.Answer{Code: sms.QueueFull, At: now}, false)
	if m.Throttles != 0 || m.Attempts != 1 {
		t.Errorf("%d throttles and %d attempts after another answer", m.Throttles, m.Attempts)
	}
}

// Rules about statuses say how long the lane pauses. Where they ask for another target and there is none, the message is sent
// again as retry says.
func TestSettleByStatus(t *testing.T) {
	t.Parallel()
	d, operator := start(t, "throttle_pause: 2s, retry: 5s, statuses: [{status: 1, is: throttled, pause: 1m}, "+
		"{status: 2, is: failover, pause: 30s}, {status: 3, is: permanent, pause: 1h}, {status: 4, is: failover}]")
	for _, c := range []struct {
		status uint32
		code   sms.Code
		pause  time.Duration
		again  bool
	}{
		{0, sms.Throttled, 2 * time.Second, true},
		{1, sms.Throttled, time.Minute, true},
		{2, sms.TemporaryFailure, 30 * time.Second, true},
		{3, sms.Rejected, time.Hour, false},
		{4, sms.TemporaryFailure, 0, true},
		{5, sms.TemporaryFailure, 0, true},
		{0, sms.Lost, 0, true},
	} {
		m := &sms.Message{Origin: &sms.Origin{Account: "client"}}
		o := d.Settle(d.table.LaneOf(operator), m, sms.Answer{Code: c.code, Status: c.status, At: now}, false)
		if o.Pause != 0 {
			o.Pause -= now
		}
		if o.Again != c.again || time.Duration(o.Pause) != c.pause {
			t.Errorf("%+v: again %t, pause %s", c, o.Again, time.Duration(o.Pause))
		}
	}
}

// A message without an answer may have been delivered: on_unknown decides what follows.
func TestSettleUnknown(t *testing.T) {
	t.Parallel()
	d, operator := start(t, "on_unknown: fail")
	for _, code := range []sms.Code{sms.Timeout, sms.Lost} {
		for _, alone := range []bool{false, true} {
			if o := d.Settle(d.table.LaneOf(operator), &sms.Message{Origin: &sms.Origin{Account: "client"}}, sms.Answer{Code: code, At: now}, alone); o.Again {
				t.Errorf("%s, alone %t: sent again", code, alone)
			}
		}
	}
}

// A failing is what the options of a lane make of a message that fails again and again.
type failing struct {
	options string
	code    sms.Code
	want    []time.Duration
	then    time.Duration // which the pauses go on with; 0: it is given up
}

func (c failing) check(t *testing.T, d *Settler, lane *connector.Lane) {
	t.Helper()
	m := &sms.Message{Origin: &sms.Origin{Connector: "clients"}}
	for n := range 300 {
		m.NotBefore = now
		want, again := c.then, c.then > 0
		if n < len(c.want) {
			want, again = c.want[n], true
		}
		o := d.Settle(lane, m, sms.Answer{Code: c.code, At: now}, true)
		if got := time.Duration(m.NotBefore - now); o.Again != again || again && got != want {
			t.Errorf("%s, %s: failure %d: again %t after %s, want %t after %s", c.options, c.code, n+1, o.Again, got, again, want)
		}
		if !again || !o.Again {
			break
		}
	}
}

// A message for a client goes on with the last pause, because only the end of its validity may
// lose a receipt. A permanent refusal ends it, and so does what the options say of messages
// without an answer.
func TestSettleForClients(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, c := range []failing{
		{"", sms.SystemError, []time.Duration{10 * s, 60 * s, 300 * s}, 1800 * s},
		{"", sms.Timeout, []time.Duration{10 * s, 60 * s, 300 * s}, 1800 * s},
		{"retry: [1s, 2s]", sms.QueueFull, []time.Duration{1 * s}, 2 * s},
		{"retry: [1s, 2s, repeat]", sms.QueueFull, []time.Duration{1 * s}, 2 * s},
		{"retry: {throttled: [1s, 4s]}", sms.Throttled, []time.Duration{0, 0, 0, 1 * s}, 4 * s},
		{"retry: {lost: [3s]}", sms.Lost, nil, 3 * s},
		{"retry: []", sms.QueueFull, nil, 0},
		{"on_unknown: fail", sms.Timeout, nil, 0},
		{"on_unknown: fail", sms.SystemError, []time.Duration{10 * s, 60 * s, 300 * s}, 1800 * s},
		{"", sms.Rejected, nil, 0},
	} {
		d := startWith(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0", %s}]
`, c.options))
		c.check(t, d, d.table.ClientLane("client", nil))
	}
}

// P6: a message with a validity is not given up before that by default, where the peer cannot take
// it for a while. A list of pauses in the configuration says how often instead.
func TestSettleValidity(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]bool{"": true, "retry: [1s, 2s]": false, "retry: {temporary: []}": false, "retry: {lost: [1s]}": true} {
		d, operator := start(t, options)
		m := &sms.Message{Origin: &sms.Origin{Account: "client"}, Expires: now + 3600*24*second}
		var o connector.Outcome
		for range 300 {
			o = d.Settle(d.table.LaneOf(operator), m, sms.Answer{Code: sms.QueueFull, At: now}, true)
		}
		if o.Again != want || want && m.NotBefore != now+30*60*second {
			t.Errorf("%q: again %t, after %ds", options, o.Again, (m.NotBefore-now)/second)
		}
		if o = d.Settle(d.table.LaneOf(operator), m, sms.Answer{Code: sms.Timeout, At: now}, true); o.Again {
			t.Errorf("%q: a message that may have been delivered is sent for ever", options)
		}
	}
}

// Each kind of failure has its own pauses, and one count of attempts. A message is given up when
// it fails after the last one, or never.
func TestSettlePauses(t *testing.T) {
	t.Parallel()
	const s = time.Second
	ever := []time.Duration{10 * s, 60 * s, 300 * s, 1800 * s}
	for _, c := range []failing{
		{"", sms.TemporaryFailure, ever, 0},
		{"", sms.Lost, ever, 0},
		{"", sms.Throttled, []time.Duration{0, 0, 0, 10 * s, 60 * s}, 300 * s},
		{"retry: [1s, 2s, repeat]", sms.QueueFull, []time.Duration{1 * s}, 2 * s},
		{"retry: 1s", sms.QueueFull, []time.Duration{1 * s}, 0},
		{"retry: []", sms.SystemError, nil, 0},
		{"retry: {lost: [3s]}", sms.Timeout, []time.Duration{3 * s}, 0},
		{"retry: {lost: []}", sms.Timeout, nil, 0},
		{"retry: {lost: [3s]}", sms.SystemError, ever, 0},
		{"retry: {lost: [3s, repeat]}, on_unknown: fail", sms.Timeout, nil, 0},
		{"retry: {throttled: [1s, 4s]}", sms.Throttled, []time.Duration{0, 0, 0, 1 * s, 4 * s}, 0},
		{"retry: [1s, 4s]", sms.Throttled, []time.Duration{0, 0, 0, 1 * s}, 4 * s},
		{"retry: {lost: [3s]}", sms.BadState, []time.Duration{3 * s}, 0},
		{"retry: [1s, repeat]", sms.Rejected, nil, 0},
	} {
		d, operator := start(t, c.options)
		c.check(t, d, d.table.LaneOf(operator))
	}
}
