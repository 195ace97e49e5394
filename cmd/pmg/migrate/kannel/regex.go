package kannel

import (
	"regexp"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// expression returns a regular expression of Kannel as one of PMG (RE2), empty if there is none. Kannel has POSIX's
// (extended), or PCRE where it was built with that, as Debian's is. Constructs that the three read differently get a
// comment. At line ends the result matches what either of Kannel's would, so that no success counts as a failure; but
// the id, which is the group, ends with its line.
func expression(e *draft.Entry, option, text string, group bool) string {
	if text == "" {
		return ""
	}
	s := scan(text, group)
	made := text
	for i := len(s.ends) - 1; i >= 0; i-- {
		made = made[:s.ends[i]] + `\n?` + made[s.ends[i]:]
	}
	if s.dot && !group {
		made = "(?s)" + made
	}
	compiled, err := regexp.Compile(made)
	switch {
	case err != nil:
		e.Decide("%s = %q: PMG cannot read this expression (%v); it is left out", option, text, err)
		return ""
	case group && compiled.NumSubexp() < 1:
		e.Decide("%s = %q: it has no group, the part in ( ) that is the id; it is left out", option, text)
		return ""
	}
	if len(s.differ) > 0 {
		e.Decide("%s = %q: %s may mean something else in Kannel, which has POSIX's expressions or, as Debian's, PCRE; "+
			"PMG has RE2. Check it with answers of the SMSC",
			option, text, strings.Join(s.differ, " and "))
	}
	if len(s.ends) > 0 {
		e.Tell("%s: $ is also the end before a last line end, as in Kannel of Debian, which has PCRE; in POSIX it is not", option)
	}
	switch {
	case s.dot && group:
		e.Tell("%s: . is no line end, as in Kannel of Debian, which has PCRE; in POSIX it may be one", option)
	case s.dot:
		e.Tell("%s: . is a line end, too (?s), as in POSIX; in Kannel of Debian, which has PCRE, it is none", option)
	}
	return made
}

// A scanned is the list of constructs in an expression that need care.
type scanned struct {
	differ []string
	dot    bool  // a dot, which matches a line end in POSIX alone
	ends   []int // positions of '$', which PCRE matches before a last line end, too
}

// sameEscapes are the letters that mean the same behind a backslash in POSIX, PCRE and RE2.
const sameEscapes = "wWbBsS"

// scan checks each character of an expression. The length of the match matters for a group: POSIX takes the longest
// of all ways to match, PCRE and RE2 the first.
func scan(text string, group bool) (s scanned) {
	differs := func(what string) {
		for _, d := range s.differ {
			if d == what {
				return
			}
		}
		s.differ = append(s.differ, what)
	}
	before := byte(0) // the previous character, unless it was a literal
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c {
		case '\\':
			i++
			isLetter := next >= '0' && next <= '9' || next|0x20 >= 'a' && next|0x20 <= 'z'
			if isLetter && !strings.ContainsRune(sameEscapes, rune(next)) || next != 0 && strings.IndexByte("<>`'", next) >= 0 {
				differs(text[i-1 : i+1])
			}
			before = 0
			continue
		case '[':
			end, odd := bracket(text[i:])
			if i += end; odd {
				differs("what stands in [ ]")
			}
			before = ']'
			continue
		case '.':
			s.dot = true
		case '$':
			s.ends = append(s.ends, i)
		case '|':
			if group {
				differs("a choice (|)")
			}
		case '(':
			if next == '?' {
				differs("(?")
			}
		case '*', '+', '?', '{':
			if strings.IndexByte("*+?}", before) >= 0 && before != 0 {
				differs(string(before) + string(c))
			}
			if group && before == ')' {
				differs("a group that may come several times or not at all")
			}
			if c == '{' && next == ',' {
				differs("{,")
			}
		}
		before = c
	}
	return s
}

// bracket returns the end of the list of characters at the beginning of a text, and whether POSIX, PCRE and RE2 read
// the list differently.
func bracket(text string) (end int, odd bool) {
	i := 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' { // a ']' at the beginning stands for itself
		i++
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == ']':
			return i, odd
		case text[i] == '\\':
			odd = true
			i++
		case strings.HasPrefix(text[i:], "[:"):
			if n := strings.Index(text[i:], ":]"); n > 0 {
				i += n + 1
			}
		case strings.HasPrefix(text[i:], "[.") || strings.HasPrefix(text[i:], "[="):
			odd = true
		}
	}
	return len(text), odd
}
