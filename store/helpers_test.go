package store

import (
	"fmt"

	"pmg/sms"
)

// textOf returns the id and the text of a message, and the reason in its state.
func textOf(e *Entry) (string, error) {
	var m sms.Message
	if err := Decode(e.Record, &m, 0); err != nil {
		return "", err
	}
	text := fmt.Sprint(e.ID, " ", string(m.Text()))
	if e.State == nil {
		return text, nil
	}
	s, err := DecodeState(e.State)
	return fmt.Sprintf("%s (%s)", text, s.Reason), err
}
