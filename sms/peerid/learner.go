package peerid

import "bytes"

// Pairs that say the same before a Learner believes them, and receipts in a row that
// belong to no message before it doubts.
const (
	enough = 8
	doubts = 64
)

// A Learner learns from traffic how a peer writes ids in receipts. The zero Learner has
// learned nothing. It is not safe for concurrent use.
//
// It matters because a wrong relation can find a wrong message: the decimal 100 is another
// message's hexadecimal 64. Once the Learner is sure, only one relation is looked up.
type Learner struct {
	votes  [relations]uint8 // pairs in a row that only this relation explains
	sure   bool
	fixed  bool
	is     Relation
	misses uint8
}

// Fixed returns a Learner that has been told the relation and learns nothing.
func Fixed(r Relation) Learner { return Learner{fixed: true, sure: true, is: r} }

// Known returns the relation, and whether the Learner is sure of it.
func (l *Learner) Known() (Relation, bool) { return l.is, l.sure }

// orders are the relations to look up, by the one that is the likeliest.
var orders = [relations][]Relation{
	{Same, ToDecimal, ToHex},
	{ToDecimal, Same, ToHex},
	{ToHex, Same, ToDecimal},
}

// Relations returns the relations to look a receipt's id up by, the likeliest one first.
// They must not be changed.
func (l *Learner) Relations() []Relation {
	if l.sure {
		return orders[l.is][:1]
	}
	return orders[l.is]
}

// Matched tells the Learner that an answer and a receipt belong together, as the ids, the
// addresses or the receipt's optional parameters show.
func (l *Learner) Matched(answer, receipt []byte) {
	if l.fixed {
		return
	}
	l.misses = 0
	var found Relation
	count := 0
	for r := range relations {
		if related(answer, receipt, r) {
			found = r
			count++
		}
	}
	if count != 1 { // a number of one digit is the same in decimal
		return
	}
	for r := range relations {
		if r != found {
			l.votes[r] = 0
		}
	}
	if l.votes[found] < enough {
		l.votes[found]++
	}
	certain := l.votes[found] == enough
	if certain || !l.sure {
		l.is = found
	}
	l.sure = l.sure || certain
}

// Missed tells the Learner that no message was found for a receipt. After many in a row
// it looks again at every relation, because the peer may have changed.
func (l *Learner) Missed() {
	if l.fixed {
		return
	}
	if l.misses++; l.misses >= doubts {
		l.sure, l.misses, l.votes = false, 0, [relations]uint8{}
	}
}

// related reports whether a receipt's id has that relation to an answer's.
func related(answer, receipt []byte, r Relation) bool {
	var a, b [MaxLen]byte
	x, ok := AppendKey(a[:0], answer, Same)
	y, found := AppendKey(b[:0], receipt, r)
	return ok && found && bytes.Equal(x, y)
}
