package httpsms

// A Dialect is how the clients of an interface are called.
type Dialect struct {
	Number uint8                      // in Context.Dialect
	Report func(*Event) (*Call, bool) // returns the call that reports a message's outcome; false: no call is made
	Forms  map[string]Form            // forms of calls in the dialect, by value of webhook_form
}

// A Form writes the call of an account's webhook for a message from a mobile.
type Form func(e *Event, account, url string) *Call
