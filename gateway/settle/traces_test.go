package settle

import (
	"testing"

	"pmg/events"
	"pmg/events/telemetry"
	"pmg/gateway/keep"
	"pmg/sms"
)

const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Clients have as many messages traced in a second as the operator allows, and further ones in the next.
func TestTracesAsked(t *testing.T) {
	t.Parallel()
	var a asked
	a.setRate(2)
	for i, want := range []bool{true, true, false, false} {
		if a.takes(now+int64(i)) != want {
			t.Errorf("message %d: %t", i, !want)
		}
	}
	for i, want := range []bool{true, true, false} {
		if a.takes(now+second) != want {
			t.Errorf("message %d of the next second: %t", i, !want)
		}
	}
	if none := (asked{}); none.takes(now) {
		t.Error("a rate of 0 takes one")
	}
}

// A message whose client asks for it is traced though it is not sampled, and so is its receipt: as part of the client's trace.
func TestTracesPlace(t *testing.T) {
	t.Parallel()
	d, _ := start(t, "")
	d.Traces.Exporter = &telemetry.Exporter{}
	d.Traces.asked.setRate(1)
	parent := d.Parent([]string{header})
	if len(parent) == 0 || d.Parent([]string{header}) != "" || d.Parent([]string{header, header}) != "" || d.Parent(nil) != "" {
		t.Errorf("%q", parent)
	}
	m := &sms.Message{ID: 7, Kind: sms.Submit, Sends: 1}
	if _, traced := d.Traces.place(m); traced {
		t.Error("a message is traced that is neither sampled nor asked for")
	}
	m.SetNative(sms.WithContext, (&sms.Context{Parent: parent}).Append(nil))
	p, traced := d.Traces.place(m)
	want, _ := telemetry.ParseParent(header)
	if !traced || p.trace != want.Trace || p.parent != want.Span || p.root != telemetry.SpanOf(7, rootSpan) {
		t.Errorf("%t %+v", traced, p)
	}
	if got := d.Traceparent(m); got != (telemetry.Parent{Trace: want.Trace, Span: telemetry.SpanOf(7, firstSpan)}).Header() {
		t.Error(got)
	}
	m.SetNative(sms.WithContext, (&sms.Context{Parent: parent[1:]}).Append(nil))
	if _, traced := d.Traces.place(m); traced {
		t.Error("a parent that is too short is one")
	}
	m.Sends = 255
	if n := attemptSpan(m); n != lastSpan {
		t.Errorf("attempt 255 has the number %d", n)
	}
}

// The answer that comes after its attempt was given up has a span of its own: that of the attempt has been sent.
func TestTracesLate(t *testing.T) {
	t.Parallel()
	d, _ := start(t, "")
	m := &sms.Message{ID: 7, Kind: sms.Submit, Sends: 1, Flags: sms.Settled}
	all := d.Traces.spans(place{root: telemetry.SpanOf(7, rootSpan)}, m, &keep.Ending{State: events.Sent, Answer: sms.Answer{At: now + 2*second}, Sent: now, Attempts: 1}, 0, now)
	if len(all) != 3 || all[1].Name != "send" || all[1].ID != telemetry.SpanOf(7, lateSpan) || all[1].Begin != now || all[1].End != now+2*second || all[1].Failed {
		t.Errorf("%+v", all)
	}
}

// Where there is no telemetry nothing is paid for it.
func TestTracesOff(t *testing.T) {
	d, _ := start(t, "")
	m, lane, headers := &sms.Message{ID: 7, Kind: sms.Submit}, d.table.LaneOf(d.table.Connector("operator")), []string{header}
	m.SetNative(sms.WithContext, (&sms.Context{Parent: "123456781234567812345678"}).Append(nil))
	if n := testing.AllocsPerRun(100, func() {
		d.Tried(lane, m, sms.Answer{Code: sms.QueueFull, At: now}, now)
		d.Told(m, 1, 200, "")
		if d.hasTrace(m, nil) || d.Traceparent(m) != "" || d.Parent(headers) != "" {
			t.Error("it is traced")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
