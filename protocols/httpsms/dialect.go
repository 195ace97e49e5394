package httpsms

// A Dialect is how the clients of an interface are called.
type Dialect struct {
	Number uint8                      // in Context.Dialect
	Report func(*Event) (*Call, bool) // the call for what became of a message; false: there is none
	Forms  map[string]Form            // the values of webhook_form for calls in it
}

// A Form writes the call of an account's webhook for a message from a mobile.
type Form func(e *Event, account, url string) *Call
