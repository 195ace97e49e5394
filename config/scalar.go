package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/protocols"
)

// masked replaces a secret in everything that is shown.
const masked = "********"

// scalarNames are the names of the types of single values, for documentation.
var scalarNames = map[reflect.Type]string{
	reflect.TypeFor[string]():             "text",
	reflect.TypeFor[int]():                "number",
	reflect.TypeFor[bool]():               "true or false",
	reflect.TypeFor[*bool]():              "true or false",
	reflect.TypeFor[time.Duration]():      "duration",
	reflect.TypeFor[Size]():               "size",
	reflect.TypeFor[netip.Prefix]():       "network",
	reflect.TypeFor[protocols.BindType](): "word",
	reflect.TypeFor[Pause]():              "duration",
	reflect.TypeFor[Partial]():            "options",
}

// isScalar reports whether a value of the type is written as one word.
func isScalar(t reflect.Type) bool { return scalarNames[t] != "" }

// parseScalar reads a single value of any type an option has.
func parseScalar(t reflect.Type, s string) (reflect.Value, error) {
	x, err := parseAny(t, s)
	if err != nil {
		return reflect.Value{}, err
	}
	return reflect.ValueOf(x), nil
}

// ParseDuration reads a duration, which may begin with days: 7d, 1d12h.
func ParseDuration(s string) (time.Duration, error) {
	before, rest, ok := strings.Cut(s, "d")
	days, err := strconv.ParseUint(before, 10, 16)
	if !ok || err != nil {
		return time.ParseDuration(s)
	}
	d := time.Duration(days) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && more < 0 {
		err = fmt.Errorf("%q has a sign behind its days", s)
	}
	return d + more, err
}

func parseAny(t reflect.Type, s string) (any, error) {
	switch reflect.Zero(t).Interface().(type) {
	case string:
		return s, nil
	case int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number, not %q", s)
		}
		return n, nil
	case bool:
		return parseBool(s)
	case *bool:
		b, err := parseBool(s)
		return &b, err
	case time.Duration:
		d, err := ParseDuration(s)
		if err != nil {
			return nil, fmt.Errorf("must be a duration such as 500ms, 10s, 1h30m or 7d, not %q", s)
		}
		return d, nil
	case Size:
		n, err := ParseSize(s)
		if err != nil {
			return nil, fmt.Errorf("must be a size such as 4096, 64KiB or 100MiB, not %q", s)
		}
		return n, nil
	case netip.Prefix:
		return parseNetwork(s)
	case Pause:
		return parsePause(s)
	case protocols.BindType:
		if b, ok := protocols.ParseBindType(s); ok {
			return b, nil
		}
		return nil, fmt.Errorf("must be transmitter, receiver or transceiver, not %q", s)
	}
	panic("config: an option has type " + t.String())
}

func parseBool(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, not %q", s)
}

// parseNetwork parses a network, or a single address.
func parseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("must be a network such as 192.0.2.0/24 or 2001:db8::/32, not %q", s)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("must be a network: %s has bits after its prefix, did you mean %s?", s, p.Masked())
	}
	return p, nil
}

// formatScalar writes a single value as the file would.
func formatScalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return quote(x)
	case *bool:
		if x == nil {
			return ""
		}
		return strconv.FormatBool(*x)
	case time.Duration:
		return formatDuration(x)
	}
	return fmt.Sprint(v.Interface())
}

// formatDuration omits the zero units that time.Duration writes: 24h, not 24h0m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// notPlain are the words that some version of YAML does not parse as text.
var notPlain = []string{"", "true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// quote returns text so that YAML parses it as the same text.
func quote(s string) string {
	if slices.Contains(notPlain, strings.ToLower(s)) || strings.ContainsFunc(s, needsQuotes) || !startsWithLetter(s) {
		return strconv.Quote(s)
	}
	return s
}

func startsWithLetter(s string) bool { return s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' }

func needsQuotes(r rune) bool {
	letter := r|0x20 >= 'a' && r|0x20 <= 'z'
	digit := r >= '0' && r <= '9'
	return !letter && !digit && r != '_' && r != '-' && r != '.'
}

// checkRange returns an error if v is not within "low..high".
func checkRange(v reflect.Value, limits string) error {
	low, high, _ := strings.Cut(limits, "..")
	if low != "" && v.Int() < limitOf(v.Type(), low) || high != "" && v.Int() > limitOf(v.Type(), high) {
		return errors.New("must be " + describeRange(limits) + ", not " + formatScalar(v))
	}
	return nil
}

func limitOf(t reflect.Type, limit string) int64 {
	v, err := parseScalar(t, limit)
	if err != nil {
		panic("config: a range tag " + err.Error())
	}
	return v.Int()
}

// describeRange returns a range tag in words.
func describeRange(limits string) string {
	low, high, _ := strings.Cut(limits, "..")
	switch {
	case high == "":
		return "at least " + low
	case low == "":
		return "at most " + high
	}
	return low + " to " + high
}

// Size is a number of bytes, written as 100MiB, 64KiB or plain 4096.
type Size int64

var sizeUnits = [...]struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// ParseSize parses a Size. It accepts only whole numbers of binary units, so that
// there is no doubt whether a K is 1000 or 1024.
func ParseSize(s string) (Size, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			break
		}
		return Size(n * u.bytes), nil
	}
	return 0, fmt.Errorf("cannot read size %q: write a number and B, KiB, MiB or GiB", s)
}

// String returns the size as a whole number of the largest unit possible.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if n := int64(s); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return "0B"
}

var errTime = errors.New(
	"use an age (10m, 24h, 7d), a time of day (19:05), a day (2026-11-20) or a time such as 2026-11-20T19:05:22Z",
)

// ParseTime reads a time as people write it: an age, a time of day, a day, or both. Without a zone it is UTC. It returns the zero
// time for "".
func ParseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if ago, err := ParseDuration(s); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, strings.Replace(s, " ", "T", 1)); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return lastTime(t, now), nil
		}
	}
	return time.Time{}, errTime
}

// lastTime returns the last time before now that has the time of day of t, in UTC.
func lastTime(t, now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	at := time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if at.After(now) {
		at = at.AddDate(0, 0, -1)
	}
	return at
}
