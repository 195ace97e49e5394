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
	"pmg/gateway/operate"
	"pmg/internal/testkit/process"
)

// fakeAdmin starts a server in place of a gateway's admin listener.
func fakeAdmin(t *testing.T) (address string) {
	_, s := twoStatuses()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/v1/status", func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(s) })
	mux.HandleFunc("POST /admin/v1/kick", func(w http.ResponseWriter, r *http.Request) {
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
		err.Error() != "cannot end sessions: there is no session of account nobody" {
		t.Errorf("got %v", err)
	}
}

// O17: pmg hold, release and connect say what they have done, and what is wrong with a command.
func TestHoldCommands(t *testing.T) {
	mux := http.NewServeMux()
	for _, path := range []string{"/admin/v1/hold", "/admin/v1/release", "/admin/v1/connect"} {
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
		"hold a b":                "it needs the name of a connector, as in the configuration, and got 2 arguments",
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
	config := process.WriteConfig(t, "pdulog: {dir: "+dir+"}\nconnectors: []\n")
	for _, args := range []string{"00000000000000aa --dir " + dir, "00000000-0000-800A-800a-706d67000000 --dir " + dir, "77 --dir " + dir, "--id 77 --dir " + dir, "46700000002 -c " + config, "+46700000002 --since 2026-11-20T10:00:00Z --dir " + dir} {
		out, err := runForTest(t, newTraceCommand(), t.Output(), strings.Fields(args)...)
		if err != nil || out != line+answer+"00000000000000aa: Taken by operator 2026-11-20 10:00:01. No receipt was asked for.\n  taken by operator as 77 at 2026-11-20T10:00:01.000Z\n" {
			t.Errorf("pmg trace %s: error %v, output\n%s", args, err, out)
		}
	}
	if _, err := runForTest(t, newTraceCommand(), t.Output(), "46700000002", "--since", "1h", "--dir", dir); err == nil || !strings.Contains(err.Error(), "--since") {
		t.Errorf("the error does not tell of --since: %v", err)
	}
	for _, args := range []string{"00000000000000ab --dir " + dir, "46700000002 --since 1h --dir " + dir, "--id 46700000002 --dir " + dir} {
		if out, err := runForTest(t, newTraceCommand(), t.Output(), strings.Fields(args)...); err == nil || out != "" || !strings.Contains(err.Error(), "no line of the pdu logs") {
			t.Errorf("pmg trace %s: error %v, output\n%s", args, err, out)
		}
	}
}

// O3: the last line says what became of a message, by the pdu logs, the events and the store.
func TestTraceFate(t *testing.T) {
	dir := t.TempDir()
	logs := map[string]string{
		"clients.log": `2026-11-20T10:00:00.000000Z clients/1 < submit_sm seq=1 destination_addr=46700000002 account=acme
2026-11-20T10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0 message_id=00000000000000a1 account=acme
2026-11-20T10:00:00.000002Z clients/1 < submit_sm seq=2 destination_addr=46700000003 account=acme
2026-11-20T10:00:00.000003Z clients/1 > submit_sm_resp seq=2 status=0 message_id=00000000000000a2 account=acme
2026-11-20T10:00:00.000004Z clients/1 < submit_sm seq=3 destination_addr=46700000004 account=acme
2026-11-20T10:00:00.000005Z clients/1 > submit_sm_resp seq=3 status=0 message_id=00000000000000a3 account=acme
2026-11-20T10:00:00.000006Z clients/1 < submit_sm seq=4 destination_addr=46700000005 account=acme
2026-11-20T10:00:00.000007Z clients/1 > submit_sm_resp seq=4 status=0x58(ESME_RTHROTTLED) message_id="" account=acme
2026-11-20T10:00:09.000000Z clients/1 > deliver_sm seq=1 esm_class=4 source_addr=46700000002 short_message="id:00000000000000a1 stat:DELIVRD" id=00000000000000b1 account=acme
2026-11-20T10:00:09.500000Z clients/1 < deliver_sm_resp seq=1 status=0 id=00000000000000b1 account=acme
2026-11-20T10:10:00.000000Z clients/1 > deliver_sm seq=2 esm_class=4 source_addr=46700000003 short_message="id:00000000000000a2 stat:EXPIRED" id=00000000000000b2 account=acme
2026-11-20T10:10:00.500000Z clients/1 < deliver_sm_resp seq=2 status=0x400 id=00000000000000b2 account=acme
`,
		"operator.log": `2026-11-20T10:00:01.000000Z operator/1 > submit_sm seq=5 destination_addr=46700000002 id=00000000000000a1 account=acme
2026-11-20T10:00:01.500000Z operator/1 < submit_sm_resp seq=5 status=0x58(ESME_RTHROTTLED) message_id="" id=00000000000000a1 account=acme
2026-11-20T10:00:02.000000Z operator/1 > submit_sm seq=6 destination_addr=46700000002 id=00000000000000a1 account=acme
2026-11-20T10:00:02.500000Z operator/1 < submit_sm_resp seq=6 status=0 message_id=1F id=00000000000000a1 account=acme
2026-11-20T10:00:08.500000Z operator/1 < deliver_sm seq=7 source_addr=46700000002 short_message="id:31 stat:DELIVRD"
`,
		"events.log": `{"number":1,"id":"00000000000000a1","kind":"submit","state":"sent","to_connector":"operator","ended_at":"2026-11-20T10:00:02.5Z"}
{"number":2,"id":"00000000000000a2","kind":"submit","state":"expired","to_connector":"operator","ended_at":"2026-11-20T10:09:59Z"}
`,
	}
	for name, text := range logs {
		into := dir
		if name == "events.log" {
			into = filepath.Join(dir, "events")
		}
		if err := os.MkdirAll(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(into, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/v1/queue", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(operate.QueuePage{Messages: []operate.StoredMessage{{ID: "00000000000000a3", State: operate.StateQueued, Connector: "operator"}}})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	config := process.WriteConfig(t, "pdulog: {dir: "+dir+"}\nevents: {dir: "+dir+"/events}\nadmin: {address: \""+server.Listener.Addr().String()+"\"}\nconnectors: []\n")
	for id, want := range map[string]string{
		"00000000000000a1": "00000000000000a1: Delivered 2026-11-20 10:00:08 (operator). The customer has the receipt.\n" +
			"  accepted from acme at 2026-11-20T10:00:00.000Z; operator did not take it (ESME_RTHROTTLED) at 2026-11-20T10:00:01.500Z; " +
			"taken by operator as 1F at 2026-11-20T10:00:02.500Z; operator reported DELIVRD at 2026-11-20T10:00:08.500Z; receipt (DELIVRD) sent to acme at 2026-11-20T10:00:09.000Z; " +
			"receipt taken by acme at 2026-11-20T10:00:09.500Z\n",
		"00000000000000a2": "; expired at 2026-11-20T10:09:59.000Z\n",
		"00000000000000a3": "00000000000000a3: Waits for connector operator. Accepted 2026-11-20 10:00:00. pmg queue show 00000000000000a3\n  accepted from acme at 2026-11-20T10:00:00.000Z\n",
	} {
		out, err := runForTest(t, newTraceCommand(), t.Output(), id, "-c", config)
		if err != nil || !strings.HasSuffix(out, want) {
			t.Errorf("pmg trace %s: error %v, output\n%s\nwant\n%s", id, err, out, want)
		}
	}
	out, err := runForTest(t, newTraceCommand(), t.Output(), "00000000000000a3", "--dir", dir)
	if err != nil || !strings.Contains(out, "00000000000000a3: Accepted 2026-11-20 10:00:00. What followed is neither in the pdu logs nor in the events.\n") {
		t.Errorf("error %v, output\n%s", err, out)
	}
}

// P17: zones are known without a table of the machine's.
func TestZones(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil || !strings.Contains(string(source), `_ "time/tzdata"`) {
		t.Errorf("the program may have no table of zones: %v", err)
	}
	if _, err := time.LoadLocation("Europe/Stockholm"); err != nil {
		t.Error(err)
	}
}
