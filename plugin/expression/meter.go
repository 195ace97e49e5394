package expression

import (
	"errors"
	"reflect"

	"github.com/expr-lang/expr/vm/runtime"

	"pmg/plugin"
)

// Steps of work. A step is what takes about 10 ns: an instruction of the machine, or to read or copy perStep octets.
const (
	onStage  = 5_000     // steps that rules may take where all connections wait
	most     = 5_000_000 // steps that rules may take for one message, elsewhere
	perStep  = 4
	perEntry = 16 // octets of an entry in an array
)

// errSteps is that rules need more steps than they may take.
var errSteps = errors.New("it needs more steps than rules may take for one message")

// A meter counts the steps that rules may still take for a message. The work is charged before it is done, so that neither
// time nor memory is taken that may not be.
type meter struct{ left int }

// charge takes steps. Without enough of them it ends the expression: the machine returns errSteps.
func (m *meter) charge(steps int) {
	if steps < 0 || steps > m.left {
		m.left = 0
		panic(errSteps)
	}
	m.left -= steps
}

// weigh charges for the octets of values, by weight.
func (m *meter) weigh(weight int, values ...any) {
	octets := 0
	for _, v := range values {
		octets += m.sizeOf(v, m.left/weight*perStep-octets)
	}
	m.charge((octets + perStep - 1) / perStep * weight)
}

// sizeOf returns how many octets a value has, with all that it contains as often as it does. It stops when there are more
// than most.
func (m *meter) sizeOf(v any, most int) (octets int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case []string:
		for _, s := range v {
			if octets += perEntry + len(s); octets > most {
				break
			}
		}
		return octets
	case []any:
		for _, e := range v {
			if octets += perEntry + m.sizeOf(e, most-octets); octets > most {
				break
			}
		}
		return octets
	case []int:
		return perEntry * len(v)
	case nil, bool, int, float64:
		return perStep
	case *plugin.Message:
		return 8 * (len(v.Text) + shortField)
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice, reflect.Array:
		for i := 0; i < r.Len() && octets <= most; i++ {
			octets += perEntry + m.sizeOf(r.Index(i).Interface(), most-octets)
		}
	case reflect.Map:
		for e := r.MapRange(); octets <= most && e.Next(); {
			octets += 4*perEntry + m.sizeOf(e.Key().Interface(), most-octets) + m.sizeOf(e.Value().Interface(), most-octets)
		}
	}
	return max(octets, perStep)
}

// times charges for n times as many octets as there are, without an overflow.
func (m *meter) times(octets, n int) {
	if n > 0 && octets > m.left*perStep/n {
		m.charge(m.left + 1)
	}
	m.charge(octets * max(n, 0) / perStep)
}

// take is charge for those who are no expression.
func (m *meter) take(steps int) error {
	if steps > m.left {
		return errSteps
	}
	m.left -= steps
	return nil
}

// depthOf returns how deep arrays and maps are within others.
func depthOf(v reflect.Value) (depth int) {
	switch v.Kind() {
	case reflect.Interface:
		return depthOf(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			depth = max(depth, 1+depthOf(v.Index(i)))
		}
	case reflect.Map:
		for e := v.MapRange(); e.Next(); {
			depth = max(depth, 1+depthOf(e.Value()))
		}
	}
	return depth
}

// readZone is how many steps it takes to read a time zone, or to find that there is none.
const readZone = 2000

// weightOf says how much more than to read its arguments a function of the library takes.
func weightOf(name string) int {
	switch name {
	case "fromJSON", "split", "splitAfter", "groupBy", "toPairs", "fromPairs", "date":
		return 2 * perEntry
	case "toJSON", "string", "sort", "median", "keys", "values":
		return perEntry
	}
	return 2
}

// growth charges for what a function of the library makes beyond its arguments.
func (m *meter) growth(name string, args []any) {
	text := func(i int) string {
		s, _ := args[i].(string)
		return s
	}
	switch {
	case name == "repeat" && len(args) == 2:
		m.times(len(text(0)), runtime.ToInt(args[1]))
	case name == "join" && len(args) == 2:
		m.times(len(text(1)), runtime.Len(args[0]))
	case name == "replace" && len(args) >= 3:
		m.times(len(text(2)), len(text(0))/max(len(text(1)), 1)+1)
	case name == "toJSON" && len(args) == 1: // toJSON indents each line
		m.times(m.sizeOf(args[0], m.left*perStep), depthOf(reflect.ValueOf(args[0])))
	case name == "timezone" || name == "date" && len(args) > 2:
		m.charge(readZone)
	case name == "uniq" && len(args) == 1: // uniq compares each element with each other
		m.times(m.sizeOf(args[0], m.left*perStep), runtime.Len(args[0]))
	}
}
