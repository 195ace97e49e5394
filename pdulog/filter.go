package pdulog

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"time"

	"pmg/internal/logtext"
)

// A Filter selects lines. An empty field selects all.
type Filter struct {
	Instances []int
	Commands  []string // may hold the wildcards of path.Match: submit_*
	Status    *StatusFilter
	Direction string // "in" or "out"
	Since     time.Time
	Until     time.Time // exclusive
	Grep      *regexp.Regexp
	Decoder   *Decoder // with Decoder, Grep also searches the decoded message text, and prints that text in a line
	Masked    bool     // Grep searches only the output of Decoder's AppendMasked for the line

	shown []byte
}

// A StatusFilter selects answers with a certain result.
type StatusFilter struct {
	nonzero bool
	status  Status
}

// ParseStatusFilter parses "nonzero", a number like 0x58 or 88, or a name like
// ESME_RTHROTTLED. It looks up the number of a name, because a line shows no name for 0.
func ParseStatusFilter(s string, number func(name string) (uint32, error)) (*StatusFilter, error) {
	switch {
	case s == "nonzero":
		return &StatusFilter{nonzero: true}, nil
	case s == "" || s[0] < '0' || s[0] > '9':
		n, err := number(s)
		return &StatusFilter{status: Status{n, s}}, err
	}
	n, err := logtext.ParseNumber(s)
	if err != nil {
		return nil, fmt.Errorf("cannot read status: %w", err)
	}
	return &StatusFilter{status: Status{Value: n}}, nil
}

// match reports whether the filter selects a status. It also compares names, because
// protocols may have different names for the same number.
func (f *StatusFilter) match(s Status) bool {
	if f.nonzero {
		return s.Value != 0
	}
	return s.Value == f.status.Value && (s.Name == f.status.Name || s.Name == "" || f.status.Name == "")
}

// Match reports whether the filter selects the line. The cheap tests come first.
func (f *Filter) Match(e *Entry) bool {
	switch {
	case e.Time.Before(f.Since),
		!f.Until.IsZero() && !e.Time.Before(f.Until),
		f.Direction != "" && e.Direction() != f.Direction,
		len(f.Instances) > 0 && !slices.Contains(f.Instances, e.Instance),
		len(f.Commands) > 0 && !slices.ContainsFunc(f.Commands, func(pattern string) bool {
			ok, _ := path.Match(pattern, e.Command)
			return ok
		}):
		return false
	}
	if f.Status != nil {
		if s, ok := e.Status(); !ok || !f.Status.match(s) {
			return false
		}
	}
	if f.Masked && f.Grep != nil {
		f.shown = f.Decoder.AppendMasked(f.shown[:0], e)
		return f.Grep.Match(f.shown)
	}
	return f.Grep == nil || f.Grep.Match(e.Line) || f.Decoder != nil && f.Decoder.find(e, f.Grep)
}
