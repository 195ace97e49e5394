package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"pmg/internal/testkit/testutil"
	"sync"
	"testing"
	"time"
)

// patience is how long a scenario waits for an event that must happen.
const patience = 10 * time.Second

// A message is what a library submits or delivers, or has received.
type message struct {
	From       string            `json:"from,omitempty"`
	To         string            `json:"to,omitempty"`
	Text       string            `json:"text,omitempty"`   // as the library encodes or decodes it
	Octets     string            `json:"octets,omitempty"` // hex; in place of the text
	UDH        string            `json:"udh,omitempty"`    // hex
	Coding     int               `json:"coding,omitempty"` // data_coding
	Class      int               `json:"class,omitempty"`  // esm_class
	Payload    bool              `json:"payload,omitempty"`
	Parts      bool              `json:"parts,omitempty"` // the library cuts the text itself
	Registered int               `json:"registered,omitempty"`
	Validity   string            `json:"validity,omitempty"`
	TLVs       map[string]string `json:"tlvs,omitempty"` // hex by tag: "1400"
}

// A request is what a library is to do. It answers with an event "done" of the same number.
//
// A client knows bind, submit, data, multi, query, cancel, replace, enquire and unbind; an SMSC
// answer, deliver, enquire and close.
type request struct {
	Do       string   `json:"do"`
	N        int      `json:"n"`
	Kind     string   `json:"kind,omitempty"` // of bind: transmitter, receiver or transceiver
	Name     string   `json:"name,omitempty"` // system_id
	Password string   `json:"password,omitempty"`
	Version  int      `json:"version,omitempty"`
	ID       string   `json:"id,omitempty"`  // of a message
	Key      string   `json:"key,omitempty"` // of the request that is answered
	Status   int      `json:"status,omitempty"`
	State    int      `json:"state,omitempty"`
	Many     []string `json:"many,omitempty"` // recipients
	message
}

// An event is what a library reports: done, deliver (a client was given a message), listening,
// bound, submit (an SMSC was given a request) or unbind.
type event struct {
	Event    string `json:"event"`
	N        int    `json:"n"`
	Status   int    `json:"status"`
	ID       string `json:"id"`
	IDs      []string
	State    int    `json:"state"`
	Command  string `json:"command"` // of submit: submit_sm, data_sm, query_sm ...
	Key      string `json:"key"`
	Name     string `json:"name"`
	Password string `json:"password"`
	Port     int    `json:"port"`
	Error    string `json:"error"`
	message
}

// A library is a peer that runs: a program with somebody's library in it, or Kannel.
type library interface {
	post(request)         // begins what is asked for
	events() <-chan event // what comes of that, and what happens otherwise
	close()
}

// A program is a library behind a pipe.
type program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    chan event
	stderr *testutil.Log
	ended  chan struct{}
	once   sync.Once
}

// run starts a driver.
func run(t testing.TB, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{cmd: cmd, out: make(chan event, 10_000), stderr: &testutil.Log{}, ended: make(chan struct{})}
	cmd.Stderr = p.stderr
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in = in
	go p.read(out)
	t.Cleanup(func() {
		p.close()
		if text := tail(p.stderr.String()); t.Failed() && text != "" {
			t.Logf("%s wrote: %s", cmd.Path, text)
		}
	})
	return p
}

func (p *program) read(out io.Reader) {
	defer close(p.ended)
	defer close(p.out)
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			fmt.Fprintf(p.stderr, "%s\n", s.Bytes()) // a library that writes to standard output
			continue
		}
		p.out <- e
	}
}

func (p *program) post(r request) {
	b, err := json.Marshal(r)
	if err == nil {
		_, err = p.in.Write(append(b, '\n'))
	}
	if err != nil {
		fmt.Fprintln(p.stderr, err)
	}
}

func (p *program) events() <-chan event { return p.out }

// close kills the program.
func (p *program) close() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		_ = p.cmd.Wait()
	})
}

// A peerEnd is the library's end of a scenario.
type peerEnd struct {
	t   testing.TB
	lib library
	n   int
	had []event // that were read and not asked for yet
}

// start begins a request, and returns its number.
func (p *peerEnd) start(r request) int {
	p.n++
	r.N = p.n
	p.lib.post(r)
	return r.N
}

// ask sends a request and returns its answer.
func (p *peerEnd) ask(r request) event {
	p.t.Helper()
	return p.done(p.start(r))
}

// done waits for the end of request n.
func (p *peerEnd) done(n int) event {
	p.t.Helper()
	return p.until(fmt.Sprintf("the end of request %d", n), func(e event) bool { return e.Event == "done" && e.N == n })
}

// next waits for the next event of a kind.
func (p *peerEnd) next(kind string) event {
	p.t.Helper()
	return p.until("an event "+kind, func(e event) bool { return e.Event == kind })
}

// until waits for the first event that matches.
func (p *peerEnd) until(what string, matches func(event) bool) event {
	p.t.Helper()
	for i, e := range p.had {
		if matches(e) {
			p.had = append(p.had[:i:i], p.had[i+1:]...)
			return e
		}
	}
	timeout := time.After(patience)
	for {
		select {
		case e, ok := <-p.lib.events():
			if !ok {
				p.t.Fatalf("waited for %s: the library has ended", what)
			}
			if matches(e) {
				return e
			}
			p.had = append(p.had, e)
		case <-timeout:
			p.t.Fatalf("waited in vain for %s; there were %+v", what, p.had[max(0, len(p.had)-5):])
		}
	}
}

// tail returns the end of a text.
func tail(text string) string { return text[max(0, len(text)-3000):] }
