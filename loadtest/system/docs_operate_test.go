package system

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

const operateConfig = `
log: {format: json}
pdulog: {dir: logs, flush: 1ms}
admin: {address: %q}
store: {dir: data, ballast: 0B, min_free: 1MiB, backups: copies}
events: {dir: events}
accounts: [{system_id: acme, password: secret}]
connectors:
  - {name: clients, direction: in, address: %q, window: 100}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// The answers of docs/operate.md work as they stand there, with a gateway that runs, is stopped,
// started again, and moves to another directory as to another machine.
func TestDocumentsOperate(t *testing.T) {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Receipts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	text := documents.Read(t, root+"/docs/operate.md")
	t.Chdir(t.TempDir())
	o := &operating{t: t, clients: freeAddress(t), backups: t.TempDir()}
	config := fmt.Sprintf(operateConfig, freeAddress(t), o.clients, sink.Addr())
	if err := os.WriteFile("pmg.yaml", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.load(3)
	first, err := os.ReadFile(filepath.Join("logs", "clients.log"))
	if err != nil {
		t.Fatal(err)
	}
	o.id = regexp.MustCompile(`message_id=([0-9a-f]{16})`).FindStringSubmatch(string(first))[1]

	o.wants(text, "A client's receipts do not come", o.id+": Delivered ", "  accepted from acme at ", "; receipt taken by acme at ", "; operator reported DELIVRD at ", "no sessions", "no messages")
	o.failing = "pmg queue list"
	o.wants(text, "What became of a message", "; receipt taken by acme at ", "there is no message "+o.id)
	o.failing = ""
	o.wants(text, "Where is the backlog, and how long does it take", "0 messages wait", "submit_sm_resp")
	o.between = func(command string) {
		if strings.HasPrefix(command, "pmg hold") {
			o.load(5)
		}
	}
	o.wants(text, "Take an SMSC out for an hour", "nothing is sent to operator until ", "operator   acme  queued         5 ", "5 messages wait",
		"messages are sent to operator again; ", "all 1 sessions of operator are open")
	o.between = nil
	o.process.Settle()
	o.wants(text, "Upgrade", "pmg.yaml can be used", "ready")

	before := lastNumber(t, "events")
	moved := t.TempDir()
	o.leaves = func() { // to the new machine, behind the backup
		for _, file := range []string{"pmg.yaml", "events"} {
			if out, err := exec.Command("cp", "-a", file, moved).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		t.Chdir(moved)
	}
	o.wants(text, "Restore elsewhere", "pmg.yaml can be used", "messages")
	o.load(1)
	o.process.Settle()
	testutil.Eventually(t, "the numbers of events go on", func() bool { return lastNumber(t, "events") > before })
	if problems := o.process.Problems(); len(problems) > 0 {
		t.Errorf("the gateway logs %q", problems)
	}
}

// operating runs commands of a document.
type operating struct {
	t       *testing.T
	process *process.Process
	clients string
	backups string
	id      string               // that stands for the one of the document
	failing string               // how a command begins that fails; empty: none does
	between func(command string) // is called behind each
	leaves  func()               // is called between two blocks
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (o *operating) start() {
	o.process = program(o.t).Serve(o.t, "pmg.yaml")
	o.process.Wait("admin listening")
	testutil.Eventually(o.t, "the SMSC is connected", func() bool { _, ok := o.process.Logged("bound"); return ok })
}

// load submits messages as acme, and waits for the answers.
func (o *operating) load(n int64) {
	o.t.Helper()
	l := loadtest.DefaultLoadOptions()
	l.To, l.Connections, l.Messages, l.SystemID, l.Timeout = o.clients, 1, n, "acme", testutil.Patience
	held := o.between != nil
	l.Receipts = !held
	r, err := loadtest.Load(context.Background(), l)
	if err != nil || r.Accepted != n {
		o.t.Fatalf("load: %v, %+v", err, r)
	}
	if !held {
		testutil.Eventually(o.t, "events are written", func() bool { return lastNumber(o.t, "events") >= int(2*n) })
	}
}

// lastNumber returns the number of the last event.
func lastNumber(t *testing.T, dir string) (n int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "events.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if all := regexp.MustCompile(`(?m)^\{"number":(\d+)`).FindAllStringSubmatch(string(b), -1); len(all) > 0 {
		_, _ = fmt.Sscan(all[len(all)-1][1], &n)
	}
	return n
}

// wants runs the commands of a section, and wants texts in what they print.
func (o *operating) wants(document, section string, texts ...string) {
	o.t.Helper()
	_, text, found := strings.Cut(document, "\n## "+section+"\n")
	if !found {
		o.t.Fatalf("docs/operate.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var printed strings.Builder
	for i, block := range documents.Blocks(text, "console") {
		if i > 0 && o.leaves != nil {
			o.leaves()
		}
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
				printed.WriteString(o.run(command))
				if o.between != nil {
					o.between(command)
				}
			}
		}
	}
	if printed.Len() == 0 {
		o.t.Fatalf("%s: it has no command", section)
	}
	for _, want := range texts {
		if !strings.Contains(printed.String(), want) {
			o.t.Errorf("%s: no %q in\n%s", section, want, &printed)
		}
	}
}

// run runs a command of a document, and returns what it prints.
func (o *operating) run(command string) string {
	o.t.Helper()
	words := strings.NewReplacer("1a1fb0c12c230d41", o.id, "+46700000001", "+46700000000", "/var/backups", o.backups, "queue sums", "queue sums --over 10ms").Replace(command)
	switch {
	case words == "systemctl stop pmg", words == "systemctl restart pmg", words == "systemctl start pmg":
		if words != "systemctl start pmg" {
			if status := o.process.Stop(); status != 0 {
				o.t.Errorf("exit status %d", status)
			}
		}
		if words != "systemctl stop pmg" {
			o.start()
		}
		return ""
	case !strings.HasPrefix(words, "pmg "):
		out, err := exec.Command("/bin/sh", "-c", words).CombinedOutput()
		if err != nil {
			o.t.Errorf("%s: %v: %s", words, err, out)
		}
		return string(out)
	}
	out, err := pmg(o.t, strings.TrimPrefix(words, "pmg "))
	if fails := o.failing != "" && strings.HasPrefix(words, o.failing); (err != nil) != fails {
		o.t.Errorf("%s: %v\n%s", words, err, out)
	}
	if err != nil {
		out += err.Error()
	}
	return out
}
