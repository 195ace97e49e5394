package prototest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
)

// A Script is a transcript.
type Script struct {
	Path    string
	Options protocols.SessionOptions
	lines   []line
}

// A line is one line of a transcript. text is the line without its comment.
type line struct {
	raw, text string
	octets    []byte        // octets of "> ..."
	wait      time.Duration // time of "wait ..."
	kind      kind
}

type kind uint8

const (
	remark   kind = iota // comment, empty, session
	input                // > ...
	pause                // wait ...
	command              // a command for Subject.Command
	expected             // expected output
)

// outcomes are the words with which an expected line may begin.
var outcomes = []string{"<", "bound", "answered", "unsent", "alerted", "closed"}

// Load reads a transcript with PDUs of the driver d. Its session lines may also set fields of
// options, by their names in the configuration.
func Load(t testing.TB, d protocols.SessionDriver, options protocols.Options, path string) *Script {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &Script{Path: path, Options: protocols.SessionOptions{
		Options: options,
		Name:    "PMG", BindTimeout: int64(5 * time.Second),
		EnquireInterval: int64(30 * time.Second), ResponseTimeout: int64(10 * time.Second),
	}}
	for i, raw := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		l, err := s.parse(d, raw)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
		s.lines = append(s.lines, l)
	}
	return s
}

func (s *Script) parse(d protocols.SessionDriver, raw string) (line, error) {
	l := line{raw: raw, text: strings.TrimSpace(uncomment(raw))}
	word, rest, _ := strings.Cut(l.text, " ")
	var err error
	switch {
	case l.text == "":
	case word == "session":
		err = s.options(rest)
	case word == ">":
		l.kind = input
		l.octets, err = octets(d, rest)
	case word == "wait":
		l.kind = pause
		l.wait, err = time.ParseDuration(rest)
	default:
		l.kind = command
		for _, o := range outcomes {
			if word == o {
				l.kind = expected
			}
		}
	}
	return l, err
}

// uncomment removes a comment, which begins at a "#" outside quotes.
func uncomment(s string) string {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case '#':
			if !quoted {
				return s[:i]
			}
		}
	}
	return s
}

// octets returns the octets of a PDU that is written in the form of the pdu log or in hex.
func octets(d protocols.SessionDriver, s string) ([]byte, error) {
	if b, err := hex.DecodeString(strings.ReplaceAll(s, " ", "")); err == nil {
		return b, nil
	}
	p := d.NewPDU()
	if err := d.ParseLog(p, []byte(s)); err != nil {
		return nil, err
	}
	return p.AppendWire(nil), nil
}

// options parses a session line.
func (s *Script) options(text string) error {
	for _, f := range strings.Fields(text) {
		key, value, _ := strings.Cut(f, "=")
		o := &s.Options
		var err error
		switch key {
		case "client":
			o.Role = protocols.Client
		case "accepted":
			o.Accepted = true
		case "anonymous":
			o.Anonymous = true
		case "name":
			o.Name = value
		case "system_id":
			o.SystemID = value
		case "password":
			o.Password = value
		case "bind_timeout":
			err = duration(&o.BindTimeout, value)
		case "enquire":
			err = duration(&o.EnquireInterval, value)
		case "response":
			err = duration(&o.ResponseTimeout, value)
		case "idle":
			err = duration(&o.IdleMax, value)
		default:
			err = setOption(o.Options, key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setOption sets the field of a protocol's options with a name in the configuration.
func setOption(o protocols.Options, key, value string) error {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != key {
			continue
		}
		var err error
		switch at := v.Field(i).Addr().Interface().(type) {
		case *string:
			*at = value
		case *int:
			*at, err = strconv.Atoi(value)
		case *bool:
			*at, err = strconv.ParseBool(value)
		case *protocols.BindType:
			var ok bool
			if *at, ok = protocols.ParseBindType(value); !ok {
				err = fmt.Errorf("%q is no bind type", value)
			}
		default:
			err = fmt.Errorf("an option of type %s: teach setOption that type", v.Field(i).Type())
		}
		if err != nil {
			return fmt.Errorf("cannot set %s of a session: %w", key, err)
		}
		return nil
	}
	return fmt.Errorf("cannot set %s of a session: there is no such option", key)
}

func duration(v *int64, s string) error {
	d, err := time.ParseDuration(s)
	*v = int64(d)
	return err
}

// Inputs returns the octets of every "> ..." line, as seeds for a fuzzer.
func (s *Script) Inputs() [][]byte {
	var all [][]byte
	for _, l := range s.lines {
		if l.kind == input {
			all = append(all, bytes.Clone(l.octets))
		}
	}
	return all
}

// Len returns the number of lines.
func (s *Script) Len() int { return len(s.lines) }
