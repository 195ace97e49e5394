package protocols

import (
	"reflect"
	"testing"
)

// Session had 22 methods, among them those that only SMPP has. What a protocol must implement
// is in interfaces of at most 12 methods.
func TestSmallInterfaces(t *testing.T) {
	for _, i := range []reflect.Type{
		reflect.TypeFor[Driver](), reflect.TypeFor[PDU](), reflect.TypeFor[Session](), reflect.TypeFor[Options](),
	} {
		if n := i.NumMethod(); n > 12 {
			t.Errorf("%s has %d methods", i, n)
		}
	}
}
