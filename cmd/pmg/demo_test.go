package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	var out, stderr bytes.Buffer
	cmd := newDemoCommand()
	cmd.SetArgs([]string{"--messages", "2000", "--connections", "8"})
	cmd.SetOut(&out)
	cmd.SetErr(&stderr)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stderr.String()) { // U16: no log lines between the output; a slow machine shows progress
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
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	var one, all int // the store and the pdu logs may have a goroutine more for a while, but none for each client
	_, after, _ := strings.Cut(out.String(), "  goroutines   ")
	if _, err := fmt.Sscanf(after, "%d with 1 client, %d with 8 clients", &one, &all); err != nil || all > one+4 {
		t.Errorf("goroutines: %d with 1 client, %d with 8: %v", one, all, err)
	}
	if lines := strings.Count(out.String(), "Hello, world"); lines != 2 {
		t.Errorf("the message is logged %d times, not once received and once sent", lines)
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestDemoUCP(t *testing.T) {
	out, err := runForTest(t, newDemoCommand(), &bytes.Buffer{}, "--messages", "2000", "--connections", "8", "--protocol", "ucp")
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
	if _, err := runForTest(t, newDemoCommand(), &bytes.Buffer{}, "--protocol", "cimd"); err == nil {
		t.Error("unknown protocol: no error")
	}
}

// A message by HTTP, the SMSC that has it, and the call of the webhook are one story.
func TestDemoHTTP(t *testing.T) {
	out, err := runForTest(t, newDemoCommand(), &bytes.Buffer{}, "--messages", "2000", "--protocol", "http")
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

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}
