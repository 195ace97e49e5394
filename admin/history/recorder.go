package history

import (
	"context"
	"sync"
	"time"
)

// The length of the history: an hour.
const (
	Period = 10 * time.Second // between two samples
	Length = 360              // number of samples that are kept
)

// A Recorder keeps the samples of a gateway.
type Recorder struct {
	of   string // kind of the objects that have samples, as in JSON: connector or account
	read func() Reading

	mu         sync.Mutex
	at         time.Time     // time of the last reading; zero: no reading
	taken      int           // number of samples since the start
	times      [Length]int64 // times of the samples, in Unix seconds, ascending
	whole      [Length]Sample
	connectors map[string]*ring // rings of the objects by name: connectors or accounts
}

// A ring contains the samples of a connector, at the same indexes as the samples of the whole gateway.
type ring struct {
	from    int    // number of the ring's first sample
	before  Counts // counts of the last reading
	samples [Length]Sample
}

// New returns a recorder without samples. The recorder makes samples of the readings that read returns. of is
// the kind of the objects with samples: connectors or accounts.
func New(of string, read func() Reading) *Recorder {
	return &Recorder{of: of, read: read, connectors: map[string]*ring{}}
}

// The kinds of objects with samples, beside the whole gateway.
const (
	OfConnectors = "connector"
	OfAccounts   = "account"
)

// Of returns the kind of the objects with samples.
func (r *Recorder) Of() string { return r.of }

// Run makes samples until ctx ends.
func (r *Recorder) Run(ctx context.Context) {
	t := time.NewTicker(Period)
	defer t.Stop()
	for r.Sample(time.Now()); ; {
		select {
		case <-t.C:
			r.Sample(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// Sample makes a sample for the time since the last reading. The first reading, and the first of each connector, is only
// compared with the next.
func (r *Recorder) Sample(now time.Time) {
	reading := r.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	passed, first := now.Sub(r.at), r.at.IsZero()
	if !first && passed <= 0 {
		return
	}
	r.at = now
	place := r.taken % Length
	whole := Sample{Oldest: float32(reading.Oldest), Memory: float32(reading.Memory)}
	var all Answers
	seen := make(map[string]*ring, len(reading.Connectors))
	for i := range reading.Connectors {
		c := &reading.Connectors[i]
		one, known := r.connectors[c.Name]
		if !known {
			one = &ring{from: r.taken, before: *c}
			if !first {
				one.from++
			}
		}
		seen[c.Name] = one
		s, answers := c.sample(&one.before, passed)
		one.before, one.samples[place] = *c, s
		whole.add(c, &s)
		if c.Out {
			all.add(&answers)
		}
	}
	if r.connectors = seen; first {
		return
	}
	whole[Median], whole[P95] = all.quantile(0.5), all.quantile(0.95)
	r.whole[place] = whole
	r.times[place] = now.Unix()
	if r.taken > 0 { // the clock may have been set back
		r.times[place] = max(now.Unix(), r.times[(r.taken-1)%Length]+1)
	}
	r.taken++
}

// add adds the sample of a connector to that of the whole.
func (s *Sample) add(c *Counts, of *Sample) {
	s[In] += of[In]
	if c.Out {
		s[Out] += of[Out]
		s[Waiting] += of[Waiting]
		s[Oldest] = max(s[Oldest], of[Oldest])
	} else {
		s[Clients] += of[Waiting]
	}
	s[Receipts] += of[Receipts]
	s[Refused] += of[Refused]
}

func (a *Answers) add(others *Answers) {
	for i, n := range others {
		a[i] += n
	}
}
