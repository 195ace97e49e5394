package bench

import (
	"fmt"
	"slices"
	"time"

	"pmg/loadtest"
)

// The amounts that the gateway logs.
const (
	LogsNothing = "none"   // level info, no pdu log
	LogsPDUs    = "pdulog" // level info, a pdu log
	LogsAll     = "debug"  // level debug, a pdu log

	LogsOperated = "operated" // level info, a pdu log that is compressed, events and statistics; only for Operate
)

// The programs that are measured, as Setting.Architecture: the gateway, the same with
// goroutines for each connection, and HAProxy for the runs of a relay.
const (
	Pipeline      = "pipeline"
	Classic       = "classic"
	HAProxy       = "haproxy"   // with its default number of threads, one per core
	HAProxySingle = "haproxy-1" // nbthread 1
)

// Where accepted messages wait, as Setting.Store.
const (
	InMemory = ""       // the engine memory
	Pebble   = "pebble" // on disk: a message is answered when it would survive a power cut
)

// What the clients send, as Setting.Traffic.
const (
	Submits      = ""          // by Options.Protocol, without receipts
	WithReceipts = "receipts"  // the same, and the SMSC sends a receipt for each, which the client gets
	LateReceipts = "late"      // the same, half a second after the answer
	HTTP         = "http"      // single requests
	HTTPKeyed    = "http keys" // the same, each with an Idempotency-Key of its own
)

// lateBy is how late LateReceipts are: behind tens of thousands of later messages.
const lateBy = 500 * time.Millisecond

// A Setting holds the values that vary between runs.
type Setting struct {
	Architecture string `json:"architecture"`
	Logs         string `json:"logs"`
	Connections  int    `json:"connections"`
	Window       int    `json:"window"`
	Store        string `json:"store,omitempty"`
	Traffic      string `json:"traffic,omitempty"`
}

// hasReceipts reports whether the SMSC sends receipts.
func (s Setting) hasReceipts() bool { return s.Traffic == WithReceipts || s.Traffic == LateReceipts }

// receipt returns how the SMSC sends them.
func (s Setting) receipt() (o loadtest.ReceiptOptions) {
	if s.Traffic == LateReceipts {
		o.Delay = lateBy
	}
	return o
}

// ByHTTP reports whether the clients submit by HTTP.
func (s Setting) ByHTTP() bool { return s.Traffic == HTTP || s.Traffic == HTTPKeyed }

// String returns the setting as text, such as "pipeline pdulog 64x10".
func (s Setting) String() string {
	text := fmt.Sprintf("%s %s %dx%d", s.Architecture, s.Logs, s.Connections, s.Window)
	if s.Store != "" {
		text += " " + s.Store
	}
	if s.Traffic != "" {
		text += " " + s.Traffic
	}
	return text
}

// Options are the settings to measure and how to measure them.
type Options struct {
	Gateway []string // command that runs a gateway; the name of a configuration file is appended
	Classic []string // the same for the architecture classic
	Echo    []string // command that runs an EchoServer, prints its address and runs until it is killed

	Protocol      string // of clients and SMSC: smpp if empty; the results do not name it
	Architectures []string
	Logs          []string
	Connections   []int
	Windows       []int
	Messages      int64 // of a run with enough requests under way; see Options.messages
	Rounds        int
	SMSCSessions  int // sessions from the gateway to the sink; 0: as many as connections

	Progress func(done, of int, what string) // called before and after each run

	separate bool // load and sink run on other processors than the child
}

// gateway returns the command that runs a gateway of an architecture.
func (o *Options) gateway(architecture string) []string {
	if architecture == Classic {
		return o.Classic
	}
	return o.Gateway
}

// check returns an error if the options cannot be measured.
func (o *Options) check() error {
	for _, logs := range o.Logs {
		if !slices.Contains([]string{LogsNothing, LogsPDUs, LogsAll}, logs) {
			return fmt.Errorf("cannot log %q: use %s, %s or %s", logs, LogsNothing, LogsPDUs, LogsAll)
		}
	}
	for _, a := range o.Architectures {
		if a != Pipeline && a != Classic {
			return fmt.Errorf("cannot run architecture %q: use %s or %s", a, Pipeline, Classic)
		}
	}
	for _, n := range slices.Concat(o.Connections, o.Windows, []int{o.Rounds}) {
		if n < 1 {
			return fmt.Errorf("cannot measure with %d connections, windows or rounds: at least 1 is needed", n)
		}
	}
	if o.Messages < 100 {
		return fmt.Errorf("cannot measure with %d messages: at least 100 are needed", o.Messages)
	}
	return nil
}

// settings returns the settings of the matrix, with the architectures next to each other.
func (o *Options) settings() (all []Setting) {
	for _, logs := range o.Logs {
		for _, window := range o.Windows {
			for _, connections := range o.Connections {
				for _, architecture := range o.Architectures {
					all = append(all, Setting{architecture, logs, connections, window, "", ""})
				}
			}
		}
	}
	return all
}

const (
	fullSpeed  = 20  // the least number of submits under way that keeps a gateway busy
	leastShare = 0.1 // of the messages of a run at full speed
)

// messages returns how many messages a run sends. With few submits under way each message
// takes longer, and so does one by HTTP, so there are fewer, and all runs take about the same time.
func (o *Options) messages(s Setting) int64 {
	share := min(1, max(leastShare, float64(s.Connections*s.Window)/fullSpeed))
	if s.ByHTTP() {
		share = leastShare
	}
	return int64(share * float64(o.Messages))
}

// smscSessions returns how many sessions the gateway has with the sink.
func (o *Options) smscSessions(s Setting) int {
	if o.SMSCSessions > 0 {
		return o.SMSCSessions
	}
	return s.Connections
}

func (o *Options) progress(done, of int, what string) {
	if o.Progress != nil {
		o.Progress(done, of, what)
	}
}
