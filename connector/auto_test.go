package connector

import (
	"testing"

	"pmg/connector/autowindow"
	"pmg/sms"
)

// Of a window that the gateway finds, operations have a quarter of what is allowed now, not of what could ever be.
func TestAskAuto(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: auto, static: true")
	d.connect()
	for range autowindow.First {
		d.ask()
	}
	d.want("operations leave", autowindow.First/inquiryShare, 0, 0)
	for len(d.under)+len(d.Window.asking.waiting) > 0 {
		d.answer(sms.OK)
		d.send()
	}
	d.wantEmpty()
}

// Instances that are connected when they are needed have as many slots as a window begins with.
func TestDialAuto(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 5, window: auto, static: false")
	d.submit("a", 2*autowindow.First+1, nil)
	d.want("three instances are needed", 0, 3, 0)
}

// A window does not grow because a peer is quick to say that it has no room.
func TestAutoNoRoom(t *testing.T) {
	t.Parallel()
	for code, grows := range map[sms.Code]bool{
		sms.OK: true, sms.BadDestination: true, sms.QueueFull: false, sms.TemporaryFailure: false, sms.SystemError: false,
	} {
		d := newDesk(t, "instances: 1, window: auto, static: true")
		l := d.connect()
		d.clerk.aside = second
		d.submit("a", 3000, nil)
		for range 2000 {
			d.send()
			if len(d.under) == 0 {
				break
			}
			// an answer takes a tenth of a second, with any number under way
			d.now += second / 10 / int64(len(d.under))
			d.under[0].Sent = d.now - second/10
			d.answer(code)
		}
		if got := l.Allowed(); got > autowindow.First != grows {
			t.Errorf("%v: %d are allowed", code, got)
		}
	}
}
