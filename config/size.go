package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
