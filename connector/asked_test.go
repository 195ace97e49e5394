package connector

import (
	"slices"
	"testing"

	"pmg/sms"
)

// ask asks the lane's peer, and returns where the codes of the outcome are added.
func (d *desk) ask() *[]sms.Code {
	var codes []sms.Code
	a := &Inquiry{Deadline: d.now + 5*second, Done: func(code sms.Code) { codes = append(codes, code) }}
	a.Request.Message = &sms.Message{ID: 1, Origin: d.share("a").Origin}
	d.Ask(a)
	return &codes
}

func (d *desk) wantCodes(why string, got *[]sms.Code, want ...sms.Code) {
	d.t.Helper()
	if !slices.Equal(*got, want) {
		d.t.Errorf("%s: got %v, want %v", why, *got, want)
	}
}

// An operation takes a slot and ends once, whatever becomes of it. It is not a message.
func TestAsk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 1, static: true, on_unknown: fail, rate: 1")
	none := d.ask()
	d.wantCodes("no session", none, sms.Lost)
	l := d.connect()
	answered := d.ask()
	d.want("the operation leaves", 1, 0, 0)
	d.Window.EachUnderWay(func(m *sms.Message) { t.Errorf("message %d is under way", m.ID) })
	waits := d.ask()
	d.want("no slot is free", 0, 0, d.now+second)
	d.wantCodes("under way", answered)
	d.answer(sms.OK)
	d.wantCodes("answered", answered, sms.OK)
	d.want("the rate allows one a second", 0, 0, d.now+second)
	d.now += 6 * second
	d.want("it has waited for too long", 0, 0, 0)
	d.wantCodes("too long", waits, sms.Lost)

	for _, code := range []sms.Code{sms.Throttled, sms.Faulty, sms.Rejected} {
		d.now += second
		got := d.ask()
		d.want("an operation that fails", 1, 0, 0)
		d.answer(code)
		d.wantCodes("failed", got, code)
	}
	d.now += second
	unsent := d.ask()
	d.want("one that is not written", 1, 0, 0)
	d.Unsent(d.now, d.take(0))
	d.wantCodes("not written", unsent, sms.Lost)
	d.now += second
	lost := d.ask()
	d.want("one whose session ends", 1, 0, 0)
	behind := d.ask()
	d.lose(l)
	d.wantCodes("session over", lost, sms.Lost)
	d.Tick(d.now)
	d.wantCodes("no session is left", behind, sms.Lost)
	if len(d.notes)+len(d.stayed)+len(d.ended) != 0 || len(d.Window.asking.waiting) != 0 {
		t.Errorf("%v %v %v, %d wait", d.notes, d.stayed, d.ended, len(d.Window.asking.waiting))
	}
	d.wantEmpty()
}

// A tick ends the operations that wait for a slot, so that there is room for others.
func TestAskTick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 1, static: true")
	d.connect()
	d.ask()
	d.want("it takes the slot", 1, 0, 0)
	late := d.ask()
	d.now += 6 * second
	d.Tick(d.now)
	d.wantCodes("too long", late, sms.Lost)
}

// However many operations wait, messages leave: operations have a quarter of the slots, and take
// turns with the messages.
func TestAskTurns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 8, static: true")
	d.connect()
	d.submit("a", 9, nil)
	for range 5 {
		d.ask()
	}
	d.want("the window is full", 8, 0, 0)
	asked := func() (which []bool) {
		for _, slot := range d.under {
			which = append(which, slot.Inquiry != nil)
		}
		return which
	}
	if got, want := asked(), []bool{true, false, true, false, false, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("operations are %v, want %v", got, want)
	}
	for range 3 {
		d.answer(sms.OK)
	}
	d.want("three slots are free", 3, 0, 0)
	if got, want := asked()[5:], []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("then operations are %v, want %v", got, want)
	}
	for len(d.under) > 0 {
		d.answer(sms.OK)
		d.send()
	}
	if len(d.Window.asking.waiting) != 0 || d.Window.asking.underWay != 0 {
		t.Errorf("%d operations wait, %d are under way", len(d.Window.asking.waiting), d.Window.asking.underWay)
	}
	d.wantEmpty()
}

// A peer that has not answered an operation in time is asked for nothing for a while, because
// operations that it never answers would keep messages from its slots. One whose answer comes late
// is asked again.
func TestAskSilent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 1, static: true, response_timeout: 2s")
	l := d.connect()
	silent := func() {
		t.Helper()
		got := d.ask()
		d.want("an operation", 1, 0, 0)
		d.answer(sms.Timeout)
		d.wantCodes("not answered", got, sms.Timeout)
		got = d.ask()
		d.submit("a", 1, nil)
		d.want("only the message leaves", 1, 0, 0)
		d.wantCodes("the peer is silent", got, sms.Lost)
		d.answer(sms.OK)
	}
	silent()
	d.now += 9 * second
	silent()
	d.AnsweredLate(l, Unanswered{Asked: true}, sms.Answer{Code: sms.OK, At: d.now})
	got := d.ask()
	d.want("behind a late answer", 1, 0, 0)
	d.answer(sms.OK)
	d.wantCodes("answered", got, sms.OK)
	d.wantEmpty()
}
