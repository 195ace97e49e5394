package httpapi

import (
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A fault at a call has its message put aside, and ends nothing else.
func TestCallPanics(t *testing.T) {
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, callbacks: public}]
connectors: [{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}]
routes: []
`), config.Options{Protocols: []string{"http"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return httpsms.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	const dialect = 99
	reports[dialect] = func(*httpsms.Event) (*httpsms.Call, bool) { panic("fault") }
	defer delete(reports, dialect)
	c := &caller{callers: &callers{engine: &Engine{gateway: g}}, lane: &connector.Lane{Client: connector.Client{Account: "client", Endpoint: "http://192.0.2.1"}}}
	var m sms.Message
	m.Origin = g.Origins.Of("", "api")
	context := sms.Context{Dialect: dialect, URL: "http://192.0.2.1/"}
	m.SetReport(sms.Address{}, sms.Address{}, &sms.Report{Known: 7, State: sms.StateDelivered, Context: context.Append(nil)})
	one := &connector.Slot{Message: &m}
	for _, slots := range [][]*connector.Slot{{one}, {one, one}} {
		for _, o := range c.try(slots, len(slots) > 1) {
			if o.Code != sms.Faulty {
				t.Errorf("%+v", o)
			}
		}
	}
}
