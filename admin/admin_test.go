package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/rs/zerolog"

	"pmg/cluster/report"
	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/webhooks"
	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
	"pmg/internal/token"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/stages"
	"pmg/store"
)

const (
	accountPassword = "hush4you"
	smscPassword    = "smsc42"
)

const clientsOnly = `pipelines: 1
pdulog: {dir: %q}
accounts:
  - {system_id: load, password: ` + accountPassword + `}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", instances: 100, window: 100}
`

const wholeConfig = clientsOnly + `
  - {name: operator, direction: out, address: %q, instances: 2, system_id: pmg, password: ` + smscPassword + `, reconnect_delay: 10ms, receipt_ids: decimal}
plugins: [{name: rules, on_failure: pass, rules: [{if: 'text == "nothing"', do: refuse}]}]
hooks: [{at: accept, plugin: rules}]
routes:
  - {to: operator}
`

func parse(t testing.TB, yaml string, args ...any) *config.Config {
	t.Helper()
	c, _, err := config.Parse(fmt.Appendf(nil, yaml, args...), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testToken may do everything with the gateways of all tests.
const testToken = "pmg_test"

// authorized sends requests with a token.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// client sends the requests of tests.
func client() *http.Client { return &http.Client{Transport: authorized(testToken)} }

// running is a gateway with its admin listener.
type running struct {
	t       testing.TB
	gateway *gateway.Gateway
	engine  gateway.Engine
	admin   *Server
	url     string
	socket  string
}

func start(t testing.TB, cfg *config.Config, withPprof bool) *running {
	t.Helper()
	cfg.Admin.Tokens = []config.Token{{Name: "test", Hash: token.Hash(testToken), Scope: config.AdministerScope}}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if keep := storeOf(t); keep != nil {
		if err := g.Keep(keep); err != nil {
			t.Fatal(err)
		}
	}
	e, err := stages.Start(g)
	if err != nil {
		t.Fatal(err)
	}
	of := *cfg
	of.Admin = config.Admin{Socket: socketIn(t), Address: "127.0.0.1:0", Pprof: withPprof, Hosts: []string{"gateway.example"}, Audit: cfg.Admin.Audit, TLS: cfg.Admin.TLS}
	known := func() *report.Report {
		return &report.Report{Node: "a", Owner: "a", Figures: report.Figures{Owner: true, Ready: 1}}
	}
	s, err := Start(&of, g, e, "test", Parts{Reload: reload, Known: known})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{s.Close(), e.Close(), g.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return &running{t, g, e, s, "http://" + s.Addr(), of.Admin.Socket}
}

// storeOf returns the store of a test's gateway, nil for those that store nothing.
func storeOf(t testing.TB) store.Store {
	switch t.Name() {
	case "TestScrape":
		return store.NewMemory()
	case "TestMessageIsFound", "TestReceiptWaits", "TestStatement":
		s, err := store.Open("/store", store.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return nil
}

// socketIn returns the path of a socket. Directories of tests have names that are too long for one.
func socketIn(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "admin.sock")
}

func (r *running) get(path string) (code int, body string) {
	r.t.Helper()
	answer, err := client().Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

func (r *running) status() *Status {
	r.t.Helper()
	_, body := r.get("/admin/v1/status?sessions=1")
	s := new(Status)
	if err := json.Unmarshal([]byte(body), s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// await repeats the request until the answer is as wanted.
func (r *running) await(path string, wantCode int, wantBody string) {
	r.t.Helper()
	code, body := 0, ""
	for range 1000 {
		if code, body = r.get(path); code == wantCode && body == wantBody {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("%s: got %d %q, want %d %q", path, code, body, wantCode, wantBody)
}

// bound waits until both sessions with the SMSC can be given messages. The gateway is ready with the first one.
func (r *running) bound() {
	r.t.Helper()
	testutil.Eventually(r.t, "both sessions are bound", func() bool { return r.status().Connectors[1].SessionsReady == 2 })
	r.await("/readyz", 200, "ok\n")
}

// local returns a client that uses the socket.
func (r *running) local() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// The socket serves what the address serves, and is gone behind the end.
func TestSocket(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	path := r.socket
	local := r.local()
	for host, want := range map[string]int{"localhost": 200, "evil.example": 421} {
		answer, err := local.Get("http://" + host + "/admin/v1/status")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, answer.StatusCode, want)
		}
	}
	if err := r.admin.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("behind the end: %v", err)
	}
}

// A socket that cannot be made is an error where it was asked for, and a warning otherwise.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	cfg := parse(t, clientsOnly, t.TempDir())
	cfg.Store.Dir = filepath.Join(t.TempDir(), "none")
	r := start(t, cfg, false)
	s, err := Start(cfg, r.gateway, r.engine, "test", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	cfg.Admin.Socket = filepath.Join(cfg.Store.Dir, "s")
	if _, err := Start(cfg, r.gateway, r.engine, "test", Parts{}); err == nil || !strings.Contains(err.Error(), "cannot start admin (admin.socket): ") {
		t.Errorf("got %v", err)
	}
}

func startSink(t *testing.T) *smpppeer.SMSC {
	t.Helper()
	return smpppeer.StartSMSC(t, smscPassword, false)
}

// client returns a client of the account load.
func (r *running) client() smpppeer.Client {
	return smpppeer.Client{Addr: r.engine.Addresses(r.gateway.Table.Connector("clients"))[0].String(), SystemID: "load", Password: accountPassword}
}

// load sends 300 messages over 3 connections.
func (r *running) load() {
	r.t.Helper()
	sent := make(chan error)
	for range 3 {
		go func() { sent <- r.client().Send(r.t.Context(), 100) }()
	}
	for range 3 {
		if err := testutil.Receive(r.t, "all answers", sent); err != nil {
			r.t.Fatal(err)
		}
	}
	for range 1000 { // the sessions' ends and the SMSC's answers are on their way
		s := r.status()
		if c := s.Connectors[0]; c.Opened == 3 && c.Sessions == 0 && s.Connectors[1].Sent == 300 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("sessions do not end")
}

func TestScrape(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	list := t.TempDir() + "/optouts.txt"
	changes := []byte("+46731234567\t2026-11-30T09:14:03Z\tstop\toperator\ta1\n+46731234568\t2026-11-30T09:14:04Z\tpage\n")
	err := errors.Join(os.WriteFile(list, []byte("46701740605\n4670*\n"), 0o600), os.WriteFile(list+".changes", changes, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	table := t.TempDir() + "/networks.csv"
	rows := []byte("10,24001\n1,24001\n2,24001\n3,24001\n4,24001\n5,24001\n6,24001\n7,24001\n8,24001\n9,24001\n")
	if err := os.WriteFile(table, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	prices := t.TempDir() + "/prices.csv"
	if err := os.WriteFile(prices, []byte("*,0.0001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	more := "lists: [{name: optouts, file: %s}]\nnetworks: {file: %s}\nprices: [{name: p, currency: EUR, file: %s}]\n"
	whole := strings.Replace(wholeConfig, "{system_id: load, ", `{system_id: load, prices: p, balance: {low: "1"}, `, 1)
	whole = strings.Replace(whole, "receipt_ids: decimal", "receipt_ids: decimal, costs: p", 1)
	r := start(t, parse(t, whole+more, t.TempDir(), sink.Addr(), list, table, prices), false)
	r.bound()
	r.load()
	server := r.gateway.Webhooks.Server(&connector.Lane{Client: connector.Client{Account: "load", Endpoint: "https://shop.example"}})
	for range 3 {
		server.Begin()
		server.End(webhooks.Result{Error: "does not resolve", Counted: true})
	}
	r.gateway.Settler.Dead.Add(1, "load", time.Now().UnixNano(), 100)
	_, text := r.get("/metrics")
	for _, want := range []string{
		`pmg_connector_messages_accepted_total{connector="clients"} 300`,
		`pmg_route_messages_total{route="routes[line 12]"} 300`,
		`pmg_connector_messages_sent_total{connector="operator"} 300`,
		`pmg_connector_pdus_total{command="submit_sm",connector="clients",direction="received",status="ESME_ROK"} 300`,
		`pmg_connector_pdus_total{command="submit_sm_resp",connector="operator",direction="received",status="ESME_ROK"} 300`,
		`pmg_connector_answer_seconds_count{connector="operator"} 300`,
		`pmg_connector_sessions_ready{connector="operator"} 2`,
		`pmg_connector_window_size{connector="operator"} 20`,
		`pmg_connector_sessions_opened_total{connector="clients"} 3`,
		`pmg_account_messages_accepted_total{account="load"} 300`,
		`pmg_account_messages_sent_total{account="load"} 300`,
		`pmg_operator_receipt_ids{form="decimal",operator="operator"} 1`, `pmg_operator_receipt_ids{form="same",operator="operator"} 0`,
		`pmg_stage_panics_total{stage="pdu builder"} 0`,
		`pmg_plugin_asked_total{plugin="rules"} 300`, `pmg_plugin_refused_total{plugin="rules"} 0`, `pmg_plugin_resting{plugin="rules"} 0`,
		`pmg_webhook_calls_total{account="load",result="failed"} 3`, `pmg_webhook_servers_failing{account="load"} 1`, `pmg_webhook_dead_letters{account="load"} 1`,
		`pmg_list_last_stop_timestamp_seconds{list="optouts"} 1.796030043e+09`, `pmg_list_last_added_timestamp_seconds{list="optouts"} 1.796030044e+09`, `pmg_list_entries{list="optouts"} 2`, `pmg_list_hits_total{list="optouts"} 0`,
		`pmg_network_table_rows 10`, `pmg_network_table_networks 1`, `pmg_network_sent_total{connector="operator",network="24001"} 300`,
		`pmg_account_balance{account="load"} -0.03`, `pmg_account_balance_reserved{account="load"} 0`, `pmg_account_balance_low{account="load"} 1`,
		`pmg_account_price_missing_total{account="load"} 0`, `pmg_account_cost_total{account="load"} 0`,
		`pmg_ready 1`, `pmg_store_failed 0`, `pmg_store_recovered 1`,
		"\ngo_goroutines ", "\ngo_sched_latencies_seconds_count ", "\ngo_memstats_mallocs_total ", "\nprocess_cpu_seconds_total ", "\nprocess_resident_memory_bytes ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	for _, m := range metrics(nil) {
		switch m.name {
		case "pmg_connector_fields_lost_total", "pmg_connector_certificate_expires_timestamp_seconds", "pmg_admin_certificate_expires_timestamp_seconds":
			continue // nothing was lost, and nothing has tls
		}
		if !strings.Contains(text, "# TYPE "+m.name+" "+m.kind+"\n") {
			t.Errorf("metrics lack a %s %s", m.kind, m.name)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), false)
	r.bound()
	r.load()
	s := r.status()
	clients, operator := s.Connectors[0], s.Connectors[1]
	if clients.State != "listening" || operator.State != "up" || len(s.Stages) != len(stages.Table()) {
		t.Errorf("states %s and %s, %d stages", clients.State, operator.State, len(s.Stages))
	}
	if l := operator.SessionList; len(l) != 2 || l[0].Account != "pmg" || l[0].Bind != "transceiver" || l[0].Remote != sink.Addr() {
		t.Errorf("sessions: %+v", l)
	}
}

func TestNoSecrets(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), true)
	r.await("/readyz", 200, "ok\n")
	for _, path := range []string{"/metrics", "/admin/v1/status?sessions=1", "/readyz", "/healthz", "/debug/pprof/", "/debug/pprof/cmdline"} {
		if _, body := r.get(path); strings.Contains(body, accountPassword) || strings.Contains(body, smscPassword) {
			t.Errorf("%s shows a password", path)
		}
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	sink.Close()
	for !strings.Contains(r.status().trouble("operator"), "connection refused") {
		time.Sleep(time.Millisecond)
	}
	code, body := r.get("/readyz")
	if want := "route of all messages (line 12) has no target that works: connector operator: cannot connect to " + sink.Addr() + ": connection refused"; code != 503 || !strings.HasPrefix(body, want) {
		t.Errorf("got %d %q, want %q", code, body, want)
	}
	r.await("/healthz", 200, "ok\n")
	r.gateway.Node.Drain()
	r.await("/readyz", 503, "stopping\n")
}

// trouble returns the reason why a connector has no session.
func (s *Status) trouble(connector string) string {
	for _, c := range s.Connectors {
		if c.Name == connector && c.Trouble != nil {
			return c.Trouble.Reason
		}
	}
	return ""
}

// A connector that was removed and added again has one row, not two of the same name.
func TestReload(t *testing.T) {
	t.Parallel()
	dir, sink := t.TempDir(), startSink(t)
	r := start(t, parse(t, wholeConfig, dir, sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	reload := func(cfg *config.Config) {
		cfg.Admin.Tokens = r.gateway.Node.Config().Admin.Tokens
		changed, err := r.gateway.Reload(cfg, r.engine)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changed.Added {
			r.engine.Attach(c)
		}
		for _, c := range changed.Removed {
			r.engine.Detach(c)
		}
	}
	reload(parse(t, clientsOnly, dir))
	r.await("/readyz", 200, "ok\n")
	reload(parse(t, wholeConfig, dir, sink.Addr()))
	r.await("/readyz", 200, "ok\n")
	var names []string
	for _, c := range r.status().Connectors {
		names = append(names, c.Name+" "+c.State)
	}
	if want := []string{"clients listening", "operator up"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if code, body := r.get("/metrics"); code != 200 {
		t.Errorf("metrics: %d %s", code, body)
	}
}

func TestPprofOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for asked, want := range map[bool]int{false: 404, true: 200} {
		r := start(t, parse(t, clientsOnly, t.TempDir()), asked)
		if code, _ := r.get("/debug/pprof/"); code != want {
			t.Errorf("asked %t: got %d, want %d", asked, code, want)
		}
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	_, err := Start(&config.Config{Admin: config.Admin{Socket: "off", Address: r.admin.Addr()}}, r.gateway, r.engine, "test", Parts{})
	if err == nil || !strings.HasPrefix(err.Error(), "cannot start admin (admin.address): cannot listen on ") {
		t.Errorf("got %v", err)
	}
}

// ahead is an engine whose clock is two hours ahead of the wall clock, which was set
// back.
type ahead struct{ gateway.Engine }

func (a ahead) Counters() gateway.Counters {
	c := a.Engine.Counters()
	c.Now += int64(2 * time.Hour)
	return c
}

// F8: ages are computed with the engine's clock, which stamps sessions. Times are shown
// by the wall clock.
func TestAgesByEngineClock(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	r := start(t, parse(t, wholeConfig, t.TempDir(), sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	s := newView(r.gateway, ahead{r.engine}, "test").status(true)
	o := s.Connectors[1].SessionList[0]
	if o.IdleSeconds < 7199 || s.Time.Sub(o.Since) < 2*time.Hour-time.Second || s.Time.Sub(o.Since) > 3*time.Hour {
		t.Errorf("idle for %g s, open since %v at %v; want some 2 hours", o.IdleSeconds, o.Since, s.Time)
	}
}
