package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/rs/zerolog"

	"pmg/gateway/operate"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// Ids of the messages that newStoreForTest stores.
const (
	queuedID      = 0x1a1fb0c12c230d41
	parkedID      = 0x1a1fb0c12c230d42
	quarantinedID = 0x1a1fb0c12c230d43
	forAccountID  = 0x1a1fb0c12c230d44
)

func storedForTest(id uint64, dest, text string) *sms.Message {
	m := &sms.Message{ID: id, Arrived: 1_790_000_000_000_000_000, Origin: &sms.Origin{Account: "acme", Connector: "clients", Tally: &sms.Tally{}}}
	m.Set(sms.Address{Addr: []byte("123")}, sms.Address{Addr: []byte(dest)}, []byte(text))
	return m
}

// newStoreForTest makes a store with four messages.
func newStoreForTest(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	operator := store.Lane{Connector: "operator"}
	var b store.Batch
	b.Put(storedForTest(queuedID, "46700000001", "secret one"), operator)
	parked := storedForTest(parkedID, "4900000002", "secret two")
	b.Put(parked, store.Lane{})
	b.Keep(parked, store.State{Aside: store.Parked, Reason: "no route leads anywhere"})
	bad := storedForTest(quarantinedID, "46700000003", "secret three")
	bad.Attempts, bad.Priority = 3, 2
	b.Put(bad, operator)
	b.Keep(bad, store.State{Lane: operator, Aside: store.Quarantined, Reason: "it failed \x1b[2J"})
	b.Put(storedForTest(forAccountID, "46700000004", "secret four"), store.Lane{Account: "other"})
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func pmg(t *testing.T, line string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := runPMG(&out, strings.Fields(line)...)
	return out.String(), err
}

// hexID returns an id as the commands show it.
func hexID(id uint64) string { return sms.FormatID(id) }

// Messages of a stopped gateway's store are found by every filter. Their texts are shown
// only where they are asked for.
func TestQueueList(t *testing.T) {
	t.Parallel()
	dir := newStoreForTest(t)
	ids := regexp.MustCompile(`1a1fb0c12c230d4\d`)
	for _, c := range []struct{ args, want string }{
		{"list", "1 2 3 4"},
		{"list --connector operator", "1 3"},
		{"list --account acme", "1 2 3 4"},
		{"list --account other", "4"},
		{"list --destination 49", "2"},
		{"list --older 1h --state parked", "2"},
		{"list --older 876000h", ""},
		{"list --state queued", "1 4"},
		{"list --kind submit --state queued", "1 4"},
		{"list --kind receipt", ""},
		{"list --state quarantined --json", "3"},
		{"list --limit 2", "1 2"},
		{"list --limit 0", "1 2 3 4"},
		{"list " + hexID(forAccountID) + " " + hexID(queuedID), "1 4"},
		{"show " + hexID(quarantinedID), "3"},
	} {
		out, err := pmg(t, "queue "+c.args+" --store "+dir)
		var got []string
		for _, id := range ids.FindAllString(out, -1) {
			got = append(got, id[len(id)-1:])
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("pmg queue %s: error %v, want %s, output\n%s", c.args, err, c.want, out)
		}
		if strings.Contains(out, "secret") || strings.Contains(out, "\x1b") {
			t.Errorf("pmg queue %s shows a text, or controls the terminal:\n%q", c.args, out)
		}
	}
	for _, args := range []string{"show --text " + hexID(parkedID), "list --json --text --state parked"} {
		if out, err := pmg(t, "queue "+args+" --store "+dir); err != nil || !strings.Contains(out, "secret two") {
			t.Errorf("pmg queue %s: error %v, output\n%s", args, err, out)
		}
	}
	shown, _ := pmg(t, "queue show "+hexID(quarantinedID)+" --store "+dir)
	for _, field := range []string{"priority      2", "attempts      3", "octets        12"} { // T19
		if !strings.Contains(shown, field) {
			t.Errorf("no %q in\n%s", field, shown)
		}
	}
	out, _ := pmg(t, "queue list --limit 2 --store "+dir)
	if !strings.Contains(out, "2 messages; there may be more: --limit 0 lists all\n") {
		t.Errorf("got\n%s", out)
	}
}

// The errors of queue and store commands say what to do.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	locked := newStoreForTest(t)
	s, err := store.Open(locked, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	damaged := newStoreForTest(t)
	manifests, _ := filepath.Glob(filepath.Join(damaged, "MANIFEST-*"))
	for _, name := range manifests {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	newer := newStoreForTest(t)
	db, err := pebble.Open(newer, &pebble.Options{Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("f"), []byte{0, 0, 0, 99}, pebble.Sync), db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	memory := process.WriteConfig(t, "store: {engine: memory}\nconnectors: []\n")
	for args, want := range map[string]string{
		"queue list --store " + locked:                     "another process has it open; stop that gateway, or give this one another store.dir; to ask a running gateway, name it with --address",
		"store check --store " + locked:                    "another process has it open",
		"store repair --store " + locked:                   "another process has it open",
		"queue list --store " + damaged:                    "pmg store repair puts it aside and saves what can be read",
		"store check --store " + damaged:                   "pmg store repair puts it aside and saves what can be read",
		"queue list --store " + newer:                      "a later version of pmg has written it: its format is 99",
		"store check --store " + newer:                     "a later version of pmg has written it: its format is 99",
		"store repair --store " + newer:                    "a later version of pmg has written it: its format is 99",
		"queue list --store /none":                         "cannot find the store: open /none: no such file or directory; --store names its directory",
		"store check --store " + empty:                     "cannot find the store: " + empty + " is empty; --store names its directory",
		"queue list -c " + memory:                          "has store.engine: memory, so there is none when the gateway is stopped",
		"queue list -c /none":                              "; --store names its directory",
		"queue list --state lost":                          `cannot select messages: there is no state "lost"; --state is one of queued, parked, quarantined`,
		"queue list --older -1h":                           "--limit and --older must not be negative",
		"queue show 77":                                    `"77" is not the id of a message: that has 16 hexadecimal digits, as in id= of the logs`,
		"queue retry":                                      "cannot retry messages: name their ids",
		"queue move --all":                                 `required flag(s) "to" not set`,
		"queue list --store a --address b":                 "if any flags in the group [store address] are set none of the others can be",
		"queue show 1a1fb0c12c230d41 --address [::1]:1":    "is it running, with this admin.address?",
		"queue sums --store " + newStoreForTest(t):         `cannot ask a gateway that is stopped: start it for "pmg queue sums"`,
		"queue delete --all --store " + newStoreForTest(t): `cannot ask a gateway that is stopped: start it for "pmg queue delete"`,
		"store backup /tmp/x --address 127.0.0.1:1":        "is it running, with this admin.address?",
		"queue list --address localhost":                   "missing port in address",
		"queue list 1a1fb0c12c230d4x --store " + damaged:   "is not the id of a message",
	} {
		if out, err := pmg(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pmg %s: got error %v, want %s, output\n%s", args, err, want, out)
		}
	}
}

// A damaged store is put aside. The new one contains what could be read.
func TestStoreRepair(t *testing.T) {
	t.Parallel()
	dir := newStoreForTest(t)
	out, err := pmg(t, "store check --store "+dir)
	if err != nil || !strings.Contains(out, "messages 4") || !strings.Contains(out, "messages from "+hexID(queuedID)+" to "+hexID(forAccountID)) {
		t.Errorf("error %v, output\n%s", err, out)
	}
	manifests, _ := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	for _, name := range manifests {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	out, err = pmg(t, "store repair --store "+dir)
	if aside, _ := filepath.Glob(dir + ".damaged-*"); exitStatus(err) != exitLosses || len(aside) != 1 || !strings.Contains(out, "the old one is in "+aside[0]) {
		t.Errorf("error %v, output\n%s", err, out)
	}
	out, err = pmg(t, "store check --store "+dir)
	if err != nil || !strings.Contains(out, "messages 4") {
		t.Errorf("error %v, output\n%s", err, out)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	for range 2 {
		if out, err = pmg(t, "store backup --store "+dir+" "+copied); err != nil {
			break
		}
		if out, err := pmg(t, "queue list --store "+copied); err != nil || !strings.Contains(out, "4 messages\n") {
			t.Errorf("error %v, output\n%s", err, out)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "cannot back up the store to "+copied) {
		t.Errorf("a backup overwrites another: error %v, output\n%s", err, out)
	}
}

// The commands ask a running gateway at its admin address, and take its store when it is
// stopped.
func TestQueueRunning(t *testing.T) {
	t.Parallel()
	dir, backups, admin := newStoreForTest(t), t.TempDir(), testutil.FreeAddress(t)
	file := process.WriteConfig(t, fmt.Sprintf(`pdulog: {enabled: false}
admin: {address: %q}
store: {dir: %q, backups: %q}
no_route: park
accounts: [{system_id: other, password: s3cret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret}
  - {name: second, direction: out, address: %q, system_id: pmg, password: secret}
routes: [{to: operator, destination: "467"}]
`, admin, dir, backups, testutil.FreeAddress(t), testutil.FreeAddress(t)))
	cfg, err := loadConfig(t.Output(), file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := startServer(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the messages are in their queues", s.gateway.Keeper.Recovered)
	copied := filepath.Join(backups, "copy")
	for _, c := range []struct{ args, want string }{
		{"queue list -c " + file, "4 messages\n"},
		{"queue list --address " + admin, "4 messages\n"},
		{"status -c " + file, "parked 1, quarantined 1"},
		{"queue show --text --address " + admin + " " + hexID(parkedID), "it needs a token with scope operate"},
		{"queue retry --state parked -c " + file, hexID(parkedID) + ": no route\n0 messages retried; 1 without a route and left alone\n"},
		{"queue move --state parked --to second -c " + file, "1 message moved\n"},
		{"queue move --all --to nowhere -c " + file, `cannot move messages: there is no out connector "nowhere"; the out connectors are: operator, second`},
		{"queue delete --connector operator -c " + file, "2 messages deleted\n"},
		{"queue delete --all --dry-run --limit 1 -c " + file, "1 message would be deleted; nothing was changed\n"},
		{"queue list --store " + dir, "another process has it open"},
		{"store backup --address " + admin + " copy", "it needs a token with scope administer"},
		{"store backup -c " + file + " " + copied, "a copy has a name of letters"},
		{"store backup -c " + file + " copy", "the store was copied to " + copied},
		{"store backup -c " + file + " copy", copied + " exists already"},
		{"queue list --store " + copied, "2 messages\n"},
	} {
		out, err := pmg(t, c.args)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("pmg %s: want %q, got\n%s", c.args, c.want, out)
		}
	}
	if err := s.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := pmg(t, "queue list --json -c "+file)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var m operate.StoredMessage
	if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], "no gateway that runs with ") ||
		json.Unmarshal([]byte(lines[1]), &m) != nil || m.ID != hexID(parkedID) || m.Connector != "second" {
		t.Errorf("error %v, output\n%s", err, out)
	}
}

// A store in memory contains only the messages that were put aside, and the commands say so.
func TestQueueInMemory(t *testing.T) {
	t.Parallel()
	cfg, err := loadConfig(t.Output(), process.WriteConfig(t, `pdulog: {enabled: false}
admin: {address: "127.0.0.1:0", tokens: [{name: test, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0", scope: administer}]}
store: {engine: memory, backups: "`+t.TempDir()+`"}
no_route: park
accounts: [{system_id: load, password: secret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0"}]
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := startServer(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop(t.Context()) })
	s.submit(t, 1)
	for _, c := range []struct{ args, want string }{
		{"queue list", "parked"},
		{"store backup copy", "cannot back up the store: it is in memory; use an engine that is durable"},
		{"queue delete --all", "(store.engine: memory)"},
		{"queue list", "no messages"},
	} {
		out, err := pmg(t, c.args+" --address "+s.admin.Addr()+" --token-file "+tokenFile(t))
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("pmg %s: want %q, got\n%s", c.args, c.want, out)
		}
	}
}

// silent is pebble's log of a test.
type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Errorf(string, ...any)             {}
func (silent) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// O21: messages that wait are summed up by peer and account, with the time that the peer needs for
// them at its rate.
func TestQueueSums(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/v1/queue/sums", func(w http.ResponseWriter, r *http.Request) {
		at := time.Now().Add(-90 * time.Second)
		taken := 100 + 10*calls.Add(1)
		_ = json.NewEncoder(w).Encode([]operate.QueueSum{
			{State: "queued", Connector: "operator", Account: "acme", Messages: 5000, Oldest: &at, Taken: taken},
			{State: "queued", Connector: "operator", Account: "other", Messages: 1000, Oldest: &at, Taken: taken},
			{State: "queued", Receiver: "away", From: "operator", Messages: 7, Oldest: &at}, {State: "parked", Messages: 2},
		})
	})
	mux.HandleFunc("GET /admin/v1/queue", func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(operate.QueuePage{}) })
	mux.HandleFunc("GET /admin/v1/status", func(w http.ResponseWriter, r *http.Request) {
		_, s := twoStatuses()
		_ = json.NewEncoder(w).Encode(s)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	address := " --address " + server.Listener.Addr().String()
	out, err := pmg(t, "queue sums --over 100ms"+address) // 10 messages in 100 ms
	out = regexp.MustCompile(" +").ReplaceAllString(out, " ")
	for _, want := range []string{"\noperator acme queued 5000 1m30s 100.0 1m0s\n", "\noperator other queued 1000 1m30s 100.0 1m0s\n",
		"\naccount away connector operator queued 7 1m30s - -\n", "\n- - parked 2 - - -\n", "6009 messages wait\n"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("error %v, want %q in\n%s", err, want, out)
		}
	}
	for args, want := range map[string]string{
		"list --connector operater": "there is no connector operater; did you mean operator?",
		"list --account laod":       "there is no account laod; did you mean load?",
		"list --connector clients":  "connector clients is for clients, whose messages wait under the name of the account: use --account",
		"list --account zzzzzz":     "there is no account zzzzzz; pmg status lists them",
		"list --account load":       "no messages\n",
		"list --kind sms":           "--kind is submit, mo or receipt",
	} {
		out, err := pmg(t, "queue "+args+address)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, want) || err != nil && strings.Contains(out, "no messages") {
			t.Errorf("pmg queue %s: want %q, got\n%s", args, want, out)
		}
	}
}
