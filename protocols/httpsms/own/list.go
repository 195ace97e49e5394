package own

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/sms/number"
)

// How many messages a page of a list has.
const (
	pageSize    = 100
	maxPageSize = 1000
)

// A List is a query for messages of an account. The zero value selects all messages.
type List struct {
	Reference    string
	From, To     string // without '+'
	State        string
	Since, Until int64  // bounds of the acceptance time: from Since, and before Until; Unix nanoseconds
	Limit        int    // maximum number of messages on the page
	Below        uint64 // id at which the previous page ended; 0: this is the first page

	filters url.Values // filters of the list, which are the same for all pages
}

// ReadList reads the query of a list. It refuses unknown parameters, because ignoring a filter would show
// more messages than requested.
func ReadList(query string) (*List, *Problem) {
	all, err := url.ParseQuery(query)
	if err != nil {
		return nil, NewProblem("malformed-query", "it has an escape that cannot be read")
	}
	l := &List{Limit: pageSize, filters: url.Values{}}
	for _, name := range sortedNames(all) {
		values := all[name]
		if len(values) != 1 {
			return nil, NewProblem("malformed-query", fmt.Sprintf("%.40q stands there %d times", name, len(values)))
		}
		if why := l.read(name, values[0]); why != "" {
			return nil, NewProblem("malformed-query", fmt.Sprintf("%.40q %s", name, why))
		}
		if name != "limit" && name != "cursor" {
			l.filters.Set(name, values[0])
		}
	}
	if cursor := all.Get("cursor"); cursor != "" {
		if !l.readCursor(cursor) {
			return nil, NewProblem(
				"malformed-query",
				"the cursor is not one of this list: it goes with the filters of the page that it came with",
			)
		}
	}
	return l, nil
}

func sortedNames(all url.Values) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// read reads a parameter, and returns the error of an invalid value.
func (l *List) read(name, value string) (why string) {
	switch name {
	case "client_reference":
		l.Reference = value
	case "from":
		l.From = unsigned(value)
	case "to":
		l.To = unsigned(value)
	case "state":
		if l.State = value; !slices.Contains(States(), value) {
			return "must be one of " + strings.Join(States(), ", ")
		}
	case "since":
		return readTime(value, &l.Since)
	case "until":
		return readTime(value, &l.Until)
	case "limit":
		var err error
		if l.Limit, err = strconv.Atoi(value); err != nil || l.Limit < 1 || l.Limit > maxPageSize {
			return fmt.Sprintf("must be from 1 to %d", maxPageSize)
		}
	case "cursor":
	case "status":
		return "is no parameter of a list: state is"
	default:
		return "is no parameter of a list"
	}
	if value == "" {
		return "is empty"
	}
	return ""
}

// unsigned returns a number without the '+' in front, which is a blank in a URL unless it is escaped.
func unsigned(text string) string { return strings.TrimLeft(text, "+ ") }

// isOf reports whether a parameter, which may be empty, is about an address.
func isOf(parameter, address string) bool {
	return parameter == "" || number.Read(parameter).Equal(number.Read(address))
}

func readTime(value string, at *int64) (why string) {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return "must be a time such as 2026-11-23T12:00:00Z"
	}
	*at = t.UnixNano()
	return ""
}

// cursorLen is the length of a cursor in octets: an id, and the beginning of a hash of the filters.
const cursorLen = 8 + 4

// Cursor returns where the next page begins, below an id.
func (l *List) Cursor(below uint64) string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, below), l.hash()...))
}

func (l *List) hash() []byte {
	h := sha256.Sum256([]byte(l.filters.Encode()))
	return h[:cursorLen-8]
}

// Next returns the query of the next page.
func (l *List) Next(below uint64) string {
	all := url.Values{"cursor": {l.Cursor(below)}, "limit": {strconv.Itoa(l.Limit)}}
	for name, values := range l.filters {
		all[name] = values
	}
	return all.Encode()
}

func (l *List) readCursor(text string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != cursorLen || string(b[8:]) != string(l.hash()) {
		return false
	}
	l.Below = binary.BigEndian.Uint64(b)
	return l.Below != 0
}

// Has reports whether the list selects a message.
func (l *List) Has(k *Known) bool {
	accepted := k.AcceptedAt.UnixNano()
	return (l.Reference == "" || l.Reference == k.Reference) &&
		isOf(l.From, k.From) && isOf(l.To, k.To) &&
		(l.State == "" || l.State == k.State) &&
		accepted >= l.Since && (l.Until == 0 || accepted < l.Until)
}
