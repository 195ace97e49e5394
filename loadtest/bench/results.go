package bench

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/loadtest"
)

// Results holds all results of a bench. The JSON names are stable.
type Results struct {
	Began    time.Time       `json:"began"`
	Version  string          `json:"version"` // of the gateway, or of each gateway that a part was measured with
	Machine  Machine         `json:"machine"`
	Messages int64           `json:"messages"` // of a run with enough requests under way; see Options.messages
	Rounds   int             `json:"rounds"`
	Points   []Point         `json:"points,omitempty"`
	Relay    []Point         `json:"relay,omitempty"`
	Stores   []Point         `json:"stores,omitempty"`
	Operated *Operated       `json:"operated,omitempty"`
	Echo     *EchoComparison `json:"echo,omitempty"`
	Isolated []Isolation     `json:"isolation,omitempty"`
	Backlogs []Backlog       `json:"backlog,omitempty"`
}

// A Machine describes the machine of a bench.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Go     string `json:"go"`
}

// ThisMachine describes the machine the program runs on.
func ThisMachine() Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	info, _ := os.ReadFile("/proc/cpuinfo") // exists on Linux only
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	return m
}

// ReadResults reads a file that WriteJSON wrote.
func ReadResults(file string) (*Results, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read results: %w", err)
	}
	r := &Results{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("cannot read results in %s: %w", file, err)
	}
	return r, nil
}

// WriteJSON writes the results, for ReadResults or a script.
func (r *Results) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteCSV writes a line per run, those of the comparisons with a
// relay and of the stores last.
func (r *Results) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"architecture", "logs", "connections", "window", "store", "traffic", "round"}
	for _, m := range Metrics() {
		head = append(head, m.String())
	}
	_ = c.Write(head) // Error returns its error
	for _, p := range slices.Concat(r.Points, r.Relay, r.Stores) {
		for round, s := range p.Samples {
			line := []string{
				p.Architecture, p.Logs, strconv.Itoa(p.Connections), strconv.Itoa(p.Window), p.Store, p.Traffic,
				strconv.Itoa(round + 1),
			}
			for _, v := range s {
				line = append(line, strconv.FormatFloat(v, 'g', 6, 64))
			}
			_ = c.Write(line)
		}
	}
	c.Flush()
	return c.Error()
}

// find returns the point of a setting, or nil if it was not measured.
func find(points []Point, s Setting) *Point {
	for i := range points {
		if points[i].Setting == s && len(points[i].Samples) > 0 {
			return &points[i]
		}
	}
	return nil
}

// Faults returns the problems of runs that failed or lost messages.
func (r *Results) Faults() (all []string) {
	for _, points := range [][]Point{r.Points, r.Relay, r.Stores} {
		for _, p := range points {
			all = append(all, p.Problems...)
		}
	}
	return all
}

// latencies returns the sets of latencies that were measured, with their names.
func (r *Results) latencies() (all []namedLatencies) {
	if r.Echo != nil {
		all = append(all, namedLatencies{"1x1: TCP echo", r.Echo.Echo}, namedLatencies{"1x1: submit, pipeline", r.Echo.Gateway})
	}
	for _, i := range r.Isolated {
		all = append(all,
			namedLatencies{i.Architecture + ": alone", i.Alone},
			namedLatencies{i.Architecture + ": a client does not read", i.Unread},
			namedLatencies{i.Architecture + ": an SMSC does not answer", i.Silent})
	}
	return all
}

type namedLatencies struct {
	Name   string
	Rounds []loadtest.Latency
}
