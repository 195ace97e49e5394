package pdulog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"pmg/internal/logtext"
)

const (
	timeLayout   = "2006-01-02T15:04:05.000000Z"
	secondLayout = "2006-01-02T15:04:05."
)

// A head is the beginning of a line before the instance. Only its microseconds change from
// batch to batch, so the rest is formatted once a second.
type head struct {
	now  int64 // the time in text
	text []byte
}

func newHead(connector string) head {
	return head{math.MinInt64, []byte(timeLayout + " " + connector + "/")}
}

// at returns the head for a time. It is valid until the next call.
func (h *head) at(now int64) []byte {
	if now == h.now { // all lines of a batch have the same time
		return h.text
	}
	second := now / 1e9
	if second != h.now/1e9 {
		time.Unix(second, 0).UTC().AppendFormat(h.text[:0], secondLayout)
	}
	us := uint32(now-second*1e9) / 1e3
	d := h.text[len(secondLayout) : len(secondLayout)+6]
	for i := 5; i >= 0; i-- {
		d[i] = byte('0' + us%10)
		us /= 10
	}
	h.now = now
	return h.text
}

// An Entry is one line of a pdu log. Its byte slices point into the line.
type Entry struct {
	Line      []byte // without line end
	Time      time.Time
	Connector string
	Instance  int
	Received  bool // the PDU came from the peer; false: it was sent to the peer
	Command   string
	PDU       []byte // text of the PDU as protocols.PDU.AppendLog printed it, for Driver.ParseLog
	Rest      []byte // PDU after the command
	Reason    []byte // why the gateway has refused the message, or the operation; nil: the line does not say so
	ID        []byte // the gateway's id of the message, from the field id; nil: the line has no id
	Account   []byte // the client's account, quoted if necessary; nil: the line has no account
}

// A Status is the result that an answer carries.
type Status struct {
	Value uint32
	Name  string // name of the status; empty: the line has no name
}

// String returns the name, or the number if there is no name.
func (s Status) String() string {
	if s.Name != "" {
		return s.Name
	}
	return strconv.FormatUint(uint64(s.Value), 10)
}

var errLine = errors.New("cannot read pdu log line: it is not `time connector/instance < or > command fields`")

// Parse parses a line without its line end.
func Parse(line []byte) (Entry, error) {
	e := Entry{Line: line}
	stamp, rest, ok1 := bytes.Cut(line, []byte{' '})
	where, rest, ok2 := bytes.Cut(rest, []byte{' '})
	connector, instance, ok3 := bytes.Cut(where, []byte{'/'})
	if !ok1 || !ok2 || !ok3 || len(connector) == 0 || len(rest) < 3 || rest[1] != ' ' {
		return Entry{}, errLine
	}
	switch rest[0] {
	case '<':
		e.Received = true
	case '>':
	default:
		return Entry{}, errLine
	}
	var ok bool
	if e.Time, ok = parseTime(stamp); !ok {
		return Entry{}, fmt.Errorf("cannot read time of pdu log line: %q is not like %s", stamp, timeLayout)
	}
	if e.Instance, ok = digits(instance); !ok || len(instance) > 1 && instance[0] == '0' {
		return Entry{}, errLine
	}
	var about logtext.About
	e.PDU, about = logtext.CutAbout(rest[2:])
	e.Reason, e.ID, e.Account = about.Reason, about.ID, about.Account
	command, rest, _ := bytes.Cut(e.PDU, []byte{' '})
	if len(command) == 0 {
		return Entry{}, errLine
	}
	e.Connector, e.Command, e.Rest = string(connector), string(command), rest
	return e, nil
}

// parseTime reads timeLayout. time.Parse would take most of the time of reading a line.
func parseTime(b []byte) (time.Time, bool) {
	if len(b) != len(timeLayout) {
		return time.Time{}, false
	}
	for i, c := range timeLayout {
		if (c < '0' || c > '9') && b[i] != byte(c) {
			return time.Time{}, false
		}
	}
	var n [7]int
	for i, at := range [7][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 26}} {
		var ok bool
		if n[i], ok = digits(b[at[0]:at[1]]); !ok {
			return time.Time{}, false
		}
	}
	if n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return time.Time{}, false
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1e3, time.UTC)
	return t, int(t.Month()) == n[1] && t.Day() == n[2] // time.Date accepts 30 February
}

func digits(b []byte) (int, bool) {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0 && len(b) <= 9
}

// Direction returns "in" or "out", as in the configuration of a connector.
func (e *Entry) Direction() string {
	if e.Received {
		return "in"
	}
	return "out"
}

// Sequence returns the number that pairs a request and its answer. It is the first field,
// whatever its name in the protocol. Sequence returns false if the line shows none.
func (e *Entry) Sequence() (uint32, bool) {
	field, _ := logtext.NextField(e.Rest)
	_, value, _ := bytes.Cut(field, []byte{'='})
	n, err := strconv.ParseUint(string(value), 10, 32)
	return uint32(n), err == nil
}

// Status returns the result that an answer carries, the field after the sequence. A
// request has none.
func (e *Entry) Status() (Status, bool) {
	_, rest := logtext.NextField(e.Rest)
	field, _ := logtext.NextField(rest)
	value, ok := strings.CutPrefix(string(field), "status=")
	if !ok {
		return Status{}, false
	}
	number, name, _ := strings.Cut(value, "(")
	n, err := logtext.ParseNumber(number)
	return Status{n, strings.TrimSuffix(name, ")")}, err == nil
}
