package history

import (
	"encoding/json"
	"strconv"
)

// A Series is the samples of a connector, of an account, or of the whole gateway, in order of time.
type Series struct {
	Of, Name string  // kind and name, such as connector and the connector's name; an empty name: the whole gateway
	Times    []int64 // seconds since 1970
	Samples  []Sample
}

// Series returns the samples of a connector or of an account, or of the whole gateway if name is "". It
// returns nil if there are no samples.
func (r *Recorder) Series(name string) *Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	samples, from := &r.whole, 0
	if name != "" {
		one := r.connectors[name]
		if one == nil {
			return nil
		}
		samples, from = &one.samples, one.from
	}
	s := &Series{Of: r.of, Name: name}
	for n := max(from, r.taken-Length); n < r.taken; n++ {
		s.Times, s.Samples = append(s.Times, r.times[n%Length]), append(s.Samples, samples[n%Length])
	}
	return s
}

// Latest returns the last sample of a connector, or of the whole gateway. Without samples all figures are unknown.
func (r *Recorder) Latest(connector string) Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	samples, from := &r.whole, 0
	if one := r.connectors[connector]; one != nil {
		samples, from = &one.samples, one.from
	} else if connector != "" {
		return new(Series).Latest()
	}
	if r.taken <= from {
		return new(Series).Latest()
	}
	return samples[(r.taken-1)%Length]
}

// Latest returns the last sample. Without samples all figures are unknown.
func (s *Series) Latest() (last Sample) {
	if n := len(s.Samples); n > 0 {
		return s.Samples[n-1]
	}
	for i := range last {
		last[i] = unknown()
	}
	return last
}

// A column contains the values of a figure.
type column []float32

// MarshalJSON writes null for unknown values.
func (c column) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if v != v {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, float64(v), 'f', -1, 32)
	}
	return append(b, ']'), nil
}

// MarshalJSON writes a list for each figure, and a list of the times.
func (s *Series) MarshalJSON() ([]byte, error) {
	columns := map[string]any{"period_seconds": Period.Seconds(), "time": append([]int64{}, s.Times...)}
	if s.Name != "" {
		columns[s.Of] = s.Name
	}
	for figure, name := range Names() {
		if figure >= Clients && s.Name != "" {
			continue
		}
		c := make(column, len(s.Samples))
		for i := range s.Samples {
			c[i] = s.Samples[i][figure]
		}
		columns[name] = c
	}
	return json.Marshal(columns)
}
