package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr"

	"pmg/internal/timetext"
)

// options returns the variables and functions that expressions may use.
func options() []expr.Option {
	z := &zones{}
	return append(meters(),
		expr.Env(environment{}), expr.MaxNodes(maxNodes),
		expr.Function("between", z.between, new(func(at time.Time, from, to, zone string) bool)),
		expr.Function("local", z.local, new(func(at time.Time, zone string) time.Time)),
		expr.Function("tagged", tagged, new(func(tags, tag string) bool)),
	)
}

// An argumentError describes an invalid argument of a function.
type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }

// tagged reports whether a message has a tag.
func tagged(p ...any) (any, error) {
	return slices.Contains(strings.Fields(p[0].(string)), p[1].(string)), nil
}

// zones caches the time zones of expressions, so that a message does not lead to reading a file. It is safe for
// concurrent use.
type zones struct{ known sync.Map } // *time.Location, by name

// local returns a time in a zone.
func (z *zones) local(p ...any) (any, error) {
	name := p[1].(string)
	at, ok := z.known.Load(name)
	if !ok {
		loaded, ok := timetext.LoadZone(name)
		if !ok {
			return nil, &argumentError{fmt.Sprintf("there is no time zone %q", name)}
		}
		at, _ = z.known.LoadOrStore(name, loaded)
	}
	return p[0].(time.Time).In(at.(*time.Location)), nil
}

// between reports whether the time of day in a zone is between two times of day; the second may be on the next day.
func (z *zones) between(p ...any) (any, error) {
	at, err := z.local(p[0], p[3])
	if err != nil {
		return nil, err
	}
	var ends [2]int
	for i := range ends {
		t, err := time.Parse("15:04", p[1+i].(string))
		if err != nil {
			return nil, &argumentError{fmt.Sprintf("%q is not a time of day, such as 21:30", p[1+i])}
		}
		ends[i] = 60*t.Hour() + t.Minute()
	}
	now := at.(time.Time)
	minute := 60*now.Hour() + now.Minute()
	if ends[0] <= ends[1] {
		return minute >= ends[0] && minute < ends[1], nil
	}
	return minute >= ends[0] || minute < ends[1], nil
}
