package loadtest

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Every message carries its number at the start of its text: "#000000000042 ".
const (
	numberDigits = 12
	numberLength = 1 + numberDigits + 1
	maxNumber    = 999_999_999_999
)

// destinationDigits is how many digits of a message's number are appended to its
// destination.
const destinationDigits = 7

// putDigits writes the number, right-aligned with leading zeros, over all of b.
func putDigits(b []byte, number int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + number%10)
		number /= 10
	}
}

// ParseNumber reads the number at the start of a text.
func ParseNumber(text []byte) (int64, bool) {
	if len(text) < 1+numberDigits || text[0] != '#' {
		return 0, false
	}
	var n int64
	for _, d := range text[1 : 1+numberDigits] {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, true
}

// A chunk is 65536 consecutive numbers, one bit each.
type chunk [1024]uint64

const chunkNumbers = 1024 * 64

// Numbers is the set of message numbers that were seen, and a count of those that were
// seen again. Connections mark a batch at a time, so one lock is enough. The zero value is
// empty, and several goroutines may use one.
type Numbers struct {
	unique  atomic.Int64 // written with mu held
	doubled atomic.Int64

	mu              sync.Mutex
	chunks          map[int64]*chunk
	lowest, highest int64 // valid if unique is not 0
}

// Mark adds the batch.
func (n *Numbers) Mark(batch []int64) {
	if len(batch) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var c *chunk
	at := int64(-1)
	for _, number := range batch {
		if number/chunkNumbers != at {
			at = number / chunkNumbers
			c = n.chunk(at)
		}
		word, bit := &c[number%chunkNumbers/64], uint64(1)<<(number%64)
		if *word&bit != 0 {
			n.doubled.Add(1)
			continue
		}
		*word |= bit
		if n.unique.Load() == 0 || number < n.lowest {
			n.lowest = number
		}
		n.highest = max(n.highest, number)
		n.unique.Add(1)
	}
}

func (n *Numbers) chunk(at int64) *chunk {
	c := n.chunks[at]
	if c == nil {
		if n.chunks == nil {
			n.chunks = map[int64]*chunk{}
		}
		c = new(chunk)
		n.chunks[at] = c
	}
	return c
}

// Unique returns how many numbers were seen.
func (n *Numbers) Unique() int64 { return n.unique.Load() }

// Doubled returns how often one was seen that had been seen before.
func (n *Numbers) Doubled() int64 { return n.doubled.Load() }

// Gaps counts the numbers that are absent between the lowest and the highest.
func (n *Numbers) Gaps() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	unique := n.unique.Load()
	if unique == 0 {
		return 0
	}
	return n.highest - n.lowest + 1 - unique
}

// notIn counts the numbers of n that are absent from other.
func (n *Numbers) notIn(other *Numbers) int64 {
	if n == other {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	var absent int
	for at, c := range n.chunks {
		theirs := other.chunks[at]
		if theirs == nil {
			theirs = new(chunk)
		}
		for i, word := range c {
			absent += bits.OnesCount64(word &^ theirs[i])
		}
	}
	return int64(absent)
}

// A Comparison counts what happened to a load's messages between the load and the sink
// behind the gateway. The JSON names are stable.
type Comparison struct {
	Sent      int64 `json:"sent"`      // messages, however often submitted
	Answered  int64 `json:"answered"`  // sent messages that the gateway has accepted
	Delivered int64 `json:"delivered"` // different messages that reached the sink
	Missing   int64 `json:"missing"`   // accepted by the gateway and not delivered
	Doubled   int64 `json:"doubled"`   // deliveries of a message delivered before
}

// A Received is the result of a sink: the numbers of the messages that have arrived.
type Received interface{ Numbers() *Numbers }

// Compare compares the messages that the gateway accepted with those that the sink has
// received by now, even if s was taken earlier. Call it when no message is under way any
// more (see Sink.Await).
func Compare(l *LoadResult, s Received) Comparison {
	seen := s.Numbers()
	return Comparison{
		Sent:      l.Messages,
		Answered:  l.Accepted,
		Delivered: seen.unique.Load(),
		Missing:   l.accepted.notIn(seen),
		Doubled:   seen.doubled.Load(),
	}
}

// Problems describes missing and doubled messages; nil is a clean run.
func (c Comparison) Problems() []string {
	var p problems
	p.count(c.Missing, "missing")
	p.count(c.Doubled, "doubled")
	return p
}
