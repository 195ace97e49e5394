package webhook

import (
	"io"
	"slices"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/httpapi/apitest"
	"pmg/httpapi/server"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// An idleEngine does nothing with lanes.
type idleEngine struct{}

func (idleEngine) Do(*connector.Lane, func(int64)) bool { return true }

// After a fault at a call its message is put aside, and nothing else ends.
func TestCallPanics(t *testing.T) {
	g := apitest.NewGateway(t, io.Discard)
	const dialect = 99
	events := &Events{rooms: roomsOf(g), logOf: func(*connector.Connector) *server.Log { return nil }}
	c := newCourier(New(roomsOf(g), idleEngine{}, events), &connector.Lane{Client: connector.Client{Account: "client", Endpoint: "http://192.0.2.1"}})
	c.service.dialects.reports[dialect] = func(*httpsms.Event) (*httpsms.Call, bool) { panic("fault") }
	var m sms.Message
	m.Origin = g.Node.Origins.Of("", "api")
	context := sms.Context{Dialect: dialect, URL: "http://192.0.2.1/"}
	m.SetReport(sms.Address{}, sms.Address{}, &sms.Report{Known: 7, State: sms.StateDelivered, Context: context.Append(nil)})
	one := &connector.Slot{Message: &m}
	a := *g.Table.Account("client")
	for _, a.WebhookBatch = range []int{1, 2} {
		for _, o := range c.try(&a, []*connector.Slot{one, one}) {
			if o.Code != sms.Faulty {
				t.Errorf("%+v", o)
			}
		}
	}
}

// An event that comes after the end of its message, for which the webhook was called, is dropped, whichever order they
// come in.
func TestOvertaken(t *testing.T) {
	g := apitest.NewGateway(t, io.Discard)
	const dialect = 98
	var told []sms.State
	events := &Events{rooms: roomsOf(g), logOf: func(*connector.Connector) *server.Log { return nil }}
	l := &connector.Lane{Client: connector.Client{Account: "client", Endpoint: "http://192.0.2.1"}}
	c := newCourier(New(roomsOf(g), idleEngine{}, events), l)
	c.service.dialects.reports[dialect] = func(e *httpsms.Event) (*httpsms.Call, bool) { told = append(told, e.Report.State); return nil, false }
	event := func(about uint64, state sms.State) *connector.Slot {
		var m sms.Message
		m.Origin = g.Node.Origins.Of("", "api")
		context := sms.Context{Dialect: dialect, URL: "http://192.0.2.1/"}
		m.SetReport(sms.Address{}, sms.Address{}, &sms.Report{Known: about, State: state, Context: context.Append(nil)})
		return &connector.Slot{Message: &m}
	}
	for _, s := range []*connector.Slot{
		event(7, sms.StateEnroute), event(7, sms.StateDelivered), event(7, sms.StateEnroute), event(7, sms.StateDelivered), event(8, sms.StateEnroute),
	} {
		if o := c.try(g.Table.Account("client"), []*connector.Slot{s})[0]; o.Code != sms.OK {
			t.Errorf("%+v", o)
		}
	}
	if want := []sms.State{sms.StateEnroute, sms.StateDelivered, sms.StateDelivered, sms.StateEnroute}; !slices.Equal(told, want) {
		t.Errorf("told are %v, want %v", told, want)
	}
}

// Where callbacks of as many batches of an account as may go on, those of the next one are not made, and the log says so.
func TestBatchesBound(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := apitest.NewGateway(t, &log)
	c := New(roomsOf(g), idleEngine{}, nil)
	defer c.Close()
	for range batchesOfAccount {
		c.batches.begin("client")
	}
	c.CallOnce(g.Table.Account("client"), []*httpsms.Call{{Method: "GET", URL: "http://192.0.2.1/x?id=1"}})
	if text := log.String(); !strings.Contains(text, "batches of the account are being made") || !strings.Contains(text, `"http://192.0.2.1/x"`) {
		t.Error(text)
	}
}

// The batches of an account take few of the places for callbacks of batches, so that those of others have theirs.
func TestBatches(t *testing.T) {
	t.Parallel()
	b := batches{of: map[string]int{}}
	for range batchesOfAccount {
		if why := b.begin("load"); why != "" {
			t.Fatal(why)
		}
	}
	if b.begin("load") == "" {
		t.Error("one account has more than its places")
	}
	if why := b.begin("good"); why != "" {
		t.Error("another has none: " + why)
	}
	b.end("load")
	if why := b.begin("load"); why != "" {
		t.Error("no place behind one that has ended: " + why)
	}
	for i := range mostBatches {
		b.begin(string(rune('a' + i)))
	}
	if b.all != mostBatches || b.begin("late") == "" {
		t.Errorf("%d places are taken, want %d", b.all, mostBatches)
	}
}
