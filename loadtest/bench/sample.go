package bench

import (
	"encoding/json"
	"slices"
)

// A Metric is one of the figures of a run.
type Metric int

// The figures, in the order in which they are shown.
const (
	Throughput Metric = iota
	P50
	P99
	P999
	CPU
	PerLoad
	PerUsage
	Load
	Usage
	Memory
	Goroutines
	Threads
	Switches
	Allocations
	Locks
	StoreLocks
	Runs
	Changes
	Written
	metricCount
)

// A metricInfo describes a metric.
type metricInfo struct {
	name   string // in JSON and CSV
	head   string // of a column
	format string
	help   string
}

func (m Metric) info() metricInfo {
	return [metricCount]metricInfo{
		Throughput:  {"messages_per_second", "msg/s", "%.0f", "messages a second that were answered and arrived at the sink"},
		P50:         {"p50_us", "p50", "%.0f", "median of the time from a submit to its answer, µs"},
		P99:         {"p99_us", "p99", "%.0f", "99th percentile of that, µs"},
		P999:        {"p999_us", "p99.9", "%.0f", "99.9th percentile of that, µs"},
		CPU:         {"cpu_us_per_message", "CPU", "%.2f", "CPU time of the gateway per message, user and system, µs"},
		PerLoad:     {"messages_per_second_per_load", "/load", "%.0f", "messages a second divided by load"},
		PerUsage:    {"messages_per_second_per_cpu", "/usage", "%.0f", "messages a second divided by usage"},
		Load:        {"cpu_load", "load", "%.2f", "mean number of the gateway's threads that run or wait for a core"},
		Usage:       {"cpu_usage", "usage", "%.2f", "mean number of cores the gateway is running on"},
		Memory:      {"peak_memory_mib", "MiB", "%.1f", "most resident memory of the gateway, MiB"},
		Goroutines:  {"goroutines", "gor", "%.0f", "goroutines, with all connections bound"},
		Threads:     {"threads", "thr", "%.0f", "threads of the operating system"},
		Switches:    {"context_switches_per_message", "switch", "%.2f", "context switches of the gateway per message"},
		Allocations: {"allocations_per_message", "alloc", "%.2f", "memory allocations per message"},
		Locks:       {"locks_per_message", "lock", "%.2f", "mutex acquisitions per message"},
		StoreLocks:  {"store_locks_per_message", "store lock", "%.2f", "those of the store's open batch, which lock has as well"},
		Runs:        {"goroutine_switches_per_message", "gor switch", "%.2f", "times a goroutine has begun to run, per message"},
		Changes:     {"handle_changes_per_message", "change", "%.2f", "changes of the reference counts of sockets per message"},
		Written:     {"written_octets_per_message", "octets", "%.0f", "octets that the gateway writes to files per message"},
	}[m]
}

// Metrics returns all metrics, in order.
func Metrics() []Metric {
	all := make([]Metric, metricCount)
	for m := range all {
		all[m] = Metric(m)
	}
	return all
}

// String returns the name of the metric in JSON and CSV.
func (m Metric) String() string { return m.info().name }

// A Sample holds the figures of one run, by Metric.
type Sample [metricCount]float64

// MarshalJSON writes the figures by name.
func (s Sample) MarshalJSON() ([]byte, error) {
	named := map[string]float64{}
	for m, v := range s {
		named[Metric(m).String()] = v
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads figures that MarshalJSON wrote.
func (s *Sample) UnmarshalJSON(b []byte) error {
	var named map[string]float64
	if err := json.Unmarshal(b, &named); err != nil {
		return err
	}
	for m := range s {
		s[m] = named[Metric(m).String()]
	}
	return nil
}

// A Point holds the measurements of one setting.
type Point struct {
	Setting
	Samples  []Sample    `json:"samples"` // one per round
	Problems []string    `json:"problems,omitempty"`
	Stages   []StageWork `json:"stages,omitempty"` // of the last round
}

// Median returns the median of each metric over the rounds.
func (p *Point) Median() (s Sample) {
	for m := range s {
		s[m] = median(p.values(Metric(m)))
	}
	return s
}

// Spread returns half the range of a metric over the rounds, divided by the median.
func (p *Point) Spread(m Metric) float64 {
	v := p.values(m)
	middle := median(v)
	if middle == 0 {
		return 0
	}
	return (slices.Max(v) - slices.Min(v)) / 2 / middle
}

func (p *Point) values(m Metric) []float64 {
	v := make([]float64, len(p.Samples))
	for i, s := range p.Samples {
		v[i] = s[m]
	}
	return v
}

// median returns the median of v, or 0 if v is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v) / 2
	if len(v)%2 == 1 {
		return v[n]
	}
	return (v[n-1] + v[n]) / 2
}

// A StageWork is the work of a stage since the gateway's start.
type StageWork struct {
	Name        string  `json:"name"`
	MeanBatch   float64 `json:"mean_batch"`
	Work        Work    `json:"work"` // working time of a batch
	BusySeconds float64 `json:"busy_seconds"`
	BusyWorkers float64 `json:"busy_workers"` // mean
}

// Work summarises working times, in seconds.
type Work struct {
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"std_dev"`
}
