package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pmg/internal/testkit/documents"
	"pmg/loadtest"
)

// runForTest runs a command and returns its output.
func runForTest(t *testing.T, cmd *cobra.Command, stderr io.Writer, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(stderr)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetContext(t.Context())
	err := cmd.Execute()
	return out.String(), err
}

// startSinkCommand runs pmgload sink. It returns the address of the sink and a function that
// waits for its end and returns its result.
func startSinkCommand(t *testing.T, args ...string) (string, func() (loadtest.SinkResult, error)) {
	t.Helper()
	said, stderr := io.Pipe()
	type end struct {
		out string
		err error
	}
	ended := make(chan end, 1)
	go func() {
		out, err := runForTest(t, newSinkCommand(), stderr, append(args, "--listen", "127.0.0.1:0", "--json")...)
		stderr.Close()
		ended <- end{out, err}
	}()
	line := make([]byte, 100)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, said)
	address := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "listening on "))
	return address, func() (r loadtest.SinkResult, err error) {
		e := <-ended
		if err := json.Unmarshal([]byte(e.out), &r); err != nil {
			t.Fatalf("%v in %q", err, e.out)
		}
		return r, e.err
	}
}

func TestLoadCommandAgainstSinkCommand(t *testing.T) {
	address, sink := startSinkCommand(t, "--messages", "500", "--receipts", "--throttle-every", "50")
	out, err := runForTest(t, newLoadCommand(), io.Discard, "--to", address, "--connections", "2",
		"--messages", "500", "--retry", "1ms", "--receipts", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var load loadtest.LoadResult
	if err := json.Unmarshal([]byte(out), &load); err != nil {
		t.Fatal(err)
	}
	seen, err := sink()
	if err != nil {
		t.Fatal(err)
	}
	if load.Accepted != 500 || load.Receipts != 500 || load.Throttled == 0 || seen.Unique != 500 {
		t.Errorf("load %+v, sink %+v", load, seen)
	}
}

// Two accounts get the receipts that they ask for and the messages that are sent to them.
func TestLoadCommandReceives(t *testing.T) {
	address, sink := startSinkCommand(t, "--messages", "500", "--receipts", "--receipt-delay", "1ms-5ms", "--receipt-fail", "20%",
		"--id-form", "decimal", "--receipt-session", "other", "--receipt-format", "tlv", "--mo-count", "100", "--window", "5")
	out, err := runForTest(t, newLoadCommand(), io.Discard, "--to", address, "--connections", "4", "--bind", "tx+rx",
		"--messages", "500", "--receipts", "--account", "a:x", "--account", "b:y", "--mo", "100", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var load loadtest.LoadResult
	if err := json.Unmarshal([]byte(out), &load); err != nil {
		t.Fatal(err)
	}
	seen, err := sink()
	if err != nil {
		t.Fatal(err)
	}
	if load.Receipts != 500 || load.ReceiptStates["UNDELIV"] == 0 || load.MO != 100 || seen.MOAnswered != 100 || seen.Binds != 8 {
		t.Errorf("load %+v, sink %+v", load, seen)
	}
}

func TestLoadCommandUCP(t *testing.T) {
	address, sink := startSinkCommand(t, "--protocol", "ucp", "--messages", "500", "--receipts", "--mo-count", "50")
	out, err := runForTest(t, newLoadCommand(), io.Discard, "--to", address, "--protocol", "ucp", "--connections", "2",
		"--messages", "500", "--receipts", "--mo", "50")
	if err != nil {
		t.Errorf("load: %v\n%s", err, out)
	}
	if seen, err := sink(); err != nil || seen.ReceiptsAnswered != 500 || seen.MOAnswered != 50 {
		t.Errorf("sink: %v, %+v", err, seen)
	}
}

// A load by HTTP and a sink that is called by HTTP understand each other, with receipts.
func TestLoadCommandHTTP(t *testing.T) {
	address, sink := startSinkCommand(t, "--protocol", "http", "--messages", "300", "--receipts", "--receipt-fail", "20%", "--throttle-every", "50")
	out, err := runForTest(t, newLoadCommand(), io.Discard, "--to", address, "--protocol", "http", "--connections", "4",
		"--messages", "300", "--receipts", "--retry", "1ms")
	if err != nil {
		t.Errorf("load: %v\n%s", err, out)
	}
	if seen, err := sink(); err != nil || seen.Unique != 300 || seen.ReceiptsAnswered != 300 || seen.Throttled == 0 {
		t.Errorf("sink: %v, %+v", err, seen)
	}
	for _, want := range []string{"messages       300\n", "accepted       300\n", "  delivered ", "  undelivered "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestSinkCommandRefusesWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--receipt-delay", "soon"},
		{"--receipt-delay", "2s-1s"},
		{"--receipt-delay", "1s", "--receipt-first"},
		{"--receipt-fail", "200%"},
		{"--receipt-format", "xml"},
		{"--id-form", "octal"},
		{"--receipt-session", "best"},
		{"--window", "-1"},
		{"--protocol", "ucp", "--window", "100"},
		{"--protocol", "ucp", "--id-form", "decimal"},
		{"--protocol", "ucp", "--unbind-every", "10"},
		{"--protocol", "cimd"},
		{"--mo-to", "123456789012345678901"},
		{"--webhook-key", "whsec_QUJD"},
		{"--protocol", "http", "--webhook-key", "secret"},
		{"--protocol", "http", "--unbind-every", "10"},
		{"--protocol", "http", "--mo", "10"},
		{"--protocol", "http", "--check-text"},
		{"--protocol", "http", "--receipt-session", "other"},
	} {
		if _, err := runForTest(t, newSinkCommand(), io.Discard, append(args, "--listen", "127.0.0.1:0")...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestLoadCommandFailsWhenRefused(t *testing.T) {
	address, sink := startSinkCommand(t, "--messages", "100", "--refuse-every", "10", "--duration", "1s")
	out, err := runForTest(t, newLoadCommand(), io.Discard, "--to", address, "--messages", "100")
	if err == nil || err.Error() != "10 refused" {
		t.Errorf("load: got error %v", err)
	}
	if !strings.Contains(out, "ESME_RSUBMITFAIL  10\n") {
		t.Errorf("summary does not name the status:\n%s", out)
	}
	if seen, err := sink(); err == nil || seen.Missing != 10 {
		t.Errorf("sink: got error %v, %d missing", err, seen.Missing)
	}
}

func TestLoadCommandRefusesWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--messages", "1"},
		{"--to", "127.0.0.1:1"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--bind", "both"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--account", "nobody"},
		{"--to", "127.0.0.1:1", "--mo", "1", "--mo-to", "1001", "--mo-to", "1002"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--size", "1"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--stream"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--protocol", "http", "--window", "5"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--protocol", "http", "--mo-to", "1001"},
		{"--to", "127.0.0.1:1", "--messages", "1", "--protocol", "http", "--bind", "transmitter"},
	} {
		if _, err := runForTest(t, newLoadCommand(), io.Discard, args...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// O16: a sink that is to send some messages goes on until it is interrupted.
func TestSinkGoesOn(t *testing.T) {
	o := loadtest.SinkOptions{Listen: "127.0.0.1:0", MO: loadtest.MOOptions{Count: 5}}
	s, err := loadtest.StartSink(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if endOf(s, o.Messages) != nil {
		t.Error("--mo-count alone ends the sink")
	}
	if o.Messages = 1; endOf(s, o.Messages) == nil {
		t.Error("--messages does not end the sink")
	}
}

// The commands in documents exist, with the flags that stand there.
func TestDocumentsCommands(t *testing.T) {
	documents.CheckCommands(t, "../../..", newRootCommand)
}
