package config

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"pmg/config/option"
	"pmg/internal/timetext"

	"github.com/goccy/go-yaml/ast"
)

// Retry says when a message is sent again that a peer has not taken.
type Retry struct {
	Throttled Pauses `yaml:"throttled" default:"10s, 1m, 5m, repeat" live:"yes" doc:"For a message throttled more than three times in a row; until then it keeps its place, and the connector pauses for throttle_pause."`
	Temporary Pauses `yaml:"temporary" default:"10s, 1m, 5m, 30m" live:"yes" doc:"For a message that the peer refuses for a while, such as with a full queue. If not given, the last pause is repeated until the validity passes, if there is one; a list of your own repeats it only with repeat."`
	Lost      Pauses `yaml:"lost" default:"10s, 1m, 5m, 30m" live:"yes" doc:"For a message without an answer, with on_unknown: resend. Each attempt may deliver it once more."`
}

// A Pause is the time between two attempts, or Repeat.
type Pause time.Duration

// Repeat stands behind the last pause of a list that goes on with that pause.
const Repeat Pause = -1

const repeatWord = "repeat"

// String returns the pause as written in a file.
func (p Pause) String() string {
	if p == Repeat {
		return repeatWord
	}
	return timetext.FormatDuration(time.Duration(p))
}

// Kind implements option.Word.
func (Pause) Kind() string { return "duration" }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Pause) UnmarshalText(text []byte) (err error) {
	*p, err = readPause(string(text))
	return err
}

func readPause(s string) (Pause, error) {
	if s == repeatWord {
		return Repeat, nil
	}
	d, err := timetext.ParseDuration(s)
	if err != nil || d < 0 || d > longestPause {
		return 0, fmt.Errorf(
			"must be a duration from 0s to %s such as 10s or 5m, or, at the end, the word %s, not %q",
			timetext.FormatDuration(longestPause), repeatWord, s,
		)
	}
	return Pause(d), nil
}

const (
	longestPause = 7 * 24 * time.Hour
	mostPauses   = 100 // an octet can count the attempts
)

// Pauses are the times between attempts, in order.
type Pauses []Pause

// After returns how long a message waits after so many failed attempts. It reports false if
// the message is given up.
func (p Pauses) After(failed int) (pause time.Duration, again bool) {
	n := len(p)
	repeats := n > 0 && p[n-1] == Repeat
	if repeats {
		n--
	}
	switch {
	case failed <= n:
		return time.Duration(p[failed-1]), true
	case repeats:
		return time.Duration(p[n-1]), true
	}
	return 0, false
}

// Last returns the last pause. It reports false if there are no pauses.
func (p Pauses) Last() (pause time.Duration, ok bool) {
	if n := len(p); n > 0 && p[n-1] == Repeat {
		p = p[:n-1]
	}
	if len(p) == 0 {
		return 0, false
	}
	return time.Duration(p[len(p)-1]), true
}

// lasts is the default of Temporary.
var lasts = Pauses{Pause(10 * time.Second), Pause(time.Minute), Pause(5 * time.Minute), Pause(30 * time.Minute)}

// Lasts reports whether a message that the peer cannot take for a while is sent again until its validity
// ends. That is the case unless the options limit the attempts.
func (r *Retry) Lasts() bool { return slices.Equal(r.Temporary, lasts) }

// Longest returns the longest pause.
func (r *Retry) Longest() time.Duration {
	return time.Duration(max(0, slices.Max(slices.Concat(r.Throttled, r.Temporary, r.Lost, Pauses{0}))))
}

// retry decodes a list of pauses in the place of the options of a Retry. The list applies to all options.
// Throttling never ends a message, because it is not the message's fault.
func (d *decoder) retry(n ast.Node, v reflect.Value, path string) {
	r := v.Addr().Interface().(*Retry)
	f, _ := reflect.TypeFor[Retry]().FieldByName("Temporary")
	d.list(n, reflect.ValueOf(&r.Temporary).Elem(), path, f)
	r.Lost = slices.Clone(r.Temporary)
	if len(r.Temporary) == 0 {
		return
	}
	r.Throttled = slices.Clone(r.Temporary)
	if r.Throttled[len(r.Throttled)-1] != Repeat {
		r.Throttled = append(r.Throttled, Repeat)
	}
}

// checkRetry checks the lists of a connector.
func (d *decoder) checkRetry(r *Retry, path string) {
	for _, list := range []struct {
		key    string
		pauses Pauses
	}{{"throttled", r.Throttled}, {"temporary", r.Temporary}, {"lost", r.Lost}} {
		at := option.Join(path, list.key)
		if d.at[at] == nil && list.key != "temporary" {
			continue // the list is the default, or comes from the option temporary
		}
		i := slices.Index(list.pauses, Repeat)
		switch n := len(list.pauses); {
		case i == 0:
			d.problem(
				at, "must not begin with %s, which repeats the pause in front: write [10s, %s]", repeatWord,
				repeatWord,
			)
		case i > 0 && i < n-1:
			d.problem(at, "must have %s at the end, because no pause behind it is ever taken", repeatWord)
		case n > mostPauses:
			d.problem(at, "must have at most %d pauses, not %d: end the list with %s", mostPauses, n, repeatWord)
		}
	}
}
