package httpsmsc

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/request"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// A rig is the client of an SMSC, whose server is the test's, over a gateway. Callbacks come to the connector api.
type rig struct {
	*apitest.Site
	t         *testing.T
	smsc      *SMSC
	connector *connector.Connector
	bodies    *body.Room
	client    *apitest.Client // calls back as the SMSC does
	brought   *deliverer
	lines     func() string // ends the client, and returns the pdu log of the connector
	n         int           // messages so far
}

// yaml returns the configuration of a rig. Unless options say otherwise, an SMSC that is not reached is tried again soon.
func yaml(options string) string {
	if !strings.Contains(options, "reconnect_delay") {
		options += ", reconnect_delay: 20ms"
	}
	return fmt.Sprintf(`
accounts: [{system_id: shop, password: secret, bind: [transmitter], pull: true}]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: other, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: smsc, direction: out, protocol: http, window: 1, retry: {temporary: [1ms, repeat], lost: [1ms, repeat]}, %s}
routes: [{from: smsc, to: {account: shop}}, {to: smsc}]
`, options)
}

// newRig begins to reach the SMSC that options describe. change sets up the client's rooms; nil: they are the gateway's.
func newRig(t *testing.T, options string, change func(*Rooms)) *rig {
	t.Helper()
	r := &rig{t: t, Site: apitest.New(t, yaml(options))}
	g := r.Gateway
	r.connector = g.Table.Connector("smsc")
	dir := t.TempDir()
	var err error
	if r.connector.PDULog, err = pdulog.NewDir(dir, pdulog.Options{Log: zerolog.Nop(), Text: true}).Open("smsc"); err != nil {
		t.Fatal(err)
	}
	r.brought = &deliverer{of: g.Requests}
	rooms := Rooms{
		Node: g.Node, Lanes: g.Table, Links: g.Sessions, Converter: g.Convert, Tracer: g.Settler, Receipts: g.Receipts,
		Deliverer: r.brought,
	}
	if change != nil {
		change(&rooms)
	}
	if r.smsc, err = New(context.Background(), rooms, r, r.connector); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		r.smsc.Close()
		if err := r.connector.PDULog.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	r.listen()
	r.lines = func() string {
		end()
		text, err := os.ReadFile(filepath.Join(dir, "smsc.log"))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	return r
}

// listen serves the paths of callbacks at the connector api.
func (r *rig) listen() {
	g := r.Gateway
	r.bodies = body.NewRoom(&g.Node.Memory)
	rooms := server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
	l, err := server.Listen(rooms, g.Table.Connector("api"), nil, r.bodies, nil, func(l *server.Listener) http.Handler {
		m := http.NewServeMux()
		Routes(l, m, func(name string) *SMSC {
			if name == "smsc" {
				return r.smsc
			}
			return nil
		})
		return m
	})
	if err != nil {
		r.t.Fatal(err)
	}
	l.Serve()
	r.t.Cleanup(l.Close)
	r.client = &apitest.Client{T: r.t, URL: "http://" + l.Addresses()[0].String()}
}

// submit submits a message with fields that change sets, and returns its id. Nobody asks for receipts, which would wait for shop.
func (r *rig) submit(change func(*sms.Message)) string {
	r.t.Helper()
	r.n++
	order := httpsms.Order{From: "1234", To: "+46700000001", Text: []byte("hello")}
	fill := func(m *sms.Message) sms.Code {
		code := order.Fill(m)
		if change != nil {
			change(m)
		}
		return code
	}
	result := submit(r.Gateway, r.t.Context(), fill)
	if result.Code != sms.OK {
		r.t.Fatalf("%+v", result)
	}
	return sms.FormatID(result.ID)
}

func submit(g *gateway.Gateway, ctx context.Context, fill request.Fill) request.Result {
	from := &connector.Source{
		Connector: g.Table.Connector("api"), Account: g.Logins.Accounts().Account("shop"), Origin: g.Node.Origins.Of("shop", "api"),
	}
	return g.Requests.Submit(ctx, from, []request.Item{{Fill: fill}})[0]
}

// wantLines checks that the lines of the pdu log which begin with a direction and a command have words.
func (r *rig) wantLines(log, command string, words ...string) {
	r.t.Helper()
	all := slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool { return !strings.Contains(line, command+" ") })
	for _, line := range all {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return
		}
	}
	r.t.Errorf("no line %s has %q:\n%s", command, words, log)
}

// A deliverer keeps what callbacks bring, and hands it on, unless the test has a result for it.
type deliverer struct {
	of Deliverer

	mu      sync.Mutex
	results []sms.Code // of the next ones
	all     []string   // of each: number of its kind, sender, recipient, text
}

// Deliver implements Deliverer.
func (d *deliverer) Deliver(from *connector.Source, fill request.Fill) request.Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.results) > 0 {
		code := d.results[0]
		d.results = d.results[1:]
		return request.Result{Code: code, Step: "room"}
	}
	return d.of.Deliver(from, func(m *sms.Message) sms.Code {
		code := fill(m)
		d.all = append(d.all, fmt.Sprintf("%d %s %s %s", m.Kind, m.Source().Addr, m.Dest().Addr, m.Text()))
		return code
	})
}
