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

	"pmg/internal/logfile"
	"pmg/internal/logtext"
)

// A Trace selects the messages whose way through the gateway is traced: by their ids, by a number, or the latest ones.
type Trace struct {
	ID     string   // the gateway's or a peer's id of the message
	Number string   // number of the sender or the recipient; used if ID is empty
	Also   []string // further ids that the gateway has given, for example of receipts
	Filter Filter   // selection of messages; only Since and Until are used

	// Account selects messages of an account, and messages whose lines name no account; "": any account.
	// Account and the next two fields are used if ID is empty.
	Account    string
	Connectors []string // messages that came or left by these; empty: by any
	Failed     bool     // select messages that a peer refused, or whose receipt reports any state except "delivered"
	Most       int      // limit of messages that are followed, from the latest; 0: maxTraced

	Room int           // limit of octets of lines in memory; 0: no limit
	Logs *logfile.Logs // index of files, which is kept between searches; nil: none

	// Set by Trace.
	Cut  bool      // more messages than Most, or more lines than Room, were selected: the rest was not followed
	From time.Time // start of the period that was searched
	Read int64     // number of octets that were read
}

// maxTraced is the default of Trace.Most.
const maxTraced = 100

// rounds is the limit of rounds in which newly found keys are looked up.
const rounds = 12

// mostPool is the limit, in octets, of lines that are perhaps about one of the messages.
const mostPool = 64 << 20

// Trace returns the lines about the selected messages, in the order of their times: the request
// that carried a message to the gateway and its answer, the requests that carried it and its
// other parts to a peer and their answers, and the receipts for it.
//
// Lines are found by their keys, the latest first, in blocks whose keys an index lists. The keys in a line
// are looked up next, until there are no new keys. With an error it returns the lines that were found before
// the error.
func (t *Trace) Trace(ctx context.Context, dir string) ([][]byte, error) {
	names, err := Connectors(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	w := newTracer(t)
	w.walk, err = cmp.Or(t.Logs, new(logfile.Logs)).Walk(dir, AppendKeys, names, w.since, t.Filter.Until)
	if err != nil {
		return nil, err
	}
	defer w.walk.Close()
	t.From = t.Filter.Since
	if t.ID == "" {
		err = w.latest(ctx)
	}
	for range rounds {
		if len(w.fresh) == 0 {
			w.wantPairs() // the ids have found most lines
		}
		if err != nil || len(w.fresh) == 0 {
			break
		}
		err = w.follow(ctx)
	}
	t.Read = w.walk.Octets + w.walk.Indexed
	return w.lines(), err
}

// A tracer collects the lines about messages, and the keys of other lines in them.
type tracer struct {
	*Trace
	walk  *logfile.Walk
	since time.Time // no line before this time is about one of the messages
	fresh []logfile.Key
	asked map[uint64][]logfile.Key // all keys that were ever in fresh
	keys  []uint64                 // keys of the present line
	pool  []*tracedLine            // lines with a wanted key that are not known to be about one of the messages
	size  int                      // octets of all lines that were ever in pool

	ids   map[string]bool    // the gateway's ids of the messages and of their receipts, 16 digits
	short map[string]bool    // short ids of the messages, for clients that support only short ids
	peers map[string][]*peer // the peers' ids of the messages, by each form that receipts may use
	to    map[string]string  // recipients of the messages, by the gateway's ids
	parts map[string]part    // ids that other parts of the messages may have

	found  map[string]*tracedLine
	pairs  map[uint64][]*pairing
	octets int // octets of the lines found
}

// A place is the position of a line among the lines of its connector.
type place struct{ file, at int64 }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.file, o.file), cmp.Compare(p.at, o.at))
}

type tracedLine struct {
	Entry
	named []string // ids that a receipt names; empty: the line is no receipt
	rank  int
	place place
}

// A pairing is a line whose request or answer is wanted.
type pairing struct {
	line   *tracedLine
	at     time.Time
	before bool        // the request is wanted: the last one before at; false: the answer, the first one after at
	best   *tracedLine // best line so far
}

func newTracer(t *Trace) *tracer {
	w := &tracer{
		Trace: t, asked: map[uint64][]logfile.Key{}, ids: map[string]bool{}, short: map[string]bool{},
		peers: map[string][]*peer{}, to: map[string]string{}, parts: map[string]part{},
		found: map[string]*tracedLine{}, pairs: map[uint64][]*pairing{},
	}
	w.since = t.Filter.Since
	if t.ID == "" {
		return w
	}
	if id := strings.ToLower(t.ID); logtext.IsID([]byte(id)) {
		if after := acceptedAfter(id); after.After(w.since) {
			w.since = after
		}
		w.addID(id, time.Time{})
	}
	for _, form := range IDForms(t.ID) {
		w.want(IDHash([]byte(form)), time.Time{}, time.Time{})
	}
	for _, id := range t.Also {
		w.addID(id, time.Time{})
	}
	return w
}

// answerWithin is the longest time between a request and its answer.
const answerWithin = 10 * time.Minute

// acceptedAfter returns a time before which a message with an id was not accepted: when a gateway starts, ids
// begin with the time in microseconds, and rise by one.
func acceptedAfter(id string) (t time.Time) {
	if n, err := strconv.ParseInt(id, 16, 64); err == nil {
		t = time.UnixMicro(n).Add(-time.Hour) // the clock may have been set back since then
	}
	if t.Year() < 2020 || t.After(time.Now()) { // the number is no time-based id
		return time.Time{}
	}
	return t
}

// want looks for lines with a key within a time; zero times are no limits.
func (w *tracer) want(hash uint64, from, to time.Time) {
	k := logfile.Key{Hash: hash, From: microsOf(from), To: microsOf(to)}
	if !slices.ContainsFunc(
		w.asked[hash], func(o logfile.Key) bool { return o.From <= k.From && (o.To == 0 || k.To != 0 && o.To >= k.To) },
	) {
		w.asked[hash] = append(w.asked[hash], k)
		w.fresh = append(w.fresh, k)
	}
}

// follow looks up the newly found keys.
func (w *tracer) follow(ctx context.Context) error {
	keys := w.fresh
	w.fresh = nil
	wanted := map[uint64]bool{}
	for _, k := range keys {
		wanted[k.Hash] = true
	}
	err := w.walk.Blocks(ctx, keys, func(lines logfile.Lines) bool {
		eachLine(lines, func(line []byte, at place) {
			if !w.hasOne(line, wanted) {
				return
			}
			if e := w.parse(line, at); e != nil {
				w.pool, w.size = append(w.pool, e), w.size+len(line)
			}
		})
		w.Cut = w.Cut || w.size > mostPool
		return w.size <= mostPool
	})
	slices.SortFunc(w.pool, compareLines)
	for before := -1; before < len(w.found); { // a line may be about a message that only a later line shows
		before = len(w.found)
		for _, e := range w.pool {
			w.visit(e)
		}
		for _, all := range w.pairs {
			for _, p := range all {
				if p.best != nil {
					w.find(p.best)
				}
			}
		}
		w.pool = slices.DeleteFunc(w.pool, func(e *tracedLine) bool { return w.found[string(e.Line)] != nil })
	}
	return err
}

// eachLine calls visit for lines.
func eachLine(lines logfile.Lines, visit func(line []byte, at place)) {
	at := lines.At
	for rest := lines.Text; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		visit(line, place{lines.File, at})
		at += int64(len(rest) - len(after))
		rest = after
	}
}

func (w *tracer) hasOne(line []byte, wanted map[uint64]bool) bool {
	w.keys, _ = AppendKeys(line, w.keys[:0])
	return slices.ContainsFunc(w.keys, func(key uint64) bool { return wanted[key] })
}

// parse returns a copy of a line, or nil if the line is not within the searched time.
func (w *tracer) parse(line []byte, at place) *tracedLine {
	e, err := Parse(line)
	if err != nil || !w.Filter.Match(&e) {
		return nil
	}
	e, _ = Parse(bytes.Clone(line))
	named := receiptIDs(&e)
	return &tracedLine{e, named, rank(&e, len(named) > 0), at}
}

// visit examines a line that may be about one of the messages.
func (w *tracer) visit(l *tracedLine) {
	w.endPeer(&l.Entry)
	if w.isAsked(&l.Entry) {
		w.find(l)
		return
	}
	hash, isAnswer, ok := pairOf(&l.Entry)
	if !ok {
		return
	}
	for _, p := range w.pairs[hash] {
		p.offer(l, isAnswer)
	}
}

// pairOf returns the key that a request and its answer share.
func pairOf(e *Entry) (hash uint64, isAnswer, ok bool) {
	sequence, ok := e.Sequence()
	_, isAnswer = e.Status()
	session := append([]byte(e.Connector), '/')
	return pairHash(strconv.AppendInt(session, int64(e.Instance), 10), e.Received != isAnswer, sequence), isAnswer, ok
}

// find adds a line to the result, and adds its keys to the search.
func (w *tracer) find(l *tracedLine) {
	if w.found[string(l.Line)] != nil {
		return
	}
	if w.Room > 0 && w.octets+len(l.Line) > w.Room {
		w.Cut = true
		return
	}
	w.octets += len(l.Line)
	w.found[string(l.Line)] = l
	w.learn(&l.Entry)
	if hash, isAnswer, ok := pairOf(&l.Entry); ok {
		for _, p := range w.pairs[hash] {
			p.offer(l, isAnswer)
		}
		p := &pairing{at: l.Time, before: isAnswer}
		for _, other := range w.pairs[hash] {
			p.offer(other.line, other.before)
		}
		p.line = l
		w.pairs[hash] = append(w.pairs[hash], p)
	}
}

// offer takes a line if it is the best so far.
func (p *pairing) offer(l *tracedLine, isAnswer bool) {
	switch {
	case p.before && !isAnswer && !l.Time.After(p.at) && (p.best == nil || !l.Time.Before(p.best.Time)),
		!p.before && isAnswer && !l.Time.Before(p.at) && (p.best == nil || l.Time.Before(p.best.Time)):
		p.best = l
	}
}

// wantPairs searches for the requests and answers that were not found yet.
func (w *tracer) wantPairs() {
	for hash, all := range w.pairs {
		for _, p := range all {
			switch {
			case p.best != nil:
			case p.before:
				w.want(hash, p.at.Add(-answerWithin), p.at)
			default:
				w.want(hash, p.at, p.at.Add(answerWithin))
			}
		}
	}
}

// lines returns the lines that were found, in order.
func (w *tracer) lines() (lines [][]byte) {
	for _, l := range slices.SortedFunc(maps.Values(w.found), compareLines) {
		lines = append(lines, l.Line)
	}
	return lines
}

func compareLines(a, b *tracedLine) int {
	return cmp.Or(a.Time.Compare(b.Time), a.rank-b.rank, cmp.Compare(a.Connector, b.Connector), a.place.compare(b.place))
}

// rank orders lines of the same time: a request comes before its answer, and before its consequences.
func rank(e *Entry, isReceipt bool) int {
	_, answer := e.Status()
	switch {
	case e.Received && !answer && isReceipt: // the receipt may be in one segment with the answer before it
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
