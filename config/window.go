package config

// A Window is a number of requests without an answer, or Auto.
type Window int

// Auto is a window whose size the gateway finds (package connector/autowindow).
const Auto = Window(auto)

const (
	mostWindow = 10_000
	mostAuto   = 1000
)

// String returns the window as written in a file.
func (w Window) String() string {
	return numberOrAuto(w).String()
}

// Kind implements option.Word.
func (Window) Kind() string { return numberOrAutoKind(mostWindow) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Window) UnmarshalText(text []byte) error {
	n, err := parseNumberOrAuto(text, mostWindow)
	if err == nil {
		*w = Window(n)
	}
	return err
}

// MostRequests returns how many requests without an answer a session may have.
func (c *Connector) MostRequests() int {
	if c.Window != Auto {
		return int(c.Window)
	}
	if o := c.ProtocolOptions(); o != nil {
		return min(mostAuto, o.MaxWindow())
	}
	return mostAuto
}
