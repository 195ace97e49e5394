package jasmin

import (
	"net/http"

	"pmg/protocols/httpsms"
)

// Dialect returns how the clients of Jasmin are called.
func Dialect() httpsms.Dialect {
	return httpsms.Dialect{Number: httpsms.Jasmin, Report: Report, Forms: map[string]httpsms.Form{
		"jasmin-get":  inboundForm(http.MethodGet),
		"jasmin-post": inboundForm(http.MethodPost),
	}}
}

// inboundForm returns the form of an HTTP connector of Jasmin.
func inboundForm(method string) httpsms.Form {
	return func(e *httpsms.Event, _, url string) *httpsms.Call { return Inbound(e, url, method) }
}
