package ucp

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A server's sessions flow the way that its connector says.
func TestTraffic(t *testing.T) {
	for traffic, refused := range map[protocols.BindType]bool{
		protocols.Transmitter: false, protocols.Receiver: true, protocols.Transceiver: false,
	} {
		o := NewConnectorOptions()
		o.Traffic = traffic
		d := New(Options{})
		n := node{d, d.NewSession(protocols.SessionOptions{Options: o})}
		p := n.read(t, "op60 seq=0 OAdC=acme STYP=1 PWD=733363726574 VERS=0100")
		if a := n.Receive(now, p); a.Kind != protocols.Login || a.Credentials.Bind != traffic {
			t.Fatalf("%s: got %+v", traffic, a)
		}
		n.Login(now, p, sms.OK)
		if n.Bound() != traffic || !n.Accepting() {
			t.Errorf("%s: bound as %s", traffic, n.Bound())
		}
		p = n.read(t, `op51 seq=1 AdC=1 OAdC=1234 MT=3 AMsg="hi"`)
		if a := n.Receive(now, p); (a.Kind == protocols.Send) != refused || refused && p.Status() != ecNotAllowed {
			t.Errorf("%s: got %+v, status %d", traffic, a, p.Status())
		}
		p = n.read(t, "op31 seq=2 AdC=acme PID=0539")
		if a := n.Receive(now, p); a.Kind != protocols.Send || p.Status() != 0 {
			t.Errorf("%s: 31 got %+v, status %d", traffic, a, p.Status())
		}
	}
}
