package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxAnswer is the maximum length of an answer from a service or a program, in octets.
const MaxAnswer = 1 << 20

// errMore is the error if octets follow the JSON of an answer.
var errMore = errors.New("something follows the JSON")

// ReadAnswer reads an answer in JSON. Unknown members are refused, because a misspelled verdict could otherwise let a
// message pass. The error quotes the answer.
func ReadAnswer(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errMore
	}
	return fmt.Errorf("it answers %s: %w", Quote(b), err)
}

// maxQuote is the maximum number of octets of an answer in an error.
const maxQuote = 80

// Quote quotes the beginning of an answer, for an error.
func Quote(b []byte) string {
	if len(b) > maxQuote {
		return fmt.Sprintf("%.*q…", maxQuote, b)
	}
	return fmt.Sprintf("%q", b)
}
