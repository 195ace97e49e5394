package system

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pmg/gateway/privacy"
	"pmg/internal/testkit/testutil"
	"pmg/internal/testkit/traces"
	"pmg/loadtest"
)

const forgetConfig = `
log: {format: json}
pdulog: {dir: pdulog, flush: 100ms, compress: %v}
events: {dir: events, compress: %v}
stats: {dir: stats}
admin: {socket: admin.sock, audit: audit.log}
store: {dir: data, ballast: 0B, backups: backups}
accounts: [{system_id: load, password: secret, bind: [transmitter, receiver], receipts: force}]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, operations: true}
  - {name: emi, protocol: ucp, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms}
  - {name: dead, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes:
  - {to: dead, destination: "467000099"}
  - {to: emi, destination: "4671"}
  - {to: operator}
`

// The numbers and the texts by which people are found.
const (
	personA  = "46700012345"  // by SMPP
	personB  = "46710054321"  // by UCP
	personC  = "467000099123" // waits
	stranger = "467000123456" // begins with the number of A
	secretA  = "zebra-alpha-"
	secretB  = "zebra-bravo-"
	secretC  = "zebra-charlie-"
	harmless = "camel-"
)

func submit(t *testing.T, url, to, text string) {
	t.Helper()
	submitBy(t, url, "", map[string]string{"from": "1234", "to": to, "text": text})
}

// submitBy submits a message with an idempotency key, unless that is empty.
func submitBy(t *testing.T, url, key string, message map[string]string) {
	t.Helper()
	body, _ := json.Marshal(message)
	r, _ := http.NewRequest(http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
	r.SetBasicAuth("load", "secret")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, b)
	}
}

// eventLines returns all events in their order.
func eventLines(t *testing.T, dir string) (lines []map[string]any) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "events", "events*.log*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int { // the one without a time is the last
		return strings.Compare(strings.Replace(a, "events.log", "events-9.log", 1), strings.Replace(b, "events.log", "events-9.log", 1))
	})
	for _, name := range names {
		b, err := os.ReadFile(name)
		if strings.HasSuffix(name, ".zst") {
			z, _ := zstd.NewReader(nil)
			b, err = z.DecodeAll(b, nil)
			z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var e map[string]any
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
			lines = append(lines, e)
		}
	}
	return lines
}

// What is kept of people is found in the files, as docs/privacy.md says, and is gone when they were forgotten. What is kept of
// others stays, the events keep their numbers, and the statistics their sums.
func TestForget(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		t.Run(fmt.Sprint("compress ", compress), func(t *testing.T) { t.Parallel(); testForget(t, compress) })
	}
}

func testForget(t *testing.T, compress bool) {
	smsc, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Receipts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer smsc.Close()
	emi, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Protocol: "ucp", Receipts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer emi.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "pmg.yaml")
	config := fmt.Sprintf(forgetConfig, compress, compress, smsc.Addr(), emi.Addr())
	for _, name := range []string{"pdulog", "events", "stats", "data", "backups", "admin.sock", "audit.log"} {
		config = strings.Replace(config, ": "+name, ": "+filepath.Join(dir, name), 1)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program(t).Serve(t, file)
	p.Wait("serving")
	p.Wait("admin listening on its socket")
	url := "http://" + p.Wait("listening").Address
	for i := range 5 {
		submit(t, url, personA, fmt.Sprint(secretA, i))
		submit(t, url, "+"+personA, fmt.Sprint(secretA, "я", i))
		submit(t, url, "+"+personB, fmt.Sprint(secretB, i))
		submit(t, url, personB, fmt.Sprint(secretB, "я", i))
		submit(t, url, personC, fmt.Sprint(secretC, i))
		submit(t, url, stranger, fmt.Sprint(harmless, i))
		submit(t, url, stranger, fmt.Sprint("call ", personA, " ", secretA, i))
		submitBy(t, url, fmt.Sprint("order-", personA, "-", i), map[string]string{"from": "1234", "to": stranger, "text": harmless})
		submitBy(t, url, "", map[string]string{
			"from": "1234", "to": stranger, "text": fmt.Sprint("tel", personA, secretA), "client_reference": "n" + personA,
		})
	}
	const sent = 40 // those of C wait; one that is under way would be left, and the answer would say so
	testutil.Eventually(t, "all was sent", func() bool {
		ids := map[any]bool{}
		for _, e := range eventLines(t, dir) {
			ids[e["id"]] = true
		}
		return len(ids) >= sent
	})
	testutil.Eventually(t, "the store and the logs have them", func() bool {
		return len(traces.Find(t, filepath.Join(dir, "data"), stranger, personA)) > 0 && len(traces.Find(t, filepath.Join(dir, "pdulog"), stranger, personB)) > 0
	})
	for where, words := range map[string][]string{"data": {personC, secretC}, "pdulog": {secretA, secretB}, "events": {personA, personB}} {
		for _, word := range words {
			if len(traces.Find(t, filepath.Join(dir, where), stranger, word)) == 0 {
				t.Errorf("%s is not in %s, so nothing is tested", word, where)
			}
		}
	}
	forget := func(args ...string) *privacy.Report {
		t.Helper()
		out, err := program(t).Run(append([]string{"forget", "-o", "json"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		r := new(privacy.Report)
		if err := json.Unmarshal([]byte(out), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	asked := forget("--dry-run", "-c", file, personA, "+46 71-005 43 21", "00"+personC)
	if len(asked.Removed) < 4 || !asked.DryRun || asked.Numbers != 3 {
		t.Errorf("the dry run reports %+v", asked)
	}
	if len(traces.Find(t, filepath.Join(dir, "pdulog"), stranger, personA)) == 0 {
		t.Error("the dry run has removed something")
	}
	before := eventLines(t, dir)
	done := forget("-c", file, personA, personB, personC)
	t.Logf("%+v", done)
	people := []string{personA, personB, personC, secretA, secretB, secretC}
	testutil.Eventually(t, "nothing is left", func() bool {
		return len(traces.Find(t, dir, stranger, people...)) == 0 || time.Since(p.Began) > time.Minute
	})
	for _, left := range traces.Find(t, dir, stranger, people...) {
		t.Error(left)
	}
	again := forget("-c", file, personA, personB, personC)
	if len(again.Removed) > 0 {
		t.Errorf("the second time there was something left: %+v", again.Removed)
	}
	if status := p.Stop(); status != 0 || len(p.Problems()) > 0 {
		t.Errorf("exit status %d, problems %q", status, p.Problems())
	}
	after := eventLines(t, dir)
	for i, e := range after {
		if e["number"] != float64(i+1) {
			t.Fatalf("event %d has number %v", i+1, e["number"])
		}
		if i < len(before) && (e["id"] != before[i]["id"] || e["state"] != before[i]["state"]) {
			t.Errorf("event %d was %v and is %v", i+1, before[i], e)
		}
	}
	stats := "stats --by day,account,connector --csv -c " + file
	was, err := pmg(t, stats)
	_, rerr := pmg(t, "stats rebuild -c "+file)
	is, ierr := pmg(t, stats)
	if err := errors.Join(err, rerr, ierr); err != nil {
		t.Fatal(err)
	}
	if was != is {
		t.Errorf("statistics were\n%sand are, when made again,\n%s", was, is)
	}
	if len(traces.Find(t, filepath.Join(dir, "pdulog"), stranger, harmless)) == 0 {
		t.Error("texts of others have gone, too")
	}
	p = program(t).Serve(t, file) // the store is in order
	p.Wait("serving")
	if status := p.Stop(); status != 0 || len(p.Problems()) > 0 {
		t.Errorf("exit status %d, problems %q", status, p.Problems())
	}
}

// A gateway removes texts from the files that are older than retention says, and says how many.
func TestRetention(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, old := filepath.Join(dir, "pmg.yaml"), filepath.Join(dir, "clients-20260101T000000.000000.log")
	config := fmt.Sprintf("log: {format: json}\npdulog: {dir: %q, keep_age: 0s}\nstore: {dir: %q, ballast: 0B}\nadmin: {address: \"127.0.0.1:0\"}\n"+
		"retention: {texts: 168h}\naccounts: [{system_id: acme, password: s, retention: {texts: 240h, numbers: 240h}}]\n"+
		"connectors: [{name: clients, direction: in, address: \"127.0.0.1:0\"}]\n", dir, filepath.Join(dir, "data"))
	const line = "2026-01-01T00:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=1234 destination_addr=46700000001 short_message=\"zebra\""
	err := os.WriteFile(file, []byte(config), 0o600)
	if err = errors.Join(err, os.WriteFile(old, []byte(line+"\n"+line+" account=acme\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := program(t).Serve(t, file)
	admin := p.Wait("admin listening").Address
	testutil.Eventually(t, "the texts are gone", func() bool { return len(traces.Find(t, dir, stranger, "zebra")) == 0 })
	if left := traces.Find(t, dir, stranger, "46700000001"); len(left) != 1 {
		t.Errorf("numbers are in %q", left)
	}
	testutil.Eventually(t, "the figures say so", func() bool {
		resp, err := http.Get("http://" + admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return err == nil && bytes.Contains(b, []byte("pmg_retention_lines_total 2\n"))
	})
	if status := p.Stop(); status != 0 || len(p.Problems()) > 0 {
		t.Errorf("exit status %d, problems %q", status, p.Problems())
	}
}
