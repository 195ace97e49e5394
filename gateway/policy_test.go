package gateway

import (
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
		sms.QueueFull:        retried, // F15: this may be the queue of one recipient
		sms.TemporaryFailure: retried,
		sms.SystemError:      retried,
		sms.Timeout:          retried,
		sms.Lost:             {again: true, losses: 1}, // with other messages under way: not counted as its fault
	}
	g, _, operator := start(t, "throttle_pause: 2s, retry_delay: 5s, max_attempts: 3")
	lane := g.LaneOf(operator)
	settle := func(m *sms.Message, code sms.Code, alone bool) connector.Outcome {
		m.NotBefore = 0
		return g.Settle(lane, m, sms.Answer{Code: code, At: now}, alone)
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
		m := &sms.Message{}
		compare(code, m, settle(m, code, false), want[code])
	}
	m := &sms.Message{}
	compare(sms.Lost, m, settle(m, sms.Lost, true), outcome{again: true, aside: 5 * time.Second, attempts: 1, losses: 1})

	for range 40 { // this is not the message's fault, so it is not given up
		settle(m, sms.Lost, false)
	}
	if m.Attempts != 1 {
		t.Errorf("%d attempts after sessions that ended under others as well", m.Attempts)
	}
	settle(m, sms.QueueFull, false)
	if o := settle(m, sms.TemporaryFailure, false); o.Again {
		t.Error("sent again after max_attempts")
	}
}

// A message that the peer throttles again and again has to wait, so that others go first.
// Any other answer resets that.
func TestSettleThrottled(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "throttle_pause: 2s, retry_delay: 5s")
	lane, m := g.LaneOf(operator), &sms.Message{}
	for n := range 6 {
		m.NotBefore = 0
		o := g.Settle(lane, m, sms.Answer{Code: sms.Throttled, At: now}, false)
		if !o.Again || (m.NotBefore > 0) != (n >= patience) || m.Attempts != 0 {
			t.Errorf("throttled %d times: %+v, not before now+%d, %d attempts", n+1, o, m.NotBefore-now, m.Attempts)
		}
	}
	g.Settle(lane, m, sms.Answer{Code: sms.QueueFull, At: now}, false)
	if m.Throttles != 0 || m.Attempts != 1 {
		t.Errorf("%d throttles and %d attempts after another answer", m.Throttles, m.Attempts)
	}
}

// A message without an answer may have been delivered: on_unknown decides what follows.
func TestSettleUnknown(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "on_unknown: fail")
	for _, code := range []sms.Code{sms.Timeout, sms.Lost} {
		for _, alone := range []bool{false, true} {
			if o := g.Settle(g.LaneOf(operator), &sms.Message{}, sms.Answer{Code: code, At: now}, alone); o.Again {
				t.Errorf("%s, alone %t: sent again", code, alone)
			}
		}
	}
}

// The delay between retries grows up to a limit. The count of attempts ends at its
// highest value, and a message is given up then, whatever max_attempts is.
func TestStepAside(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "retry_delay: 5s, max_attempts: 1000")
	cfg := operator.Config()
	for attempts, want := range map[uint8]time.Duration{1: 5, 2: 10, 3: 20, 7: 300, 255: 300} {
		if got := stepAside(cfg, attempts); got != int64(want*time.Second) {
			t.Errorf("after %d attempts: %v, want %v", attempts, time.Duration(got), want*time.Second)
		}
	}
	m := &sms.Message{}
	for n := 1; g.Settle(g.LaneOf(operator), m, sms.Answer{Code: sms.TemporaryFailure, At: now}, false).Again; n++ {
		if n > 1000 {
			t.Fatal("never given up")
		}
	}
}
