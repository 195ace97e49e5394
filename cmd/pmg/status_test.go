package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"pmg/admin"
	"pmg/connector"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

type counters = connector.Counters[int64, connector.Labels]

// twoStatuses returns the statuses of a gateway at two times, ten seconds apart.
func twoStatuses() (before, s *admin.Status) {
	started := time.Date(2026, 11, 20, 10, 13, 47, 0, time.UTC)
	s = &admin.Status{
		Version: "1.0", Architecture: "pipeline", Started: started, Time: started.Add(6 * time.Hour),
		NotReady: []string{"routes[1] has no target that works: connector backup: cannot connect to 192.0.2.1:2775: connection refused"}, Unrouted: 3, Work: admin.Work{Jobs: 160},
		Problems:  []string{"routes[0] has no target that works: connector operator: an operator holds it"},
		Waiting:   []admin.Waits{{For: admin.ForSMSC, Messages: 1200, Oldest: 3.25}, {For: admin.ForEvents, Messages: 154, Oldest: 1080}},
		Receipts:  admin.Receipts{Matched: 505, Homeless: 5},
		Operators: []admin.Operator{{Name: "operator", ReceiptIDs: "decimal"}, {Name: "plain", ReceiptIDs: "same"}, {Name: "backup", ReceiptIDs: admin.NotKnown}},
		Store: &admin.Store{Engine: "pebble", Refuses: "only 3 MiB are free", Messages: 1200, Octets: 70 << 20, Commits: 25000, Changes: 2000000,
			CommitSeconds: 7.5, LongestSeconds: 0.026, Free: 3 << 20, MinFree: 1 << 30, Recovered: true},
		Connectors: []admin.Connector{
			{Name: "clients", Direction: "in", Condition: admin.Condition{State: "listening"}, Instances: 1000, Sessions: 64, SessionsReady: 60, Window: 100, Windows: 6000,
				MaxQueue: 50000, Counters: counters{Accepted: 1000000, Refused: 12},
				SessionList: []admin.Session{
					{Number: 1, Remote: "192.0.2.7:40112", Account: "load", Bind: "transceiver", Since: started.Add(time.Hour), IdleSeconds: 0.0021, InFlight: 3, Window: 100, Queued: 7},
					{Number: 2, Remote: "192.0.2.8:40113", Bind: "none", Since: started.Add(6*time.Hour - 1500*time.Millisecond), IdleSeconds: 1.5},
				}},
			{Name: "operator", Direction: "out", Condition: admin.Condition{State: "up",
				Held: &admin.Held{Since: started.Add(5 * time.Hour), Until: started.Add(7 * time.Hour), By: "127.0.0.1:40000"}}, Instances: 4, Sessions: 4, SessionsReady: 4, Window: 10, Windows: 40,
				MaxQueue: 50000, OldestSeconds: 3.25, Counters: counters{InFlight: 38, Queued: 1200, Sent: 998750, Failed: 9, Expired: 1, Retried: 17},
				Answers: admin.Answers{Count: 998776, MeanSeconds: 0.0123}, PDULogLost: 4},
			{Name: "backup", Direction: "out", Counters: counters{Failing: 8}, Instances: 1, Window: 10, MaxQueue: 50000,
				Condition: admin.Condition{State: "failing", Trouble: &admin.Trouble{Reason: "cannot connect to 192.0.2.1:2775: connection refused", Since: started.Add(3 * time.Hour), Next: started.Add(6*time.Hour + 20*time.Second)}}},
		},
		Accounts: []admin.Account{{Name: "quiet"}, {Name: "load", Sessions: 60, Queued: 1200, Counters: sms.Counters[int64]{Accepted: 1000000, Refused: 12, Sent: 998750, Failed: 9, Expired: 1}}},
		Stages: []admin.Stage{
			{Name: "reader", In: 128, Out: 402000, Batches: 300000, MeanBatch: 0.1, MaxBatch: 64, Locks: 300128,
				Work: admin.Spread{Count: 300000, Min: 4.2e-7, Mean: 1.8e-5, Max: 0.0041, StdDev: 2.2e-5}, BusyWorkers: 0.00025},
			{Name: "pdu builder", In: 2000000, Out: 900000, Batches: 250000, MeanBatch: 8, MaxBatch: 640, Waiting: 12, Panics: 1, Locks: 500000,
				Work: admin.Spread{Count: 250000, Min: 3.1e-7, Mean: 2.4e-6, Max: 0.0012, StdDev: 1.1e-5}, BusyWorkers: 0.000028},
		},
	}
	then := *s
	then.Time = s.Time.Add(-10 * time.Second)
	then.Connectors = []admin.Connector{{Name: "clients", Counters: counters{Accepted: 876550}}, {Name: "operator", Counters: counters{Sent: 998250}}}
	return &then, s
}

func TestStatusText(t *testing.T) {
	before, s := twoStatuses()
	got := statusText(nil, s, statusView{}) + "\n--- ten seconds later, with stages ---\n\n" + statusText(before, s, statusView{stages: true})
	for line := range strings.Lines(statusText(nil, s, statusView{})) {
		if len(line) > 120 && !strings.Contains(line, "routes[") {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	testutil.Fresh(t, filepath.Join("testdata", "status.txt"), got, "go test ./cmd/pmg -run StatusText -update")
}

// U8: the accounts with the most messages are listed; the others are counted.
func TestStatusTextListsFewAccounts(t *testing.T) {
	_, s := twoStatuses()
	for n := range 100 {
		s.Accounts = append(s.Accounts, admin.Account{Name: fmt.Sprint("account", n), Counters: sms.Counters[int64]{Accepted: 1}})
	}
	few, all := statusText(nil, s, statusView{}), statusText(nil, s, statusView{accounts: true})
	if !strings.Contains(few, "\nload ") || !strings.Contains(few, "82 more accounts") || strings.Contains(few, "account99") || !strings.Contains(all, "account99") {
		t.Errorf("few:\n%s\nall:\n%s", few, all)
	}
}

// The networks with the most messages are listed with what became of these; the others are counted.
func TestStatusTextNetworks(t *testing.T) {
	_, s := twoStatuses()
	s.Networks.By = []admin.Network{{Network: "24001", Name: "Telia", Connector: "operator", Sent: 1000, Delivered: 750, Undelivered: 250, Seconds: 1500}}
	for n := range 20 {
		s.Networks.By = append(s.Networks.By, admin.Network{Network: fmt.Sprint(26200 + n), Connector: "operator", Sent: 1})
	}
	few, all := statusText(nil, s, statusView{}), statusText(nil, s, statusView{networks: true})
	if !strings.Contains(strings.Join(strings.Fields(few), " "), "24001 Telia operator 1,000 750 250 75.0 % 2s") {
		t.Error(few)
	}
	if !strings.Contains(few, "11 more networks of connectors") || strings.Contains(few, "26219") || !strings.Contains(all, "26219") {
		t.Errorf("few:\n%s\nall:\n%s", few, all)
	}
}

func TestStatusTextOfAnotherRunHasNoRates(t *testing.T) {
	before, s := twoStatuses()
	before.Started = before.Started.Add(-time.Hour)
	if text := statusText(before, s, statusView{}); strings.Contains(text, "sent/s") {
		t.Errorf("rates over a restart:\n%s", text)
	}
}

func TestStatusCommand(t *testing.T) {
	_, fixed := twoStatuses()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/admin/v1/status" {
			http.NotFound(w, r)
			return
		}
		s := *fixed
		if r.FormValue("sessions") == "" {
			s.Connectors = append([]admin.Connector(nil), s.Connectors...)
			s.Connectors[0].SessionList = nil
		}
		_ = json.NewEncoder(w).Encode(s)
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	for _, c := range []struct {
		args       []string
		has, lacks string
	}{
		{nil, "operator   out  up ", "192.0.2.7"},
		{[]string{"--sessions"}, "clients/1  192.0.2.7:40112  load ", "sent/s"},
		{[]string{"--json"}, `"sent":998750`, "192.0.2.7"},
	} {
		out, err := runForTest(t, newStatusCommand(), t.Output(), append(c.args, "--address", address)...)
		if err != nil || !strings.Contains(out, c.has) || strings.Contains(out, c.lacks) {
			t.Errorf("%q: error %v, output\n%s", c.args, err, out)
		}
	}
	file := process.WriteConfig(t, "connectors: []\nadmin: {address: "+`"`+address+`"`+"}\n")
	if out, err := runForTest(t, newStatusCommand(), t.Output(), "-c", file); err != nil || !strings.Contains(out, "operator") {
		t.Errorf("by configuration: error %v, output\n%s", err, out)
	}
}

func TestStatusCommandWatches(t *testing.T) {
	before, s := twoStatuses()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked++; asked {
		case 1:
			_ = json.NewEncoder(w).Encode(before)
		case 2:
			_ = json.NewEncoder(w).Encode(s)
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable) // the command goes on watching
		default:
			cancel()
		}
	}))
	defer server.Close()
	var out, problems bytes.Buffer
	cmd := newStatusCommand()
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	cmd.SetErr(&problems)
	cmd.SetArgs([]string{"--address", server.Listener.Addr().String(), "--watch=1ms"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "12345.0") {
		t.Errorf("no rates:\n%s", out.String())
	}
	if !strings.Contains(problems.String(), "answers 503") {
		t.Errorf("problems: %q", problems.String())
	}
}

func TestStatusCommandSaysWhatIsWrong(t *testing.T) {
	silent := httptest.NewServer(nil)
	address := silent.Listener.Addr().String()
	silent.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--address", address}, "is it running, with this admin.address?"},
		{[]string{"--address", "2780"}, "missing port in address"},
		{[]string{"-c", process.WriteConfig(t, "store: {engine: memory}\nconnectors: []\n")}, "sets no admin.address and no admin.socket"},
		{[]string{"-c", process.WriteConfig(t, "store: {dir: none}\nconnectors: []\n")}, "none/admin.sock: connect: no such file or directory; is it running"},
		{[]string{"-c", filepath.Join(t.TempDir(), "none.yaml")}, "--address names it without a configuration"},
	} {
		_, err := runForTest(t, newStatusCommand(), t.Output(), c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want one with %q", c.args, err, c.want)
		}
	}
}

// H19: no answer can control the terminal.
func TestStatusIsPrintable(t *testing.T) {
	t.Parallel()
	evil := "a\x1b[2J\x07\u009b31m\u202eb\n\r\x7f\U000e0001é"
	text, asJSON := `a\x1b[2J\a\u009b31m\u202eb\n\r\x7f\U000e0001é`, `a\u001b[2J\u0007\u009b31m\u202eb\n\r\u007f\udb40\udc01é`
	s := &admin.Status{
		Version: evil, Architecture: evil, NotReady: []string{evil}, Problems: []string{evil},
		Connectors: []admin.Connector{{Name: evil, SessionList: []admin.Session{{Account: evil, Remote: evil}}}},
		Stages:     []admin.Stage{{Name: evil}},
	}
	status := "200 OK"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("sessions") != "" {
			_ = json.NewEncoder(w).Encode(s)
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status)
	}))
	defer server.Close()
	ask := []string{"--address", server.Listener.Addr().String()}
	for _, c := range []struct {
		args []string
		want string
		n    int
	}{{[]string{"--sessions"}, text, 7}, {[]string{"--sessions", "--json"}, asJSON, 7}} {
		out, err := runForTest(t, newStatusCommand(), t.Output(), append(c.args, ask...)...)
		if n := strings.Count(out, c.want); err != nil || n < c.n || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q: %d times as it should be, error %v, in\n%q", c.args, n, err, out)
		}
	}
	status = "503 no\x1b[2J"
	if _, err := runForTest(t, newStatusCommand(), t.Output(), ask...); err == nil || !strings.Contains(err.Error(), `503 no\x1b[2J`) {
		t.Errorf("error %q", err)
	}
}

// Several pipelines are shown with their load: since the start, or since the status before. One is not shown.
func TestStatusTextPipelines(t *testing.T) {
	before, s := twoStatuses()
	s.Pipelines = []admin.Pipeline{{Number: 1, Clients: 40, SMSCs: 4, BusySeconds: 60, BusyWorkers: 0.5}}
	if text := statusText(nil, s, statusView{}); strings.Contains(text, "pipeline") {
		t.Errorf("one pipeline is shown:\n%s", text)
	}
	s.Pipelines = append(s.Pipelines, admin.Pipeline{Number: 2, Clients: 20, SMSCs: 3, BusySeconds: 20, BusyWorkers: 0.25})
	before.Pipelines = []admin.Pipeline{{Number: 1, BusySeconds: 57}, {Number: 2, BusySeconds: 19}}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"since the start": {statusText(nil, s, statusView{}), []string{"1 40 4 0.5000", "2 20 3 0.2500", "works 1.33 times the mean"}},
		"of ten seconds":  {pipelinesText(before, s), []string{"1 40 4 0.3000", "2 20 3 0.1000", "works 1.50 times the mean", "pdu builder"}},
	} {
		text := strings.Join(strings.Fields(c.text), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, c.text)
			}
		}
	}
}
