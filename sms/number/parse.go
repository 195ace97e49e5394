package number

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pmg/sms"
)

// Clean returns a number, as people write or copy it, without meaningless characters: blanks of all kinds, punctuation such as
// - . / ( ), a (0) after a country code, and invisible characters, such as marks of text direction. If a text has other
// characters, or more than a number, Clean returns it with an error, because it may be a name.
func Clean(text string) (string, error) {
	if isDigits([]byte(strings.TrimPrefix(text, "+"))) { // almost all texts are
		return text, nil
	}
	if trimmed := Trim(text); strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "00") {
		text = strings.Replace(text, "(0)", "", 1) // as in +46 (0)70: the 0 is not dialled after the country code
	}
	digits := make([]byte, 0, len(text))
	group, long, longest, apart := 0, 0, 0, false // group: consecutive digits
	for at, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits = append(digits, byte(c))
			if group++; group == Shortest {
				long++
			}
			longest = max(longest, group)
		case c == '+' && len(digits) == 0:
			digits = append(digits, '+')
		case isInvisible(c):
		case isSeparator(c):
			apart = apart || group > 0
			group = 0
		case c == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)):
			return text, fmt.Errorf("octet %d is not UTF-8", at+1)
		default:
			return text, fmt.Errorf("%s is not a digit", Describe(c))
		}
	}
	switch n := len(strings.Trim(string(digits), "+")); {
	case n == 0:
		return text, errors.New("it has no digit")
	case apart && long > 1:
		return text, errors.New("there are two numbers")
	case apart && (n > longestNumber || longest >= dialled && n > longest || hasDate(text)):
		return text, errors.New("there is more than a number")
	}
	return string(digits), nil
}

// longestNumber is the maximum number of digits (ITU-T E.164), with a leading 011.
const longestNumber = 18

// hasDate reports whether a date follows a number, such as 2026-11-01, 1.11.2026 or 11/01/2026.
func hasDate(text string) bool {
	for i, field := range strings.Fields(text) {
		parts := strings.FieldsFunc(field, func(c rune) bool { return c == '-' || c == '.' || c == '/' })
		if i == 0 || len(parts) != 3 {
			continue
		}
		var n [3]int
		for at, part := range parts {
			n[at], _ = strconv.Atoi(part)
		}
		if len(parts[2]) == 4 {
			n[0], n[2] = n[2], n[0]
		}
		if n[0] >= 1900 && n[0] < 2200 && min(n[1], n[2]) >= 1 && min(n[1], n[2]) <= 12 && max(n[1], n[2]) <= 31 {
			return true
		}
	}
	return false
}

// Parse parses a number as people write or copy it, without a type.
func Parse(text string) (Number, error) {
	digits, err := Clean(text)
	if err != nil {
		return Number{}, err
	}
	return Of(sms.Address{Addr: []byte(digits)}), nil
}

// Read parses a number as people write or copy it, or the name of a sender.
func Read(text string) Number {
	n, err := Parse(text)
	if err != nil {
		return Of(sms.Address{Addr: []byte(text)})
	}
	return n
}

// Trim removes blanks, and characters that nobody sees, from both ends.
func Trim(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return unicode.IsSpace(c) || isInvisible(c) })
}

// Describe returns a character for errors: the character itself, or the code point if it is invisible.
func Describe(c rune) string {
	if unicode.IsGraphic(c) && c != ' ' && !unicode.IsSpace(c) && !unicode.Is(unicode.Mn, c) {
		return fmt.Sprintf("%q", string(c))
	}
	return fmt.Sprintf("the invisible character U+%04X", c)
}

// isSeparator reports whether people write a character between digits.
func isSeparator(c rune) bool {
	return strings.ContainsRune("-./()\u2010\u2011\u2012\u2013\u2212", c) || c == '\t' || unicode.Is(unicode.Zs, c)
}

// isInvisible reports whether a character is invisible, such as a mark of text direction.
func isInvisible(c rune) bool { return unicode.Is(unicode.Cf, c) }
