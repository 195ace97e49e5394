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
}

// A StatusFilter selects answers with a certain result.
type StatusFilter struct {
	nonzero bool
	status  Status
}

// ParseStatusFilter reads "nonzero", a number as 0x58 or 88, or a name as
// ESME_RTHROTTLED.
func ParseStatusFilter(s string) (*StatusFilter, error) {
	if s == "" {
		return nil, fmt.Errorf("cannot read status: give nonzero, a number (0x58) or a name (ESME_RTHROTTLED)")
	}
	if s == "nonzero" {
		return &StatusFilter{nonzero: true}, nil
	}
	if s[0] < '0' || s[0] > '9' {
		return &StatusFilter{status: Status{Name: s}}, nil
	}
	n, err := logtext.ParseNumber(s)
	if err != nil {
		return nil, fmt.Errorf("cannot read status: %w", err)
	}
	return &StatusFilter{status: Status{Value: n}}, nil
}

func (f *StatusFilter) match(s Status) bool {
	switch {
	case f.nonzero:
		return s.Value != 0
	case f.status.Name != "":
		return s.Name == f.status.Name
	}
	return s.Value == f.status.Value
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
	return f.Grep == nil || f.Grep.Match(e.Line)
}
