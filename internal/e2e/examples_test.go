package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
)

// An example is a plugin of packaging/examples/plugins, with its files in a directory.
type example struct {
	t         *testing.T
	name      string
	dir, yaml string
	address   string // of its service
}

// newExample copies the files of an example. What its configuration names a path of in /etc/pmg is its program.
func newExample(t *testing.T, name string) *example {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	e := &example{t: t, name: name, dir: t.TempDir(), address: testutil.FreeAddress(t)}
	files, err := filepath.Glob("../../packaging/examples/plugins/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e.write(filepath.Base(file), string(b))
		if filepath.Base(file) == name+".yaml" {
			_, text, _ := strings.Cut(string(b), "\nplugins:")
			text, _, _ = strings.Cut(text, "connectors:")
			e.yaml = "plugins:" + strings.ReplaceAll(text, "/etc/pmg", e.dir)
		}
	}
	if e.yaml == "" {
		t.Fatalf("there is no example %q", name)
	}
	e.yaml = regexp.MustCompile(`127\.0\.0\.1:80\d\d`).ReplaceAllString(e.yaml, e.address)
	return e
}

func (e *example) write(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// run runs its service as a process. It returns what ends it.
func (e *example) run(arguments ...string) (end func()) {
	e.t.Helper()
	_, port, _ := net.SplitHostPort(e.address)
	cmd := exec.Command("python3", append([]string{e.name + ".py", port}, arguments...)...)
	cmd.Dir, cmd.Stderr = e.dir, e.t.Output()
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	e.t.Cleanup(end)
	testutil.Eventually(e.t, "it listens", func() bool {
		conn, err := net.Dial("tcp", e.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return end
}

// start starts a gateway with the plugin, which has time.
func (e *example) start(s site) *exampleRun {
	e.t.Helper()
	s.operator, s.memory = newSMSC(e.t), true
	s.top = strings.Replace(e.yaml, "    deadline: 3s\n", "", 1)
	s.top = regexp.MustCompile(`on_failure: (pass|hold|refuse)(,|}|\n)`).ReplaceAllStringFunc(s.top, func(found string) string {
		if separator := found[len(found)-1:]; separator == "\n" {
			return found + "    deadline: 30s\n"
		}
		return found[:len(found)-1] + ", deadline: 30s" + found[len(found)-1:]
	})
	g := start(e.t, s)
	return &exampleRun{g: g, smsc: s.operator.session(), client: g.bind("transmitter"), seq: 2}
}

// An exampleRun is a gateway with a plugin, and a client that submits.
type exampleRun struct {
	g            *gw
	smsc, client *peer
	seq          int
}

const (
	accepted    = "0"
	rejected    = "0x45(ESME_RSUBMITFAIL)"
	badSource   = "0xa(ESME_RINVSRCADR)"
	unavailable = "0x64(ESME_RX_T_APPN)"
)

// submits submits a message, and checks its answer and what leaves by an SMSC; "": nothing.
func (r *exampleRun) submits(by *peer, from, to, text, status, leaves string) {
	r.g.t.Helper()
	r.client.send(fmt.Sprintf(
		`submit_sm seq=%d source_addr_ton=5 source_addr="%s" dest_addr_ton=1 dest_addr_npi=1 destination_addr=%s short_message="%s"`,
		r.seq, from, to, text,
	))
	r.client.want("submit_sm_resp", fmt.Sprint("seq=", r.seq), "status="+status)
	r.seq++
	if leaves == "" {
		return
	}
	line := by.want("submit_sm")
	if !strings.Contains(line, leaves) {
		r.g.t.Errorf("%q leaves as %s, want %s", text, line, leaves)
	}
	by.answer(0, field(line, "seq"))
}

func TestExampleRules(t *testing.T) {
	parallel(t)
	r := newExample(t, "countries").start(site{})
	r.submits(r.smsc, "ACME", "12025550123", "hello", accepted, `source_addr_ton=1 source_addr_npi=1 source_addr=12025550100 `)
	r.submits(r.smsc, "ACME", "33612345678", "hello", accepted, `short_message="hello\x0aSTOP 36111"`)
	r.submits(r.smsc, "ACME", "33612345678", "STOP", accepted, `short_message="STOP"`)
	r.submits(r.smsc, "ACME", "46701740605", "hello", accepted, `source_addr=ACME `)
	r.g.settled()
}

func TestExampleSenders(t *testing.T) {
	parallel(t)
	e := newExample(t, "senders")
	r := e.start(site{})
	r.submits(r.smsc, "Acme Care", "46", "1", accepted, `short_message="1"`)
	r.submits(r.smsc, "acme", "46", "2", accepted, `short_message="2"`)
	r.submits(r.smsc, "Other", "46", "3", badSource, "")
	replace := func(age time.Duration, text string) {
		e.write("senders.csv", text)
		at := time.Now().Add(-age) // another one each time, whatever the clock of the disk
		if err := os.Chtimes(filepath.Join(e.dir, "senders.csv"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	replace(time.Hour, "\ufeffsender,account\r\nOther,acme\r\nACME,other\r\n")
	r.submits(r.smsc, "Other", "46", "4", accepted, `short_message="4"`)
	r.submits(r.smsc, "ACME", "46", "5", badSource, "")
	replace(time.Minute, "name\nOther,acme\n")
	r.submits(r.smsc, "Other", "46", "6", unavailable, "")
	r.g.settled()
}

func TestExampleNetwork(t *testing.T) {
	parallel(t)
	e, direct := newExample(t, "network"), newSMSC(t)
	var asked atomic.Int64
	networks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/networks/46701":
			_, _ = io.WriteString(w, `{"network": "24001"}`)
		case "/networks/46702":
			_, _ = io.WriteString(w, `{"network": "no tag"}`)
		case "/networks/46703":
			_, _ = io.WriteString(w, `{"network": 7`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer networks.Close()
	e.yaml = strings.NewReplacer("http://"+e.address, networks.URL, "workers: 8", "workers: 1").Replace(e.yaml)
	r := e.start(site{more: row("direct", direct, ""), routes: "{tag: \"net:24001\", to: direct}\n{to: operator}"})
	tagged := direct.session()
	for _, text := range []string{"1", "2"} {
		r.submits(tagged, "ACME", "46701", text, accepted, `short_message="`+text+`"`)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it is asked %d times about the same number", n)
	}
	for _, to := range []string{"46702", "46703", "46704", "x?/y"} {
		r.submits(r.smsc, "ACME", to, to, accepted, "short_message=")
	}
	networks.Close()
	r.submits(r.smsc, "ACME", "46705", "3", accepted, `short_message="3"`)
	r.submits(tagged, "ACME", "46701", "4", accepted, `short_message="4"`)
	r.g.settled()
}

func TestExampleSpam(t *testing.T) {
	parallel(t)
	e := newExample(t, "spam")
	end := e.run()
	r := e.start(site{})
	r.submits(r.smsc, "ACME", "46", "hello", accepted, `short_message="hello"`)
	r.submits(r.smsc, "ACME", "46", "Casino! Jackpot!", rejected, "")
	r.submits(r.smsc, "ACME", "46", "casino", accepted, "")
	r.g.wantStored(operate.StateParked)
	end()
	r.submits(r.smsc, "ACME", "46", "hello", accepted, "")
	r.g.wantStored(operate.StateParked, operate.StateParked)
}

func TestExamplePrepaid(t *testing.T) {
	parallel(t)
	e := newExample(t, "prepaid")
	end := e.run("balances.db")
	fill := exec.Command("python3", "-c", `import sqlite3; db = sqlite3.connect("balances.db"); db.execute("INSERT INTO balances VALUES ('acme', 2)"); db.commit()`)
	fill.Dir = e.dir
	if out, err := fill.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := e.start(site{})
	r.submits(r.smsc, "ACME", "46", "1", accepted, `short_message="1"`)
	r.submits(r.smsc, "ACME", "46", "2", accepted, `short_message="2"`)
	r.submits(r.smsc, "ACME", "46", "3", rejected, "")
	end()
	r.submits(r.smsc, "ACME", "46", "4", unavailable, "")
	e.run("balances.db")
	r.submits(r.smsc, "ACME", "46", "5", rejected, "")
	r.g.settled()
}
