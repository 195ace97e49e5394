package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxAnswer is how many octets a service or a program may answer with.
const MaxAnswer = 1 << 20

// errMore is that something follows an answer.
var errMore = errors.New("something follows the JSON")

// ReadAnswer reads an answer in JSON. Members without meaning are refused, because a misspelled verdict could
// otherwise let a message pass. The error quotes the answer.
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

// maxQuote is how many octets of an answer an error shows.
const maxQuote = 80

// Quote quotes the beginning of an answer, for an error.
func Quote(b []byte) string {
	if len(b) > maxQuote {
		return fmt.Sprintf("%.*q…", maxQuote, b)
	}
	return fmt.Sprintf("%q", b)
}
