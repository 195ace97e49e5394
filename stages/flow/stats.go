package flow

import "math"

// Stats holds the counters of a stage. Times are in nanoseconds.
type Stats struct {
	Name     string
	Group    int   // the group of the row, counted from 1; 0 if the row is shared or there is only one group
	In, Out  int64 // numbers of jobs taken and passed on
	Batches  int64
	Panics   int64
	Locks    int64 // how often the inbox's lock was taken
	Refs     int64 // changes of shared reference counts, as counted with Out.CountRef
	Depth    int   // number of jobs in the inbox now
	MaxBatch int64
	Work     Spread // working time per batch
}

// A Spread summarizes durations: their number, mean and deviation.
type Spread struct {
	Count    int64
	Min, Max int64
	Sum      float64
	Squares  float64
}

// Add adds one duration.
func (s *Spread) Add(ns int64) {
	if s.Count == 0 || ns < s.Min {
		s.Min = ns
	}
	s.Max = max(s.Max, ns)
	s.Count++
	s.Sum += float64(ns)
	s.Squares += float64(ns) * float64(ns)
}

// Merge adds all durations of o.
func (s *Spread) Merge(o Spread) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	s.Max = max(s.Max, o.Max)
	s.Count += o.Count
	s.Sum += o.Sum
	s.Squares += o.Squares
}

// Mean returns the mean duration, or 0 if there are no durations.
func (s Spread) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / float64(s.Count)
}

// StdDev returns the standard deviation of the durations.
func (s Spread) StdDev() float64 {
	if s.Count == 0 {
		return 0
	}
	m := s.Mean()
	return math.Sqrt(max(0, s.Squares/float64(s.Count)-m*m))
}

func (s *Stats) batch(jobs int, ns int64) {
	s.In += int64(jobs)
	s.Batches++
	s.MaxBatch = max(s.MaxBatch, int64(jobs))
	s.Work.Add(ns)
}

func (s *Stats) add(o *Stats) {
	s.In += o.In
	s.Out += o.Out
	s.Batches += o.Batches
	s.Panics += o.Panics
	s.Locks += o.Locks
	s.Refs += o.Refs
	s.MaxBatch = max(s.MaxBatch, o.MaxBatch)
	s.Work.Merge(o.Work)
}

// Stats returns the counters of each stage, in the order of the table.
func (p *Pipeline[J]) Stats() []Stats {
	all := make([]Stats, len(p.rows))
	for i, r := range p.rows {
		all[i], all[i].Depth = r.inbox.stats()
		all[i].Name, all[i].Group = r.name, r.label()
	}
	return all
}
