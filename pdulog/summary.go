package pdulog

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxLatency is the longest time to an answer that a summary shows, in µs.
const maxLatency = int64(time.Hour / time.Microsecond)

// A Summary counts lines and measures the time from requests to their answers,
// for each connector and command.
type Summary struct {
	filter *Filter
	rows   map[rowKey]*Row
	open   map[openKey]openRequest
}

type rowKey struct {
	connector string
	received  bool
	command   string
}

// openKey finds the request of an answer. Each side of a session numbers its own
// requests.
type openKey struct {
	connector string
	instance  int
	received  bool // the direction of the request
	sequence  uint32
}

type openRequest struct {
	at  time.Time
	row *Row
}

// A Row is one connector's PDUs of one command and direction.
type Row struct {
	Connector  string          `json:"connector"`
	Direction  string          `json:"direction"`
	Command    string          `json:"command"`
	Count      int             `json:"count"`
	Status     map[string]int  `json:"status,omitempty"`  // number of answers by name or number of the status
	Latency    *LatencySummary `json:"latency,omitempty"` // time from requests to answers
	Open       int             `json:"open,omitempty"`    // requests without an answer in the log
	unanswered int             // requests in Open whose sequence was used again
	times      *hdrhistogram.Histogram
}

// A LatencySummary summarises how long answers took.
type LatencySummary struct {
	Answered int           `json:"answered"`
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	Max      time.Duration `json:"max_ns"`
}

// NewSummary returns an empty summary of the lines that the filter selects.
func NewSummary(f *Filter) *Summary {
	return &Summary{filter: f, rows: map[rowKey]*Row{}, open: map[openKey]openRequest{}}
}

// Add counts a line if the filter selects it. Lines of one instance must be added in the
// order of their times, including those that the filter does not select, because they may be
// answers to requests that it selects.
func (s *Summary) Add(e *Entry) {
	var row *Row // nil: the line is not counted
	if s.filter.Match(e) {
		row = s.row(e)
		row.Count++
	}
	sequence, ok := e.Sequence()
	status, isAnswer := e.Status()
	if isAnswer && row != nil {
		row.addStatus(status)
	}
	switch {
	case !ok:
	case isAnswer:
		s.answered(e, openKey{e.Connector, e.Instance, !e.Received, sequence})
	default:
		s.requested(e, openKey{e.Connector, e.Instance, e.Received, sequence}, row)
	}
}

// row returns the row of a line.
func (s *Summary) row(e *Entry) *Row {
	key := rowKey{e.Connector, e.Received, e.Command}
	row := s.rows[key]
	if row == nil {
		row = &Row{Connector: e.Connector, Direction: e.Direction(), Command: e.Command}
		s.rows[key] = row
	}
	return row
}

// requested records a request, if it is counted.
func (s *Summary) requested(e *Entry, at openKey, row *Row) {
	if before, ok := s.open[at]; ok { // a new session has reused the sequence
		before.row.unanswered++
		delete(s.open, at)
	}
	if row != nil {
		s.open[at] = openRequest{e.Time, row}
	}
}

// answered measures the time to an answer.
func (s *Summary) answered(e *Entry, at openKey) {
	if request, ok := s.open[at]; ok {
		delete(s.open, at)
		request.row.addLatency(e.Time.Sub(request.at))
	}
}

func (r *Row) addStatus(s Status) {
	if r.Status == nil {
		r.Status = map[string]int{}
	}
	r.Status[s.String()]++
}

func (r *Row) addLatency(d time.Duration) {
	if r.times == nil {
		r.times = hdrhistogram.New(1, maxLatency, 3)
	}
	_ = r.times.RecordValue(min(max(0, d.Microseconds()), maxLatency)) // the value is in range, so that no error is possible
}

// Rows returns the result, ordered by connector, then by the number of lines.
func (s *Summary) Rows() []*Row {
	rows := slices.Collect(maps.Values(s.rows))
	for _, r := range rows {
		r.Open, r.Latency = r.unanswered, nil
		if h := r.times; h != nil {
			r.Latency = &LatencySummary{
				Answered: int(h.TotalCount()),
				P50:      time.Duration(h.ValueAtQuantile(50)) * time.Microsecond,
				P99:      time.Duration(h.ValueAtQuantile(99)) * time.Microsecond,
				Max:      time.Duration(h.Max()) * time.Microsecond,
			}
		}
	}
	for _, o := range s.open {
		o.row.Open++
	}
	slices.SortFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.Connector, b.Connector), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Command, b.Command), cmp.Compare(a.Direction, b.Direction))
	})
	return rows
}
