package own

import "pmg/protocols/httpsms"

// Dialect returns how clients of our own API are called.
func Dialect() httpsms.Dialect {
	return httpsms.Dialect{Number: httpsms.Own, Report: func(e *httpsms.Event) (*httpsms.Call, bool) { return Tell(e), true }}
}
