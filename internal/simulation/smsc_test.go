package simulation

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An smsc is where the connectors of one operator lead. It counts what it
// accepts, writes the numbers in one way in its answers and perhaps in another in its receipts,
// and sends receipts over whichever session it likes.
type smsc struct {
	w        *world
	stations []*station
	spelling *spelling
	told     bool // the gateway is: receipt_ids says how the ids are written
	named    bool // receipts have the id and the state in optional parameters, too
	unasked  bool // it sends receipts that nobody has asked for
	forges   float64

	first    uint64
	last     uint64          // number
	taken    map[string]bool // ids, as they are compared, that stand for something else
	accepted []*submission
	byCode   map[string]*report
	reports  int // so far
	unsent   int // receipts that are not taken yet
	traps    int // forged ids that would be those of messages in another form

	answersRead, receiptsTaken int // since the node has started
}

// maxTraps is how many of those there are at most: more of them say that the SMSC does write ids
// in another form.
const maxTraps = 3

// A spelling is how an SMSC writes its numbers.
type spelling struct {
	name            string
	answer, receipt func(n uint64) string
	option          string // of receipt_ids; "": no option says that
}

func decimal(n uint64) string     { return strconv.FormatUint(n, 10) }
func hexadecimal(n uint64) string { return strconv.FormatUint(n, 16) }
func capitals(n uint64) string    { return strings.ToUpper(hexadecimal(n)) }
func padded(n uint64) string      { return fmt.Sprintf("%010d", n) }

func uuid(n uint64) string {
	a, b := n*0x9E3779B97F4A7C15, (n+1)*0xC2B2AE3D27D4EB4F
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(a>>32), uint16(a>>16), a&0xFFF, b>>52, b&0xFFFFFFFFFFFF)
}

// long returns an id of 39 digits, the first and the last of which say little.
func long(n uint64) string {
	v := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	v.Add(v, new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(1e15)))
	return v.String()
}

func cut(form func(uint64) string, from, to int) func(uint64) string {
	return func(n uint64) string { return form(n)[from:to] }
}

var spellings = []spelling{
	{"decimal", decimal, decimal, "same"},
	{"hexadecimal", hexadecimal, hexadecimal, "same"},
	{"capitals in receipts", hexadecimal, capitals, "same"},
	{"capitals in answers", capitals, hexadecimal, "same"},
	{"padded in receipts", decimal, padded, "same"},
	{"padded in answers", padded, decimal, "same"},
	{"UUID", uuid, uuid, "same"},
	{"39 digits", long, long, "same"},
	{"hexadecimal, decimal in receipts", hexadecimal, decimal, "decimal"},
	{"decimal, hexadecimal in receipts", decimal, hexadecimal, "hexadecimal"},
	{"UUID, cut in receipts", uuid, cut(uuid, 0, 23), ""},
	{"39 digits, cut in receipts", long, cut(long, 0, 36), ""},
}

// A submission is a message that an SMSC has accepted.
type submission struct {
	smsc         *smsc
	texts        []*text // in it
	source, dest string
	id, receipt  string // as the answer and the receipts have it
	read         bool   // the node has read the answer
	doubtful     bool   // and may have forgotten it
	reports      []*report
	came         []*arrival // in this life of the node
}

// A report is a receipt that an SMSC has sent, or is to send.
type report struct {
	of           *submission // nil: it is forged
	smsc         *smsc
	source, dest string
	id           string
	state, code  string // the code is the report's own
	progress     bool
	twice        bool
	sent, taken  bool
}

func (r *report) String() string {
	return fmt.Sprintf("receipt %s of %s, err %s", r.state, r.id, r.code)
}

func (w *world) newSMSC(stations ...*station) *smsc {
	c := &smsc{w: w, stations: stations, taken: map[string]bool{}, byCode: map[string]*report{}}
	for _, s := range stations {
		s.smsc = c
	}
	c.spelling = &spellings[w.rng.IntN(len(spellings))]
	c.told = c.spelling.option != "" && w.chance(0.5)
	c.named, c.unasked = w.chance(0.3), w.chance(0.3)
	c.first = []uint64{0, 1, 9, 1000, 3e9, 1e12}[w.rng.IntN(6)]
	c.last = c.first - 1
	if w.chance(0.5) {
		c.forges = 0.1
	}
	return c
}

// option returns the value of receipt_ids.
func (c *smsc) option() string {
	if c.told {
		return c.spelling.option
	}
	return "learn"
}

// isPlain reports whether its receipts have the ids of its answers, as they stand.
func (c *smsc) isPlain() bool { return c.spelling.option == "same" }

// compared returns an id without what never matters: letter case and leading zeros of numbers.
func compared(id string) string {
	if strings.Trim(id, "0123456789abcdef") != "" && strings.Trim(id, "0123456789ABCDEF") != "" {
		return id
	}
	if id = strings.TrimLeft(strings.ToLower(id), "0"); id == "" {
		return "0"
	}
	return id
}

// next returns a number that no forged receipt has been about.
func (c *smsc) next() uint64 {
	for {
		c.last++
		if c.w.chance(0.2) {
			c.last += c.w.rng.Uint64N(3) // those of other customers
		}
		if !c.taken[compared(c.spelling.answer(c.last))] && !c.taken[compared(c.spelling.receipt(c.last))] {
			return c.last
		}
	}
}

// accept takes a message, and returns the id for the answer, which follows after a delay.
func (c *smsc) accept(texts []*text, source, dest string, registered byte, answer time.Duration) *submission {
	w, n := c.w, c.next()
	s := &submission{smsc: c, texts: texts, source: source, dest: dest, id: c.spelling.answer(n), receipt: c.spelling.receipt(n)}
	c.accepted = append(c.accepted, s)
	for _, t := range texts {
		t.submissions = append(t.submissions, s)
	}
	if !slices.ContainsFunc(c.stations, func(s *station) bool { return s.receives }) {
		return s
	}
	var after time.Duration
	switch w.rng.IntN(8) {
	case 0: // it overtakes the answer
	case 1, 2:
		after = answer + w.between(0, 10*time.Millisecond)
	case 3:
		after = w.between(0, 10*time.Second)
	default:
		after = w.between(0, 2*time.Second)
	}
	if registered&0x10 != 0 && w.chance(0.5) {
		c.plan(s, "ENROUTE", after)
		after += w.between(0, 2*time.Second)
	}
	state := "DELIVRD"
	if w.chance(0.3) {
		state = []string{"UNDELIV", "EXPIRED", "REJECTD", "DELETED", "UNKNOWN"}[w.rng.IntN(5)]
	}
	if asksFor(registered, state) || c.unasked {
		c.plan(s, state, after)
	}
	if w.fault(c.forges) {
		c.forge(s)
	}
	return s
}

// asksFor reports whether registered_delivery asks for receipts of a state.
func asksFor(registered byte, state string) bool {
	switch {
	case state == "ENROUTE":
		return registered&0x10 != 0
	case registered&3 == 1:
		return true
	case registered&3 == 2:
		return state != "DELIVRD"
	}
	return registered&3 == 3 && state == "DELIVRD"
}

// plan plans to send a receipt.
func (c *smsc) plan(s *submission, state string, after time.Duration) {
	if c.w.fault(0.05) {
		return // it is lost
	}
	r := &report{of: s, smsc: c, source: s.dest, dest: s.source, id: s.receipt, state: state, progress: state == "ENROUTE"}
	r.twice = c.w.chance(0.05)
	s.reports = append(s.reports, r)
	c.count(r, after)
}

// forge sends a receipt of a foreign message. Written in another way, its id would be that of a
// message of the gateway.
func (c *smsc) forge(s *submission) {
	id := decimal(7e18 + uint64(c.reports))
	if c.isPlain() && c.traps < maxTraps && c.w.chance(0.5) {
		c.traps++
		if n, err := strconv.ParseUint(s.id, 10, 64); err == nil {
			id = hexadecimal(n)
		} else if n, err := strconv.ParseUint(s.id, 16, 64); err == nil {
			id = decimal(n)
		}
	}
	for _, other := range c.accepted {
		if compared(other.id) == compared(id) || compared(other.receipt) == compared(id) {
			return
		}
	}
	c.taken[compared(id)] = true
	r := &report{smsc: c, source: s.dest, dest: s.source, id: id, state: "UNDELIV"}
	if c.w.chance(0.5) {
		r.state = "DELIVRD"
	}
	c.count(r, c.w.between(0, 5*time.Second))
}

func (c *smsc) count(r *report, after time.Duration) {
	c.reports++
	r.code = fmt.Sprintf("%03d", 200+c.reports%800)
	c.byCode[r.code] = r
	c.unsent++
	c.w.after(after, func() { c.send(r) })
}

// send sends a receipt over any session.
func (c *smsc) send(r *report) {
	w := c.w
	var ready []*peer
	for _, s := range c.stations {
		for _, p := range s.peers {
			if p.bound && !p.leaving && p.session.Bound().CanReceive() && p.session.Accepting() && len(p.reports) < peerWindow {
				ready = append(ready, p)
			}
		}
	}
	if len(ready) == 0 {
		w.after(w.between(50*time.Millisecond, time.Second), func() { c.send(r) })
		return
	}
	p := ready[w.rng.IntN(len(ready))]
	w.note("%s: sends %s", p.station.name, r)
	n := p.session.NextSequence()
	p.reports[n] = r
	r.sent = true
	p.end.write(r.wire(n))
}

func (r *report) wire(sequence uint32) []byte {
	class := byte(classReceipt)
	if r.progress {
		class = classProgress
	}
	id := r.smsc.mutated(r)
	text := fmt.Sprintf("id:%s sub:001 dlvrd:001 submit date:0001010000 done date:0001010001 stat:%s err:%s text:", id, r.state, r.code)
	body := []string{
		cString(""), address(r.source), address(r.dest), octets(class, 0, 0), cString(""), cString(""),
		octets(0, 0, 0, 0, byte(len(text))), text,
	}
	if r.smsc.named {
		body = append(body, parameter(receiptedID, cString(id)), parameter(messageState, octets(numbers[r.state])))
	}
	return wire(deliver, sequence, body...)
}

var numbers = map[string]byte{"ENROUTE": 1, "DELIVRD": 2, "EXPIRED": 3, "DELETED": 4, "UNDELIV": 5, "ACCEPTD": 6, "UNKNOWN": 7, "REJECTD": 8}

// answered records that the node has answered a receipt.
func (c *smsc) answered(r *report, ok bool) {
	c.w.note("smsc: %s is answered, taken %t", r, ok)
	if ok {
		c.receiptsTaken++
	}
	if ok && !r.twice {
		r.taken = true
		c.unsent--
		return
	}
	r.twice = r.twice && !ok
	c.again(r)
}

func (c *smsc) again(r *report) {
	c.w.after(c.w.between(50*time.Millisecond, 3*time.Second), func() { c.send(r) })
}

// lost sends the receipts again that a session has had no answer to.
func (p *peer) lost() {
	for _, n := range slices.Sorted(maps.Keys(p.reports)) {
		r := p.reports[n]
		delete(p.reports, n)
		r.smsc.again(r)
	}
}

// identified records that the node has read the answer that has an id, and whether a message has ended by
// it. If not, it is the answer to a copy.
func (o *oracle) identified(s *station, id string, ends bool) {
	for _, one := range s.smsc.accepted {
		if one.id != id {
			continue
		}
		if ends {
			s.smsc.answersRead++
		}
		if one.read = true; !ends {
			o.copies = append(o.copies, copied{one, o.w.now(), o.w.disk.begun})
		}
	}
}

// A copied is a copy of a message that had ended when the answer to the copy came. Nothing but a commit
// says what its id stands for: notes outside the store are found by messages that are in it.
type copied struct {
	*submission
	at    int64
	begun uint64 // how many commits had begun
}

// committed records that a commit with a number is on the disk.
func (o *oracle) committed(commit uint64) {
	o.copies = slices.DeleteFunc(o.copies, func(c copied) bool { return c.begun < commit })
}

// forgotten records that the process was killed: it may have forgotten the copies that no commit has written
// to the disk. If the disk was idle there was time for a commit, but of the latest ones.
func (o *oracle) forgotten(idle bool) {
	for _, c := range o.copies {
		if !idle || o.w.now()-c.at < int64(2*time.Second) {
			c.doubtful = true
		}
	}
	o.copies = nil
}

// hasSession reports whether the node has a session with the SMSC.
func (c *smsc) hasSession() bool {
	return slices.ContainsFunc(c.stations, func(s *station) bool { return len(s.peers) > 0 })
}
