package main

import (
	"bytes"
	"context"
	"fmt"
	"pmg/internal/testkit/process"
	"regexp"
	"strings"
	"testing"
)

// pmg is the gateway of all tests.
var pmg = process.NewBuilt("../../..")

func TestMain(m *testing.M) { pmg.Main(m) }

// runDemoForTest runs the demo with further arguments, and returns what it prints and what is on standard error.
func runDemoForTest(t *testing.T, args ...string) (out, stderr string, err error) {
	t.Helper()
	var said bytes.Buffer
	out, err = runForTest(t, newDemoCommand(), &said, append(args, "--pmg", pmg.Program(t).Path)...)
	return out, said.String(), err
}

func TestDemo(t *testing.T) {
	t.Parallel()
	out, stderr, err := runDemoForTest(t, "--messages", "2000", "--connections", "8")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stderr) { // U16: no log lines between the output; a slow machine shows progress
		if !regexp.MustCompile(`^ *\d+ s  `).MatchString(line) {
			t.Errorf("standard error has\n%s", line)
		}
	}
	for _, want := range []string{
		"✓ messages     2,000 sent, 2,000 answered, 2,000 delivered\n",
		"  missing      0\n",
		"  doubled      0\n",
		" < submit_sm seq=2 ",
		` short_message="Hello, world"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	var one, all int // the store and the pdu logs may have a goroutine more for a while, but none for each client
	_, after, _ := strings.Cut(out, "  goroutines   ")
	if _, err := fmt.Sscanf(after, "%d with 1 client, %d with 8 clients", &one, &all); err != nil || all > one+4 {
		t.Errorf("goroutines: %d with 1 client, %d with 8: %v", one, all, err)
	}
	if lines := strings.Count(out, "Hello, world"); lines != 2 {
		t.Errorf("the message is logged %d times, not once received and once sent", lines)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// A firstWrite calls a function with the first text that is written to it.
type firstWrite struct {
	bytes.Buffer
	call func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		w.call()
	}
	return w.Buffer.Write(p)
}

// An interrupt stops the load, and the summary has what was sent until then. It comes with the first line of progress: a time
// would be before the load on a slow machine.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	program := pmg.Program(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	cmd := newDemoCommand()
	var out bytes.Buffer
	stderr := firstWrite{call: interrupt}
	cmd.SetOut(&out)
	cmd.SetErr(&stderr)
	cmd.SetArgs([]string{"--seconds", "600", "--connections", "4", "--pmg", program.Path})
	if err := cmd.ExecuteContext(ctx); err != nil || !strings.Contains(out.String(), "✓ messages     ") || !strings.Contains(out.String(), "  missing      0\n") {
		t.Errorf("%v\n%s%s", err, &out, &stderr)
	}
	if !strings.Contains(stderr.String(), " answered") {
		t.Errorf("no progress:\n%s", &stderr)
	}
}

func TestDemoUCP(t *testing.T) {
	t.Parallel()
	out, _, err := runDemoForTest(t, "--messages", "2000", "--connections", "8", "--protocol", "ucp")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"✓ messages     2,000 sent, 2,000 answered, 2,000 delivered\n",
		"  missing      0\n",
		"  doubled      0\n",
		" op51 seq=2 ",
		` AMsg="Hello, world"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if _, _, err := runDemoForTest(t, "--protocol", "cimd"); err == nil {
		t.Error("unknown protocol: no error")
	}
}

// A message by HTTP, the SMSC that has it, and the call of the webhook are one story.
func TestDemoHTTP(t *testing.T) {
	t.Parallel()
	out, _, err := runDemoForTest(t, "--messages", "2000", "--protocol", "http")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(out, `{"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	rest := out
	for _, want := range []string{
		"✓ messages     2,000 sent, 2,000 answered, 2,000 delivered\n",
		"  missing      0\n",
		"  doubled      0\n",
		"  $ curl -u load:secret http://127.0.0.1:",
		"  202 Accepted\n",
		` > submit_sm seq=`,
		` short_message="Hello, world" id=` + id + " account=load\n",
		" < deliver_sm seq=",
		"  webhook-id: evt_",
		`{"type":"message.delivered","timestamp":"`,
		`,"data":{"id":"` + id + `",`,
	} {
		var found bool
		if _, rest, found = strings.Cut(rest, want); !found {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, out)
		}
	}
}
