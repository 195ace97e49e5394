package option

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/internal/timetext"
)

// kinds are the names of the types of single values, for documentation.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[string]():        "text",
	reflect.TypeFor[int]():           "number",
	reflect.TypeFor[bool]():          "true or false",
	reflect.TypeFor[*bool]():         "true or false",
	reflect.TypeFor[time.Duration](): "duration",
	reflect.TypeFor[Size]():          "size",
	reflect.TypeFor[netip.Prefix]():  "network",
}

// A Word is a single value of a type of its own, which defines the syntax of its values.
type Word interface {
	encoding.TextUnmarshaler
	Kind() string // name of the type in the documentation, such as "word"
}

// Kind returns the name of a type, for documentation; "" if its values are not written as one word.
func Kind(t reflect.Type) string {
	if w, ok := reflect.New(t).Interface().(Word); ok {
		return w.Kind()
	}
	return kinds[t]
}

// IsSingle reports whether a value of the type is written as one word.
func IsSingle(t reflect.Type) bool { return Kind(t) != "" }

// Parse reads a single value of any type an option has.
func Parse(t reflect.Type, s string) (reflect.Value, error) {
	if x := reflect.New(t); Kind(t) != kinds[t] {
		return x.Elem(), x.Interface().(Word).UnmarshalText([]byte(s))
	}
	x, err := parseAny(t, s)
	if err != nil {
		return reflect.Value{}, err
	}
	return reflect.ValueOf(x), nil
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
		d, err := timetext.ParseDuration(s)
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
	}
	panic("option: an option has type " + t.String())
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

// Format writes a single value as the file would.
func Format(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return Quote(x)
	case *bool:
		if x == nil {
			return ""
		}
		return strconv.FormatBool(*x)
	case time.Duration:
		return timetext.FormatDuration(x)
	}
	return fmt.Sprint(v.Interface())
}

// notPlain are the words that some version of YAML does not parse as text.
var notPlain = []string{"", "true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// Quote returns a text so that YAML parses it as the same text.
func Quote(s string) string {
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

// CheckRange returns an error if v is not within "low..high".
func CheckRange(v reflect.Value, limits string) error {
	low, high, _ := strings.Cut(limits, "..")
	if low != "" && v.Int() < limitOf(v.Type(), low) || high != "" && v.Int() > limitOf(v.Type(), high) {
		return errors.New("must be " + DescribeRange(limits) + ", not " + Format(v))
	}
	return nil
}

func limitOf(t reflect.Type, limit string) int64 {
	v, err := Parse(t, limit)
	if err != nil {
		panic("option: a range tag " + err.Error())
	}
	return v.Int()
}

// DescribeRange returns a range tag as text.
func DescribeRange(limits string) string {
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
