package config

import (
	"fmt"
	"strconv"
)

// A Window is a number of requests without an answer, or Auto.
type Window int

// Auto is a window whose size the gateway finds (package connector/autowindow).
const Auto Window = -1

const (
	autoWord   = "auto"
	mostWindow = 10_000
	mostAuto   = 1000
)

// String returns the window as written in a file.
func (w Window) String() string {
	if w == Auto {
		return autoWord
	}
	return strconv.Itoa(int(w))
}

// Kind implements option.Word.
func (Window) Kind() string { return fmt.Sprintf("1 to %d, or auto", mostWindow) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Window) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	switch {
	case string(text) == autoWord:
		*w = Auto
	case err != nil || n < 1 || n > mostWindow:
		return fmt.Errorf("must be a whole number from 1 to %d, or auto, not %q", mostWindow, text)
	default:
		*w = Window(n)
	}
	return nil
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
