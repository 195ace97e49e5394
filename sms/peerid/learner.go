package peerid

// A Learner finds out how a peer writes ids in receipts. It uses only the ids in answers and the ids in
// receipts. It ignores which ids were matched as a pair, because the match was made by the Learner's own guess, which
// would then confirm itself.
// The zero Learner knows nothing. It is not safe for concurrent use.
//
// It matters because a wrong relation finds a wrong message: the decimal 100 is another message's
// hexadecimal 64. Where SMSCs count, each number is some message's in both forms. So what counts is
//
//   - a receipt with letters whose id is an answer's as it stands: the forms are the same,
//   - many answers and many receipts without any letter: both are decimal,
//   - answers with letters, and many receipts without any: receipts are decimal,
//   - many answers without any letter, and many receipts with letters, which are more than here and
//     there one: receipts are hexadecimal.
//
// One receipt with a letter ends what was concluded from there being none. A receipt whose id is longer
// than an answer's could be in any form is about no message of ours, and says nothing.
type Learner struct {
	answers, receipts side
	proved            bool // an id with letters came in an answer and in a receipt
	fixed             bool
	is                Relation // relation, if fixed
}

// A side is the knowledge about the ids in answers, or in receipts.
type side struct {
	letters uint8 // ids with hexadecimal letters, up to several
	digits  uint8 // ids without letters since the last one with letters, up to changed
	weight  uint8 // weight of the ids without letters
	dense   uint8 // ids with letters, up to certain, with at most certain ids without letters between two of them
	longest uint8 // digits of the longest id
	others  bool  // some ids are not numbers
	any     bool
	last    uint64 // latest id, if any
}

const (
	// certain is the weight of ids without letters after which the form is certain. Of consecutive hexadecimal numbers at most
	// ten have no letters.
	certain = 16
	// weightOfLong is the weight of an id of longID digits, which rarely has no letter by chance. A wrong reading of such an id
	// is rarely another message's id.
	weightOfLong = 4
	longID       = 8
	// several is the number of ids with letters after which the forms may differ.
	several = 4
	// changed is the number of consecutive ids without letters after which earlier ids with letters are forgotten
	changed = 64
)

// Fixed returns a Learner with a given relation, which learns nothing.
func Fixed(r Relation) Learner { return Learner{fixed: true, is: r} }

// Known returns the relation. sure reports whether the relation is certain.
func (l *Learner) Known() (r Relation, sure bool) {
	a, b := &l.answers, &l.receipts
	switch {
	case l.fixed:
		return l.is, true
	case l.proved, a.hasNone() && b.hasNone():
		return Same, true
	case a.letters >= several && b.hasNone():
		return ToDecimal, true
	case a.hasNone() && b.dense >= certain:
		return ToHex, true
	}
	return Same, false
}

// IsFixed reports whether the relation was given.
func (l *Learner) IsFixed() bool { return l.fixed }

// HasNoNumbers reports whether ids have come in answers, none of which is a number: such ids are compared unchanged.
func (l *Learner) HasNoNumbers() bool {
	return l.answers.others && l.answers.letters == 0 && l.answers.digits == 0 && l.receipts.letters == 0 &&
		l.receipts.digits == 0
}

// A Stage is a summary of a Learner's knowledge. It changes rarely, so that a Learner can be stored at each change.
type Stage struct {
	answers, receipts      [2]uint8 // ids with letters; without any, the weight of ids without letters
	dense, longest, others uint8
	proved                 bool
}

// Stage returns the stage of the Learner's knowledge.
func (l *Learner) Stage() Stage {
	return Stage{
		answers: l.answers.stage(), receipts: l.receipts.stage(), dense: l.receipts.dense / 4, longest: l.answers.longest,
		others: octet(l.answers.others), proved: l.proved,
	}
}

func (s *side) stage() [2]uint8 {
	if s.letters > 0 { // ids without letters do not count any more
		return [2]uint8{s.letters, 0}
	}
	return [2]uint8{0, s.weight / 4}
}

func octet(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Answered adds an id in an answer.
func (l *Learner) Answered(id []byte) {
	if !l.fixed && l.answers.add(id, &l.receipts, 0) {
		l.proved = false
	}
}

// Received adds an id in a receipt.
func (l *Learner) Received(id []byte) {
	if !l.fixed && l.receipts.add(id, &l.answers, l.answers.longest) {
		l.proved = false
	}
}

// Proves records that the id of a receipt equals that of an answer, which the receipt may be about.
func (l *Learner) Proves(id []byte) {
	_, digits, letters, ok := scan(trimmed(id))
	switch {
	case !ok || l.fixed:
	case letters:
		l.proved = true
	case digits >= longID: // not by chance: earlier ids with letters did not have this peer's form
		l.receipts.dense = 0
	}
}

// IsAmbiguous reports whether the id of a receipt may be read in more than one way.
func IsAmbiguous(id []byte) bool {
	n, ok := number(trimmed(id), 10)
	return ok && n > 9
}

// Suspects reports whether the forms may differ, as far as is known.
func (l *Learner) Suspects() bool { return l.answers.letters > 0 || l.receipts.letters > 0 }

// Others returns the relations other than Same.
func Others() [2]Relation { return [...]Relation{ToDecimal, ToHex} }

// IsNumber reports whether an id may be a number of up to 64 bits, in hexadecimal or in decimal, which has up to 20 digits.
func IsNumber(id []byte) bool {
	_, hex := number(trimmed(id), 16)
	_, decimal := number(trimmed(id), 10)
	return hex || decimal
}

// add adds an id. It reports whether the ids have changed their form, so that earlier knowledge is dropped.
// If this is the first id with letters, the ids of the other side came too early. With longest, an id is
// ignored if it is longer than any form of an id with that many digits.
func (s *side) add(id []byte, other *side, longest uint8) (forgotten bool) {
	n, digits, letters, ok := scan(trimmed(id))
	s.others = s.others || !ok
	if !ok || s.any && n == s.last || longest > 0 && isLonger(digits, int(longest)) {
		return false
	}
	s.any, s.last, s.longest = true, n, max(s.longest, uint8(digits))
	if letters {
		if s.letters == 0 {
			other.digits, other.weight = 0, 0
		}
		s.letters, s.dense, s.digits, s.weight = min(s.letters+1, several), min(s.dense+1, certain), 0, 0
		return false
	}
	weight := uint8(1)
	if digits >= longID {
		weight = weightOfLong
	}
	s.digits, s.weight = min(s.digits+1, changed), min(s.weight+weight, certain)
	if s.digits > certain {
		s.dense = 0
	}
	if s.digits < changed || s.letters == 0 {
		return false
	}
	s.letters, s.longest = 0, uint8(digits)
	return true
}

// isLonger reports whether an id with so many digits is longer than any form of an id with others digits: six decimal
// digits are five hexadecimal digits. The next id may have one digit more.
func isLonger(digits, others int) bool { return 5*digits > 6*(others+1) }

// scan reads an id as a hexadecimal number, and returns how many digits it has without leading zeros, and
// whether some are letters. It reports false if the id is no number of up to 64 bits in one letter case.
func scan(id []byte) (n uint64, digits int, letters, ok bool) {
	var small, capital bool
	for _, c := range id {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			small = true
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			capital = true
			c -= 'A' - 10
		default:
			return 0, 0, false, false
		}
		n = n<<4 | uint64(c)
		if n != 0 || digits > 0 {
			digits++
		}
	}
	return n, digits, small ||
		capital, len(id) > 0 && len(id) <= MaxLen && digits <= most(small || capital) && !(small && capital)
}

// hasNone reports whether many ids have come, none of them with letters.
func (s *side) hasNone() bool { return s.letters == 0 && s.weight >= certain }

// stateLen is the number of octets that Append appends. Earlier versions appended one or two octets less.
const stateLen = 11

// Append appends what the Learner knows, for Read.
func (l *Learner) Append(b []byte) []byte {
	return append(
		b, 1, l.answers.letters, l.answers.digits, l.answers.weight, l.receipts.letters, l.receipts.digits,
		l.receipts.weight, octet(l.proved), l.receipts.dense, l.answers.longest, octet(l.answers.others),
	)
}

// Read returns a Learner with the knowledge that another Learner has appended. It reports false for invalid octets.
func Read(b []byte) (l Learner, ok bool) {
	if len(b) > stateLen || len(b) < stateLen-2 || b[0] != 1 {
		return l, false
	}
	l.answers = side{letters: b[1], digits: b[2], weight: b[3]}
	l.receipts = side{letters: b[4], digits: b[5], weight: b[6]}
	l.proved, l.receipts.dense = b[7] == 1, b[8]
	if len(b) >= stateLen-1 {
		l.answers.longest = b[9]
	}
	l.answers.others = len(b) == stateLen && b[10] == 1
	return l, true
}

// most returns the maximum number of digits in a number of 64 bits, in hexadecimal or decimal.
func most(letters bool) int {
	if letters {
		return 16
	}
	return 20
}
