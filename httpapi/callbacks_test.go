package httpapi

import (
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/testutil"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// newTestGateway returns a gateway with account client and connector api, whose log a test reads.
func newTestGateway(t *testing.T, log io.Writer) *gateway.Gateway {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, callbacks: public}]
connectors: [{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}]
routes: []
`), config.Options{Protocols: []string{"http"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.New(log), func(string, *config.Config) (protocols.Driver, error) { return httpsms.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// A fault at a call has its message put aside, and ends nothing else.
func TestCallPanics(t *testing.T) {
	g := newTestGateway(t, io.Discard)
	const dialect = 99
	reports[dialect] = func(*httpsms.Event) (*httpsms.Call, bool) { panic("fault") }
	defer delete(reports, dialect)
	events := &events{gateway: g, logOf: func(*connector.Connector) *Log { return nil }}
	c := &caller{service: newCallers(g, &doneEngine{}, events), lane: &connector.Lane{Client: connector.Client{Account: "client", Endpoint: "http://192.0.2.1"}}}
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

// Where callbacks of as many batches of an account as may go on, those of the next one are not made, and the log says so.
func TestBatchesBound(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	g := newTestGateway(t, &log)
	c := newCallers(g, &doneEngine{}, nil)
	defer c.close()
	for range batchesOfAccount {
		c.batches.begin("client")
	}
	c.once(g.Table.Account("client"), []*httpsms.Call{{Method: "GET", URL: "http://192.0.2.1/x?id=1"}})
	if text := log.String(); !strings.Contains(text, "batches of the account go on") || !strings.Contains(text, `"http://192.0.2.1/x"`) {
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
