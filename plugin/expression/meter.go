package expression

import (
	"errors"
	"reflect"

	"github.com/expr-lang/expr/vm/runtime"

	"pmg/plugin"
)

// Steps of work. A step takes about 10 ns: an instruction of the virtual machine, or reading or copying perStep octets.
const (
	onStage  = 5_000     // steps for a message on the stage's goroutine, where all connections wait
	most     = 5_000_000 // steps for a message on other goroutines
	perStep  = 4
	perEntry = 16 // octets of an array's entry
)

// errSteps is the error of rules that need too many steps.
var errSteps = errors.New("it needs more steps than rules may take for one message")

// A meter counts the remaining steps for a message. Steps are charged before the work is done, so that neither time
// nor memory exceeds its limit.
type meter struct{ left int }

// charge takes steps. If there are not enough left, it ends the expression with errSteps.
func (m *meter) charge(steps int) {
	if steps < 0 || steps > m.left {
		m.left = 0
		panic(errSteps)
	}
	m.left -= steps
}

// weigh charges for the octets of values, times weight.
func (m *meter) weigh(weight int, values ...any) {
	octets := 0
	for _, v := range values {
		octets += m.sizeOf(v, m.left/weight*perStep-octets)
	}
	m.charge((octets + perStep - 1) / perStep * weight)
}

// sizeOf returns the size of a value in octets. Shared contents count each time. It stops when the size is above most.
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

// times charges for octets times n, without overflow.
func (m *meter) times(octets, n int) {
	if n > 0 && octets > m.left*perStep/n {
		m.charge(m.left + 1)
	}
	m.charge(octets * max(n, 0) / perStep)
}

// take takes steps for callers that are not expressions, and returns errSteps if there are not enough left.
func (m *meter) take(steps int) error {
	if steps > m.left {
		return errSteps
	}
	m.left -= steps
	return nil
}

// depthOf returns the nesting depth of arrays and maps.
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

// readZone is the number of steps for reading a time zone, or for finding that it does not exist.
const readZone = 2000

// weightOf returns the work of a function of the library, relative to reading its arguments.
func weightOf(name string) int {
	switch name {
	case "fromJSON", "split", "splitAfter", "groupBy", "toPairs", "fromPairs", "date":
		return 2 * perEntry
	case "toJSON", "string", "sort", "median", "keys", "values":
		return perEntry
	}
	return 2
}

// growth charges for results of a function of the library that are larger than its arguments.
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
