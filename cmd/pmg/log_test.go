package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/pdulog"
	"pmg/protocols/smpp"
)

const logWire = "00000010000000150000000000000007" // enquire_link, sequence_number 7

// logDir returns a directory with pdu logs of two connectors.
func logDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	pdu := smpp.New(smpp.Options{}).NewPDU()
	now := time.Date(2026, 11, 20, 19, 5, 22, 0, time.UTC).UnixNano()
	for i, name := range []string{"clients", "operator"} {
		f, err := pdulog.NewDir(dir, pdulog.Options{Text: true}).Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			line := "enquire_link seq=7"
			if n%2 == 1 {
				line = "submit_sm_resp seq=7 status=0x58(ESME_RTHROTTLED)"
			}
			if err := smpp.New(smpp.Options{}).ParseLog(pdu, []byte(line)); err != nil {
				t.Fatal(err)
			}
			f.Line(now+int64(2*n+i)*1e6, n/2%4, n%2 == 0, pdu, pdulog.LoggedIn, pdulog.About{})
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runLog(ctx context.Context, out io.Writer, args ...string) error {
	cmd := newLogCommand()
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage = true // like the root command
	return cmd.ExecuteContext(ctx)
}

func TestLog(t *testing.T) {
	dir := logDir(t)
	f := func(args string, lines int, contains string) {
		t.Helper()
		var out bytes.Buffer
		err := runLog(context.Background(), &out, append(strings.Fields(args), "--dir", dir)...)
		if err != nil {
			t.Errorf("pmg log %s: %v", args, err)
		}
		if got := strings.Count(out.String(), "\n"); got != lines || !strings.Contains(out.String(), contains) {
			t.Errorf("pmg log %s prints %d lines, want %d with %q\n%s", args, got, lines, contains, out.String())
		}
	}
	f("", 10, "2026-11-20T19:05:22.039000Z operator/1 > submit_sm_resp seq=7 status=0x58(ESME_RTHROTTLED)\n")
	f("-n 3", 3, "operator/1")
	f("-n 0", 0, "")
	f("-n -1", 40, "clients/0 <")
	f("-n -1 --connector clients", 20, "clients/0 <")
	f("-n -1 --connector clients --instance 1,2", 10, "clients/2 <")
	f("-n -1 --command submit_*", 20, "submit_sm_resp")
	f("-n -1 --direction in", 20, "enquire_link")
	f("-n -1 --status nonzero --direction in", 0, "")
	f("-n -1 --status ESME_RTHROTTLED", 20, "submit_sm_resp")
	f("-n -1 --status ESME_ROK", 0, "")
	f("-n -1 --grep THROTT", 20, "submit_sm_resp")
	f("--since 2026-11-20T19:05:22.010Z --until 2026-11-20T19:05:22.025Z", 15, "")
	f("--json", 10, `"fields":{"seq":"7"}`)
	f("--hex --command enquire_link", 10, "< enquire_link "+logWire+"\n")
	f("--summary", 5, "10     10        0     2ms")
	f("--summary --command enquire_link", 3, "10     10        0     2ms") // U14: their answers are counted
	f("--summary --json --connector clients", 23, `"p99_ns": 2000000`)
}

func TestLogTime(t *testing.T) {
	now := time.Date(2026, 11, 20, 19, 5, 22, 0, time.UTC)
	f := func(s string, want time.Time) {
		t.Helper()
		if got, err := logTime("--since", s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	f("", time.Time{})
	f("10m", now.Add(-10*time.Minute))
	f("2026-11-20T19:05:22.469303Z", now.Add(469303*time.Microsecond)) // copied from a line
	f("2026-11-20T20:05:22+01:00", now)
	f("2026-11-20T20:05+01:00", now.Add(-22*time.Second))
	// U14
	f("7d", now.AddDate(0, 0, -7))
	f("1d12h30m", now.Add(-36*time.Hour-30*time.Minute))
	f("2026-11-20", now.Truncate(24*time.Hour))
	f("2026-11-19T23:59", time.Date(2026, 11, 19, 23, 59, 0, 0, time.UTC))
	f("2026-11-19 23:59:58.5", time.Date(2026, 11, 19, 23, 59, 58, 5e8, time.UTC))
	f("19:05", now.Add(-22*time.Second))
	f("19:05:22", now)
	f("19:05:23", now.Add(time.Second-24*time.Hour)) // yesterday, because it is later than now
	for _, bad := range []string{"yesterday", "7", "d", "1dd", "25:00", "2026-13-01", "2026-11-20T", "-"} {
		if got, err := logTime("--since", bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// U14: pmg log reads pmg.yaml as status does.
func TestLogDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	f := func(file string, named bool, want, wantErr string) {
		t.Helper()
		got, err := logDirectory(file, named)
		if got != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: %q, %v; want %q, %q", file, got, err, want, wantErr)
		}
	}
	f("pmg.yaml", false, "pdulog", "")
	f("pmg.yaml", true, "", "no configuration: ./pmg.yaml")
	if err := os.WriteFile("pmg.yaml", []byte("pdulog: {dir: elsewhere}\n"+
		"connectors: [{name: c, direction: in, address: 127.0.0.1:2775}]\naccounts: [{system_id: a, password: b}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("pmg.yaml", false, "elsewhere", "")
	if err := os.WriteFile("pmg.yaml", []byte("pdulog: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("pmg.yaml", false, "", "--dir names it without a configuration")
}

// U7: pmg log --json prints the id and the account of a line.
func TestLogJSON(t *testing.T) {
	dir := t.TempDir()
	line := "2026-11-20T19:05:22.000000Z operator/1 > submit_sm seq=5 destination_addr=46700000002 id=1a1fb0c12c230d41 account=acme\n"
	if err := os.WriteFile(filepath.Join(dir, "operator.log"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := runLog(t.Context(), &out, "--json", "--dir", dir); err != nil {
		t.Fatal(err)
	}
	var got struct{ ID, Account string }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.ID != "1a1fb0c12c230d41" || got.Account != "acme" {
		t.Errorf("error %v, got %+v of\n%s", err, got, out.String())
	}
}

// U14: texts are decoded and found decoded. U11: no octets are invented.
func TestLogTexts(t *testing.T) {
	dir := t.TempDir()
	const head = "2026-11-20T19:05:22.039000Z clients/3 < "
	lines := []string{
		head + `submit_sm seq=1 data_coding=8 short_message="\x04\x1f\x04\x40"`,
		head + `submit_sm seq=2 short_message="Gr\x7e\x1ee"`,
		head + `submit_sm seq=3 short_message=*5`,
		head + `submit_sm seq=4 malformed hex=*20 error="service_type does not end"`,
	}
	if err := os.WriteFile(filepath.Join(dir, "clients.log"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(args, want, wantErr string) {
		t.Helper()
		var out bytes.Buffer
		err := runLog(context.Background(), &out, append(strings.Fields(args), "--dir", dir)...)
		if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("pmg log %s: %v, want %q", args, err, wantErr)
		}
		if out.String() != want {
			t.Errorf("pmg log %s\n%swant\n%s", args, out.String(), want)
		}
	}
	f("--grep Пр", head+`submit_sm seq=1 data_coding=8 text="Пр"`+"\n", "")
	f("--grep üß", head+`submit_sm seq=2 text="Grüße"`+"\n", "")
	f("--grep üß --decode=false", lines[1]+"\n", "")
	f("--grep seq=[34]", lines[2]+"\n"+lines[3]+"\n", "")
	one := head + "submit_sm 00000025000000040000000000000001" + strings.Repeat("00", 14) + "080004" + "041f0440\n"
	f("--hex --grep seq=1", one, "")
	f("--hex --grep seq=[13]", one, "cannot convert 1 of the lines")
	f("--hex --grep seq=[34]", "", "cannot convert 2 of the lines; the first: pdu log line")
	f("--hex --grep seq=4", "", "does not hold all of its octets")
}

func TestLogErrors(t *testing.T) {
	dir := logDir(t)
	f := func(want string, args ...string) {
		t.Helper()
		if err := runLog(context.Background(), io.Discard, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pmg log %q: %v, want %q", args, err, want)
		}
	}
	f("is pdulog.enabled set", "--dir", filepath.Join(dir, "none"))
	f("is pdulog.enabled set", "--dir", t.TempDir())
	f("there are logs of: clients, operator", "--dir", dir, "--connector", "client")
	f("use an age", "--dir", dir, "--since", "yesterday")
	f("is not before", "--dir", dir, "--since", "1h", "--until", "2h")
	// U14: a mistyped name is an error, because otherwise it would select no lines.
	f("cannot use --status ESME_RTHROTLED: no protocol has it: did you mean ESME_RTHROTTLED?", "--dir", dir, "--status", "ESME_RTHROTLED")
	f("did you mean ESME_RTHROTTLED?", "--dir", dir, "--status", "throttled")
	f("did you mean nonzero?", "--dir", dir, "--status", "non-zero")
	f("cannot use --command sumbit_sm: no protocol has it: did you mean submit_sm?", "--dir", dir, "--command", "sumbit_sm")
	f("did you mean submit_sm?", "--dir", dir, "--command", "submit")
	f("no protocol has it", "--dir", dir, "--command", "x*")
	f("syntax error", "--dir", dir, "--command", "[")
	f("cannot use --grep", "--dir", dir, "--grep", "(")
	f("cannot use --status", "--dir", dir, "--status", "0x")
	f("cannot use --direction", "--dir", dir, "--direction", "up")
	f("cannot read configuration", "--config", filepath.Join(dir, "none"))
	f("", "--dir", dir, "--hex", "--json")

	odd := filepath.Join(dir, "odd.log")
	if err := os.WriteFile(odd, []byte("2026-11-20T19:05:22.039000Z odd/3 > hello seq=7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("no protocol has the command hello", "--dir", dir, "--connector", "odd", "--hex")
}

func TestLogFollowEndsCleanly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir, out := logDir(t), &cancelAt{want: "operator/1 >", cancel: cancel}
	if err := runLog(ctx, out, "-f", "--dir", dir); err != nil {
		t.Error(err)
	}
	if got := strings.Count(out.String(), "\n"); got != 10 {
		t.Errorf("%d lines, want 10", got)
	}
}

// cancelAt ends the command when it has written the last line that the test waits for.
type cancelAt struct {
	bytes.Buffer
	want   string
	cancel func()
}

func (c *cancelAt) Write(b []byte) (int, error) {
	n, err := c.Buffer.Write(b)
	if lines := strings.Count(c.String(), "\n"); lines == 10 && bytes.Contains(b, []byte(c.want)) {
		c.cancel()
	}
	return n, err
}

// A log of any protocol is read by its commands, without the configuration.
func TestLogOfAnyProtocol(t *testing.T) {
	p := newLogProtocols()
	for command, protocol := range map[string]string{"submit_sm": "smpp", "op51": "ucp", "op51_result": "ucp", "noise": "ucp"} {
		if d, err := p.find(command); err != nil || d.Name() != protocol {
			t.Errorf("%s: %v", command, err)
		}
	}
	if n, err := p.status("authentication_failure"); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := p.find("nothing"); err == nil {
		t.Error("nothing is found")
	}
}
