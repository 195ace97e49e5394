package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/admin"
)

// fakeAdmin starts a server in place of a gateway's admin listener.
func fakeAdmin(t *testing.T) (address string) {
	_, s := twoStatuses()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(s) })
	mux.HandleFunc("POST /kick", func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("session") + r.FormValue("account")
		if name == "nobody" {
			http.Error(w, "cannot end sessions: there is no session of account nobody", http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(admin.Kicked{Sessions: []string{r.URL.RawQuery, "a\x1b[2J/2"}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// U8: pmg sessions lists all sessions, or those selected by flags.
func TestSessions(t *testing.T) {
	address := fakeAdmin(t)
	for _, c := range []struct{ args, has, lacks string }{
		{"", "clients/1  192.0.2.7:40112  load     transceiver  5h0m0s  2.1ms      3/100       7", "operator/1"},
		{"--account load", "clients/1", "clients/2"},
		{"--connector operator", "no sessions", "clients"},
		{"--json", `"account":"load","bind":"transceiver"`, "in flight"},
	} {
		out, err := runForTest(t, newSessionsCommand(), t.Output(), append(strings.Fields(c.args), "--address", address)...)
		if err != nil || !strings.Contains(out, c.has) || strings.Contains(out, c.lacks) {
			t.Errorf("pmg sessions %s: error %v, output\n%s", c.args, err, out)
		}
	}
}

// U8: an argument that looks like a session is one, unless --account is set.
func TestKickCommand(t *testing.T) {
	address := fakeAdmin(t)
	for _, c := range []struct{ args, want string }{
		{"clients/3", "session session=clients%2F3 is being logged out\nsession a\\x1b[2J/2 is being logged out\n"},
		{"acme", "session account=acme is being logged out\n"},
		{"--account clients/3", "session account=clients%2F3 is being logged out\n"},
	} {
		out, err := runForTest(t, newKickCommand(), t.Output(), append(strings.Fields(c.args), "--address", address)...)
		if err != nil || !strings.HasPrefix(out, c.want) {
			t.Errorf("pmg kick %s: error %v, output\n%s", c.args, err, out)
		}
	}
	if _, err := runForTest(t, newKickCommand(), t.Output(), "nobody", "--address", address); err == nil ||
		!strings.HasSuffix(err.Error(), "answers 404 Not Found: cannot end sessions: there is no session of account nobody") {
		t.Errorf("got %v", err)
	}
}

// O17: pmg hold, release and connect say what they have done, and what is wrong with a command.
func TestHoldCommands(t *testing.T) {
	mux := http.NewServeMux()
	for _, path := range []string{"/hold", "/release", "/connect"} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			o := admin.Ordered{Connector: r.FormValue("connector"), Queued: 7, Sessions: 1, Instances: 2}
			if d, err := time.ParseDuration(r.FormValue("for")); err == nil {
				o.Held = &admin.Held{Until: time.Date(2026, 11, 22, 1, 0, 0, 0, time.Local).Add(d)}
			}
			_ = json.NewEncoder(w).Encode(o)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	address := " --address " + server.Listener.Addr().String()
	for args, want := range map[string]string{
		"hold operator":           `nothing is sent to operator until "pmg release operator" or a restart; 7 messages wait there`,
		"hold operator --for 1h":  "nothing is sent to operator until 2026-11-22 02:00:00 or a restart; 7 messages wait there",
		"hold operator --for 1d":  "until 2026-11-23 01:00:00 or",
		"hold operator --for -1h": "cannot use --for -1h: it must be a duration above 0",
		"hold":                    "cannot hold: it needs the name of a connector",
		"hold a b":                "it takes one argument, the name of a connector, as in the configuration, and got 2",
		"release operator":        "messages are sent to operator again; 7 wait there, and 1 of 2 sessions are open",
		"connect operator":        "operator is being connected: 1 of 2 sessions were open",
		"server -c file":          `there is no command "server": "pmg --help" lists the commands; did you mean "pmg serve"?`,
	} {
		var out bytes.Buffer
		if !strings.HasPrefix(args, "server") {
			args += address
		}
		if err := runPMG(&out, strings.Fields(args)...); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("pmg %s: %s", args, &out)
		}
	}
}

// U7: a message is found by its id, by the SMSC's id, and by the number of its sender or
// recipient.
func TestTraceCommand(t *testing.T) {
	dir := t.TempDir()
	const line = "2026-11-20T10:00:01.000000Z operator/1 > submit_sm seq=5 destination_addr=46700000002 id=00000000000000aa account=acme\n"
	const answer = "2026-11-20T10:00:01.000003Z operator/1 < submit_sm_resp seq=5 status=0 message_id=77 id=00000000000000aa account=acme\n"
	if err := os.WriteFile(filepath.Join(dir, "operator.log"), []byte(line+answer), 0o600); err != nil {
		t.Fatal(err)
	}
	config := writeConfig(t, "pdulog: {dir: "+dir+"}\nconnectors: []\n")
	for _, args := range []string{"00000000000000aa --dir " + dir, "77 --dir " + dir, "--id 77 --dir " + dir, "46700000002 -c " + config, "+46700000002 --since 2026-11-20T10:00:00Z --dir " + dir} {
		out, err := runForTest(t, newTraceCommand(), t.Output(), strings.Fields(args)...)
		if err != nil || out != line+answer {
			t.Errorf("pmg trace %s: error %v, output\n%s", args, err, out)
		}
	}
	for _, args := range []string{"00000000000000ab --dir " + dir, "46700000002 --since 1h --dir " + dir, "--id 46700000002 --dir " + dir} {
		if out, err := runForTest(t, newTraceCommand(), t.Output(), strings.Fields(args)...); err == nil || out != "" || !strings.Contains(err.Error(), "no line of the pdu logs") {
			t.Errorf("pmg trace %s: error %v, output\n%s", args, err, out)
		}
	}
}
