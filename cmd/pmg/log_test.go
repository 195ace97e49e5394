package main

import (
	"bytes"
	"context"
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

// logDir makes a directory with lines of two connectors.
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
			f.Line(now+int64(2*n+i)*1e6, n/2%4, n%2 == 0, pdu, true)
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
			t.Errorf("pmg log %s gives %d lines, want %d with %q\n%s", args, got, lines, contains, out.String())
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
	f("-n -1 --grep THROTT", 20, "submit_sm_resp")
	f("--since 2026-11-20T19:05:22.010Z --until 2026-11-20T19:05:22.025Z", 15, "")
	f("--json", 10, `"fields":{"seq":"7"}`)
	f("--hex --command enquire_link", 10, "< enquire_link "+logWire+"\n")
	f("--summary", 5, "10     10        0     2ms")
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
	f("there are clients, operator", "--dir", dir, "--connector", "client")
	f("give how long ago", "--dir", dir, "--since", "yesterday")
	f("cannot use --grep", "--dir", dir, "--grep", "(")
	f("cannot use --status", "--dir", dir, "--status", "0x")
	f("cannot use --direction", "--dir", dir, "--direction", "up")
	f("cannot read configuration", "--config", filepath.Join(dir, "none"))
	f("", "--dir", dir, "--hex", "--json")

	odd := filepath.Join(dir, "odd.log")
	if err := os.WriteFile(odd, []byte("2026-11-20T19:05:22.039000Z odd/3 > hello seq=7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("1 lines not converted, the first because: cannot tell the protocol", "--dir", dir, "--connector", "odd", "--hex")
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

// cancelAt ends the command when it has written what was wanted last.
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
