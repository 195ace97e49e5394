package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/internal/nearest"
	"pmg/internal/timetext"
	"pmg/pdulog"
	"pmg/protocols"
)

// logDirectory returns the directory in the configuration. The default file may be missing, because logs can be read
// on a machine without a gateway.
func logDirectory(file string, named bool) (string, error) {
	c, err := loadConfig(io.Discard, file) // pmg serve prints the warnings
	if err != nil && !named && errors.Is(err, fs.ErrNotExist) {
		return config.Default().PDULog.Dir, nil
	}
	if ask.IsNone(err) {
		return "", fmt.Errorf("%w; or give the directory of the pdu logs with --dir", err)
	}
	if err != nil {
		return "", fmt.Errorf("cannot find the directory of the pdu logs: %w; --dir names it without a configuration", err)
	}
	return c.PDULog.Dir, nil
}

func (l *logFlags) query(p logProtocols, now time.Time, linesGiven bool) (q pdulog.Query, err error) {
	q.Connectors, q.Last = l.connectors, l.lines
	switch {
	case l.lines == 0:
		q.Last = -1
	case l.lines < 0, !linesGiven && (l.since != "" || l.until != "" || l.summary):
		q.Last = 0
	}
	f := &q.Filter
	f.Instances, f.Commands, f.Direction = l.instances, l.commands, l.direction
	if f.Direction != "" && f.Direction != "in" && f.Direction != "out" {
		return q, fmt.Errorf("cannot use --direction %s: use in (received) or out (sent)", f.Direction)
	}
	for _, c := range f.Commands {
		if err := p.checkCommand(c); err != nil {
			return q, err
		}
	}
	if f.Since, err = logTime("--since", l.since, now); err != nil {
		return q, err
	}
	if f.Until, err = logTime("--until", l.until, now); err != nil {
		return q, err
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return q, fmt.Errorf("cannot use --since %s with --until %s: %s is not before %s",
			l.since, l.until, f.Since.Format(time.RFC3339), f.Until.Format(time.RFC3339))
	}
	if l.status != "" {
		if f.Status, err = pdulog.ParseStatusFilter(l.status, p.status); err != nil {
			return q, fmt.Errorf("cannot use --status %s: %w", l.status, err)
		}
	}
	if l.grep != "" {
		if f.Grep, err = regexp.Compile(l.grep); err != nil {
			return q, fmt.Errorf("cannot use --grep: %w", err)
		}
	}
	return q, nil
}

// logTime parses the value of --since or --until. It returns the zero time for "".
func logTime(flag, s string, now time.Time) (time.Time, error) {
	t, err := timetext.ParseTime(s, now)
	if err != nil {
		err = fmt.Errorf("cannot use %s %s: %w", flag, s, err)
	}
	return t, err
}

// logProtocols are the protocols that a log may be written in.
type logProtocols []vocabulary

// A vocabulary is a protocol that lists its statuses.
type vocabulary interface {
	protocols.Driver
	Statuses() iter.Seq2[uint32, string]
}

// find returns the protocol of a command, so that a log can be read without the gateway's
// configuration.
func (p logProtocols) find(command string) (protocols.Driver, error) {
	for _, v := range p {
		if slices.Contains(v.Commands(), command) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("no protocol has the command %s", command)
}

// checkCommand returns an error if no protocol has a command that matches a pattern.
func (p logProtocols) checkCommand(pattern string) error {
	var all []string
	for _, v := range p {
		for _, command := range v.Commands() {
			if ok, err := path.Match(pattern, command); err != nil {
				return fmt.Errorf("cannot use --command %s: %w", pattern, err)
			} else if ok {
				return nil
			}
			all = append(all, command)
		}
	}
	return fmt.Errorf("cannot use --command %s: no protocol has it%s", pattern, didYouMean(pattern, all))
}

func (p logProtocols) status(name string) (uint32, error) {
	names := []string{"nonzero"}
	for _, v := range p {
		for number, known := range v.Statuses() {
			if known == name {
				return number, nil
			}
			names = append(names, known)
		}
	}
	return 0, fmt.Errorf("no protocol has it%s; numbers such as 0x58 are accepted too", didYouMean(name, names))
}

// didYouMean returns a hint with a name that is similar to a word, or contains it.
func didYouMean(word string, names []string) string {
	near := nearest.Word(word, names)
	for _, name := range names {
		if near == "" && len(word) > 3 && strings.Contains(strings.ToLower(name), strings.ToLower(word)) {
			near = name
		}
	}
	if near == "" {
		return ""
	}
	return ": did you mean " + near + "?"
}
