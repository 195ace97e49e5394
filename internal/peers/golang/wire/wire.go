// Package wire has the requests of the tests, one line of JSON each, and the events that answer
// them.
//
// # Start reading
//
// Serve.
package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// A Message is what a library submits or delivers, or has received.
type Message struct {
	From       string            `json:"from,omitempty"`
	To         string            `json:"to,omitempty"`
	Text       string            `json:"text,omitempty"`
	Octets     string            `json:"octets,omitempty"` // hex
	UDH        string            `json:"udh,omitempty"`    // hex
	Coding     int               `json:"coding,omitempty"`
	Class      int               `json:"class,omitempty"`
	Payload    bool              `json:"payload,omitempty"`
	Parts      bool              `json:"parts,omitempty"`
	Registered int               `json:"registered,omitempty"`
	Validity   string            `json:"validity,omitempty"`
	TLVs       map[string]string `json:"tlvs,omitempty"`
}

// A Request is what the library is to do.
type Request struct {
	Do       string   `json:"do"`
	N        int      `json:"n"`
	Kind     string   `json:"kind"`
	Name     string   `json:"name"`
	Password string   `json:"password"`
	Version  int      `json:"version"`
	ID       string   `json:"id"`
	Key      string   `json:"key"`
	Status   int      `json:"status"`
	State    int      `json:"state"`
	Many     []string `json:"many"`
	Message
}

// An Event is what the library reports.
type Event struct {
	Event    string `json:"event"`
	N        int    `json:"n,omitempty"`
	Status   int    `json:"status"`
	ID       string `json:"id,omitempty"`
	State    int    `json:"state,omitempty"`
	Command  string `json:"command,omitempty"`
	Key      string `json:"key,omitempty"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password,omitempty"`
	Error    string `json:"error,omitempty"`
	Message
}

var writing sync.Mutex

// Emit reports an event.
func Emit(e Event) {
	b, _ := json.Marshal(e)
	writing.Lock()
	defer writing.Unlock()
	os.Stdout.Write(append(b, '\n'))
}

// Done ends a request.
func Done(n int, err error) {
	e := Event{Event: "done", N: n}
	if err != nil {
		e.Error = err.Error()
	}
	Emit(e)
}

// Serve calls do with each request until the input ends. What it returns ends the request.
func Serve(do func(Request) error) {
	s := bufio.NewScanner(os.Stdin)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var r Request
		err := json.Unmarshal(s.Bytes(), &r)
		if err == nil {
			err = do(r)
		}
		if err != nil {
			Done(r.N, fmt.Errorf("%s: %w", r.Do, err))
		}
	}
}
