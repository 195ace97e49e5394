package main

import (
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
)

const reloadable = `admin: {address: "127.0.0.1:0", tokens: [{name: test, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0", scope: administer}]}
pdulog: {enabled: false}
store: {engine: memory}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes: [{to: operator}]
`

// A runningServer is a gateway that runs as pmg serve runs it.
type runningServer struct {
	*server
	t       *testing.T
	file    string
	signals chan os.Signal
	log     *testutil.Log
}

func runServer(t *testing.T, text string) *runningServer {
	t.Helper()
	r := &runningServer{t: t, file: filepath.Join(t.TempDir(), "pmg.yaml"), signals: make(chan os.Signal), log: &testutil.Log{}}
	r.write(text)
	cfg, err := loadConfig(t.Output(), r.file)
	if err != nil {
		t.Fatal(err)
	}
	if r.server, err = startServer(cfg, zerolog.New(r.log)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- r.run(r.signals, r.file) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the gateway's log:\n%s", r.log)
		}
		r.signals <- syscall.SIGTERM
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	r.log.Take()
	return r
}

func (r *runningServer) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// tokenFile returns a file with the token of reloadable.
func tokenFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("pmg_test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// reload runs pmg reload, and returns its output or its error.
func (r *runningServer) reload(args ...string) string {
	r.t.Helper()
	out, err := runForTest(r.t, newReloadCommand(), r.t.Output(), append(args, "--address", r.admin.Addr(), "--token-file", tokenFile(r.t))...)
	if err != nil {
		return "error: " + err.Error()
	}
	return out
}

// hangup sends SIGHUP, and returns when the reload is over. It detects that by asking for
// a reload of another file, which is refused after the first one.
func (r *runningServer) hangup() {
	r.t.Helper()
	r.signals <- syscall.SIGHUP
	if _, err := r.askReload(r.t.Context(), os.DevNull, false); err == nil {
		r.t.Error("another file was read")
	}
}

// U13: pmg reload names the options that changed and those that need a restart. The
// gateway's log names them in one line.
func TestReloadCommand(t *testing.T) {
	r := runServer(t, reloadable)
	if got := r.reload("-c", r.file); got != "reloaded "+r.file+"; options changed: 0\n" {
		t.Errorf("without a change: %s", got)
	}
	if log := r.log.Take(); !strings.Contains(log, `{"level":"info","message":"configuration reloaded; nothing has changed"}`) {
		t.Errorf("without a change: log\n%s", log)
	}
	r.write(strings.NewReplacer(
		"password: secret}]", "password: secret, rate: 5}]",
		"pdulog: {enabled: false}", "pdulog: {enabled: true}",
		"system_id: pmg, password: secret", "system_id: pmg, password: other, window: 7, instances: 2",
	).Replace(reloadable))
	const window, rate, restart = "connectors[operator].window: 10 -> 7 (for new sessions)", "accounts[load].rate: 0 -> 5", "pdulog.enabled: false -> true (at the next restart)"
	got := r.reload("-c", r.file)
	for _, want := range []string{window, rate, restart, `connectors[operator].password: "********" -> "********" (for new sessions)`, "options changed: 4; waiting for a restart: 1"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s\nwithout %s", got, want)
		}
	}
	log := r.log.Take()
	want := `{"level":"warn","need_restart":["` + restart + `"],"changed":["` + rate + `","connectors[operator].instances: 1 -> 2 (for new sessions)","` + window + `",`
	if !strings.Contains(log, want) || !strings.Contains(log, `"connector":"operator","message":"its sessions bind again`) {
		t.Errorf("log\n%swithout\n%s", log, want)
	}
	if cfg := r.gateway.Node.Config(); cfg.Accounts[0].Rate != 5 || cfg.PDULog.Enabled {
		t.Error("not in force")
	}
}

// The operators' page with the routes explains a message by the configuration in force; the page of the configuration
// shows what a reload would do, and changes nothing.
func TestRoutingPage(t *testing.T) {
	r := runServer(t, reloadable)
	page := func(path string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.admin.Addr()+"/ui/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer pmg_test")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return html.UnescapeString(string(body))
	}
	if got := page("routing?to=4612&length=200"); !strings.Contains(got, "It takes the route of") || !strings.Contains(got, "short messages") {
		t.Error(got)
	}
	if got := page("routing?to=4612&account=nobody"); !strings.Contains(got, `cannot explain: the configuration has no account "nobody"`) {
		t.Error(got)
	}
	if got := page("configuration?pending=1"); !strings.Contains(got, "differ from those in force: 0") {
		t.Error(got)
	}
	r.write(strings.Replace(reloadable, "system_id: pmg, password: secret", "system_id: pmg, password: other, window: 7", 1))
	got := page("configuration?pending=1")
	for _, want := range []string{"connectors[operator].window: 10 -> 7 (for new sessions)", `connectors[operator].password: "********" -> "********"`, "differ from those in force: 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwithout %s", got, want)
		}
	}
	if r.gateway.Node.Config().Connectors[1].Window == 7 {
		t.Error("it is in force")
	}
	r.write(strings.Replace(reloadable, "routes: [{to: operator}]", "routes: []", 1))
	if got := page("configuration?pending=1"); !strings.Contains(got, "a reload would be refused, because it would remove") {
		t.Error(got)
	}
	r.write("routes: [")
	if got := page("configuration?pending=1"); !strings.Contains(got, "a reload would fail: ") {
		t.Error(got)
	}
}

// U1: at SIGHUP and at pmg reload, a file that was emptied or cut off changes nothing and
// is reported. Removing most connectors, the accounts or the routes takes --force.
func TestReloadOfLosses(t *testing.T) {
	r := runServer(t, reloadable)
	before := r.gateway.Node.Config()
	cut := func(from string) string { text, _, _ := strings.Cut(reloadable, from); return text }
	for _, c := range []struct{ what, text, want string }{
		{"emptied", "", "is empty: pmg config init writes a configuration to begin with"},
		{"cut off behind accounts", cut("connectors:"), "ends without connectors"},
		{"cut off in a connector", cut(", address: \"127.0.0.1:1\""), "could not find flow map"},
		{"cut off behind a connector", cut("  - {name: operator"), "would remove 1 of 1 out connectors (operator), all 1 routes; pmg reload --force allows that"},
		{"cut off behind connectors", cut("routes:"), "would remove all 1 routes; pmg reload --force"},
		{"other accounts", strings.ReplaceAll(reloadable, "system_id: load", "system_id: other"), "would remove 1 of 1 accounts (load); pmg reload --force"},
		{"nothing by name", "connectors: []\naccounts: []\n", "would remove 1 of 1 in connectors (clients), 1 of 1 out connectors (operator), 1 of 1 accounts (load), all 1 routes"},
	} {
		r.write(c.text)
		r.log.Take()
		r.hangup()
		if log := r.log.Take(); !strings.Contains(log, `"message":"cannot reload; nothing has changed"`) || !strings.Contains(log, c.want) {
			t.Errorf("%s: at SIGHUP the log is\n%s", c.what, log)
		}
		if got := r.reload("-c", r.file); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: pmg reload -c prints %s", c.what, got)
		}
		if got := r.reload(); !strings.HasPrefix(got, "error: cannot reload: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: pmg reload --address prints %s", c.what, got)
		}
		if r.gateway.Node.Config() != before || len(r.gateway.Table.Connectors()) != 2 {
			t.Fatalf("%s: something has changed", c.what)
		}
	}
	r.write(cut("  - {name: operator"))
	if got := r.reload("--force", "-c", r.file); !strings.Contains(got, "connectors[operator]: present -> removed\n") {
		t.Errorf("forced: %s", got)
	}
	if r.gateway.Table.Connector("operator") != nil || r.gateway.Table.Connector("clients") == nil {
		t.Error("forced: operator is there")
	}
}

func TestReloadSaysWhatIsWrong(t *testing.T) {
	r := runServer(t, reloadable)
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte(reloadable), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.reload("-c", other); got != "error: cannot reload: this gateway reads "+r.file+", not "+other {
		t.Errorf("another file: %s", got)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-c", r.file, "--address", "127.0.0.1:1"}, "is it running, with this admin.address? --address names another"},
		{[]string{"-c", r.file + ".none"}, "no such file"},
		{[]string{"-c", process.WriteConfig(t, "store: {engine: memory}\nconnectors: []\n")}, "sets no admin.address and no admin.socket, so send SIGHUP to its process instead"},
	} {
		if _, err := runForTest(t, newReloadCommand(), r.t.Output(), c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want %s", c.args, err, c.want)
		}
	}
}
