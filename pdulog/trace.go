package pdulog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/internal/logtext"
)

// A Trace selects the messages whose way through the gateway is traced.
type Trace struct {
	ID     string   // the gateway's or a peer's id of the message
	Number string   // number of the sender or the recipient; used if ID is empty
	Also   []string // further ids that the gateway has given, for example of receipts
	Filter Filter   // of it Since and Until count

	Account string // lines with a number count if they are about messages of this account, or say of none; "": all do
	Room    int    // how many octets of lines are kept; 0: as many as there are

	Cut bool // set by Trace: the selection had more messages than maxTraced, or more lines than Room, and only those were followed
}

// maxTraced is how many messages are followed at most: each is looked for in every line, so that
// the number of a busy sender would take hours. The lines that have the number itself are all found.
const maxTraced = 100

// rounds is how often the logs are read at most: what a line tells of others may stand behind
// them.
const rounds = 6

// Trace returns the lines about the selected messages, in the order of their times: the request
// that carried a message to the gateway and its answer, the requests that carried it and its
// other parts to a peer and their answers, and the receipts for it.
//
// It looks for octets and parses only the lines that have them, so that reading takes the time.
// A line may name ids, or belong to a request or an answer, that stand in lines already
// read; so it reads again until nothing new is learned. With an error it returns the lines that it has found before.
func (t *Trace) Trace(ctx context.Context, dir string) ([][]byte, error) {
	w := newTracer(t)
	connectors, err := Connectors(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for range rounds {
		before := w.learned
		for _, c := range connectors {
			if err := w.scan(ctx, dir, c); err != nil {
				return w.lines(), err
			}
		}
		w.pair()
		if w.learned == before {
			break
		}
		w.limit()
	}
	return w.lines(), nil
}

// scan reads the lines of a connector.
func (w *tracer) scan(ctx context.Context, dir, connector string) error {
	n := 0
	return ReadLines(ctx, dir, connector, w.since, w.Filter.Until, func(line []byte) {
		n++
		if w.isWorthParsing(line) {
			if e, err := Parse(line); err == nil && w.Filter.Match(&e) {
				w.visit(&e, n)
			}
		}
	})
}

// A tracer collects the lines about messages, and what they tell of others.
type tracer struct {
	*Trace
	words   [][]byte          // octets that a line about one of the messages has
	told    [][]byte          // octets that a receipt for one of them has
	ids     map[string]bool   // the gateway's ids of the messages and of receipts for them, 16 digits
	short   map[string]bool   // ids that clients know the messages by, where they support only short ones
	peers   map[string]string // the peers' ids of the messages: the connectors that they came by; empty: any
	forms   map[string]bool   // other forms that receipts may write them in
	numbers [][]byte          // recipients of the messages
	parts   map[string]part   // ids that other parts of the messages may have

	found map[string]*tracedLine
	asked map[uint32]bool // sequences of lines that are wanted because they belong to others
	pairs map[pairKey][]*pairing

	since            time.Time // no line before this time is about one of the messages
	from             []byte    // the same, as a line has it
	pairFrom, pairTo []byte    // nor is a request or an answer that is wanted outside of this

	octets  int // of the lines found
	learned int // things that have been learned: it rises until there is nothing more
}

type tracedLine struct {
	line      []byte
	at        time.Time
	rank      int
	connector string
	n         int // of its lines
}

// A pairKey is what the lines of a request and its answer share; received is that of the line
// that is wanted.
type pairKey struct {
	connector string
	instance  int
	received  bool
	sequence  uint32
}

// A pairing is a line whose request or answer is wanted.
type pairing struct {
	at     time.Time
	before bool   // its request is wanted: the last one before it; otherwise its answer, the first one after it
	line   []byte // the best so far
	best   time.Time
	n      int
}

func newTracer(t *Trace) *tracer {
	w := &tracer{
		Trace: t, ids: map[string]bool{}, short: map[string]bool{}, peers: map[string]string{}, forms: map[string]bool{}, parts: map[string]part{},
		found: map[string]*tracedLine{}, asked: map[uint32]bool{}, pairs: map[pairKey][]*pairing{},
	}
	w.since = t.Filter.Since
	if t.ID == "" {
		w.words = append(w.words, []byte(ComparedEnd(t.Number)))
		return w
	}
	w.words = append(w.words, []byte(t.ID))
	w.peers[t.ID] = ""
	if id := strings.ToLower(t.ID); logtext.IsID([]byte(id)) {
		w.addID(id)
		w.noneBefore(acceptedAfter(id))
	} else {
		w.addForms(t.ID)
	}
	for _, id := range t.Also {
		w.addID(id)
	}
	return w
}

// answerWithin is how far a request and its answer are apart at most.
const answerWithin = 10 * time.Minute

// limit notes from what was found which lines need not be looked at.
func (w *tracer) limit() {
	var first, last time.Time
	for _, l := range w.found {
		if first.IsZero() || l.at.Before(first) {
			first = l.at
		}
		if l.at.After(last) {
			last = l.at
		}
	}
	w.pairFrom = first.Add(-answerWithin).AppendFormat(w.pairFrom[:0], timeLayout)
	w.pairTo = last.Add(answerWithin).AppendFormat(w.pairTo[:0], timeLayout)
	if w.ID != "" {
		w.noneBefore(first.Add(-answerWithin))
	}
}

// noneBefore notes that no line before a time is about one of the messages.
func (w *tracer) noneBefore(t time.Time) {
	if t.After(w.since) {
		w.since, w.from = t, t.UTC().AppendFormat(w.from[:0], timeLayout)
	}
}

// acceptedAfter returns a time before which a message with an id was not accepted: ids begin, when a
// gateway starts, with its time in microseconds, and rise by one.
func acceptedAfter(id string) (t time.Time) {
	if n, err := strconv.ParseInt(id, 16, 64); err == nil {
		t = time.UnixMicro(n).Add(-time.Hour) // its clock may have been set back since
	}
	if t.Year() < 2020 || t.After(time.Now()) { // it is no such id
		return time.Time{}
	}
	return t
}

// isWorthParsing reports whether the octets of a line let it be about one of the messages.
func (w *tracer) isWorthParsing(line []byte) bool {
	if len(line) < len(timeLayout) || bytes.Compare(line[:len(timeLayout)], w.from) < 0 {
		return false
	}
	if hasOne(line, w.words) {
		return true
	}
	if len(w.told) > 0 && (bytes.Contains(line, []byte(`="id:`)) || bytes.Contains(line, []byte("receipted_message_id="))) && hasOne(line, w.told) {
		return true
	}
	return len(w.asked) > 0 && bytes.Compare(line[:len(timeLayout)], w.pairFrom) >= 0 &&
		bytes.Compare(line[:len(timeLayout)], w.pairTo) <= 0 && w.isPaired(line)
}

func hasOne(line []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(word []byte) bool { return bytes.Contains(line, word) })
}

// isPaired reports whether a line has the sequence of one that is wanted.
func (w *tracer) isPaired(line []byte) bool {
	_, rest, ok := bytes.Cut(line, []byte(" seq="))
	if !ok {
		return false
	}
	n := uint32(0)
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint32(c-'0')
	}
	return w.asked[n]
}

// visit looks at a line that may be about one of the messages.
func (w *tracer) visit(e *Entry, n int) {
	if w.isAsked(e) {
		w.find(e, n)
		return
	}
	sequence, ok := e.Sequence()
	if !ok {
		return
	}
	_, isAnswer := e.Status()
	for _, p := range w.pairs[pairKey{e.Connector, e.Instance, e.Received, sequence}] {
		switch {
		case p.before && !isAnswer && !e.Time.After(p.at) && (p.line == nil || !e.Time.Before(p.best)),
			!p.before && isAnswer && !e.Time.Before(p.at) && (p.line == nil || e.Time.Before(p.best)):
			p.line, p.best, p.n = append(p.line[:0], e.Line...), e.Time, n
		}
	}
}

// pair adds the requests and answers that belong to lines found so far.
func (w *tracer) pair() {
	for _, all := range w.pairs {
		for _, p := range all {
			if e, err := Parse(p.line); err == nil {
				w.find(&e, p.n)
			}
		}
	}
}

// find adds a line, the n-th of its connector, and learns what it tells.
func (w *tracer) find(e *Entry, n int) {
	if w.found[string(e.Line)] != nil {
		return
	}
	if w.Room > 0 && w.octets+len(e.Line) > w.Room {
		w.Cut = true
		return
	}
	w.octets += len(e.Line)
	w.learned++
	w.found[string(e.Line)] = &tracedLine{bytes.Clone(e.Line), e.Time, rank(e), e.Connector, n}
	w.learn(e)
	sequence, ok := e.Sequence()
	if !ok {
		return
	}
	_, isAnswer := e.Status()
	key := pairKey{e.Connector, e.Instance, !e.Received, sequence}
	w.asked[sequence] = true
	w.pairs[key] = append(w.pairs[key], &pairing{at: e.Time, before: isAnswer})
}

// lines returns what was found, in order.
func (w *tracer) lines() (lines [][]byte) {
	for _, l := range slices.SortedFunc(maps.Values(w.found), func(a, b *tracedLine) int {
		return cmp.Or(a.at.Compare(b.at), a.rank-b.rank, cmp.Compare(a.connector, b.connector), a.n-b.n)
	}) {
		lines = append(lines, l.line)
	}
	return lines
}

// rank orders lines of the same time: a request comes before its answer, and before what follows
// from it.
func rank(e *Entry) int {
	_, answer := e.Status()
	switch {
	case e.Received && !answer && len(receiptIDs(e)) > 0: // perhaps in one segment with the answer before it
		return 4
	case e.Received && !answer:
		return 0
	case answer && !e.Received:
		return 1
	case !answer:
		return 2
	}
	return 3
}
