package bench

import (
	"fmt"
	"slices"
)

// How much the gateway logs.
const (
	LogsNothing = "none"   // level info, no pdu log
	LogsPDUs    = "pdulog" // level info, a pdu log
	LogsAll     = "debug"  // level debug, a pdu log
)

// What is measured: the gateway's architectures and, as Setting.Architecture of
// a relay's runs, HAProxy.
const (
	Pipeline      = "pipeline"
	Classic       = "classic"
	HAProxy       = "haproxy"   // as many threads as it takes by itself: one a core
	HAProxySingle = "haproxy-1" // nbthread 1
)

// A Setting is what distinguishes a run from others.
type Setting struct {
	Architecture string `json:"architecture"`
	Logs         string `json:"logs"`
	Connections  int    `json:"connections"`
	Window       int    `json:"window"`
}

// String names the setting, as "pipeline pdulog 64x10".
func (s Setting) String() string {
	return fmt.Sprintf("%s %s %dx%d", s.Architecture, s.Logs, s.Connections, s.Window)
}

// Options says what to measure, and how.
type Options struct {
	Gateway []string // command that runs a gateway; the name of its configuration file is added
	Echo    []string // command that runs an EchoServer, prints its address and lives until it is killed

	Architectures []string
	Logs          []string
	Connections   []int
	Windows       []int
	Messages      int64 // of a run with enough connections; see Options.messages
	Rounds        int
	SMSCSessions  int // sessions from the gateway to the sink; 0: as many as connections

	Progress func(done, of int, what string) // called before and after each run

	apart bool // keep load and sink off the processors of what is measured
}

// check finds what cannot be measured.
func (o *Options) check() error {
	for _, logs := range o.Logs {
		if !slices.Contains([]string{LogsNothing, LogsPDUs, LogsAll}, logs) {
			return fmt.Errorf("cannot log %q: it is %s, %s or %s", logs, LogsNothing, LogsPDUs, LogsAll)
		}
	}
	for _, a := range o.Architectures {
		if a != Pipeline && a != Classic {
			return fmt.Errorf("cannot run architecture %q: it is %s or %s", a, Pipeline, Classic)
		}
	}
	for _, n := range slices.Concat(o.Connections, o.Windows, []int{o.Rounds}) {
		if n < 1 {
			return fmt.Errorf("cannot measure with %d connections, windows or rounds", n)
		}
	}
	if o.Messages < 100 {
		return fmt.Errorf("cannot measure with %d messages: at least 100 are needed", o.Messages)
	}
	return nil
}

// settings lists what the matrix measures, architectures next to each other.
func (o *Options) settings() (all []Setting) {
	for _, logs := range o.Logs {
		for _, window := range o.Windows {
			for _, connections := range o.Connections {
				for _, architecture := range o.Architectures {
					all = append(all, Setting{architecture, logs, connections, window})
				}
			}
		}
	}
	return all
}

const fullSpeed = 20 // submits under way that keep a gateway busy

// messages is how many a run sends: fewer where little is under way at a time
// and each message takes long, so that all runs take about the same time.
func (o *Options) messages(s Setting) int64 {
	share := min(1, max(0.1, float64(s.Connections*s.Window)/fullSpeed))
	return int64(share * float64(o.Messages))
}

// smscSessions is how many sessions the gateway has to the sink.
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
