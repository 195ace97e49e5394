// Package answers caches a plugin's answers about numbers, so that the plugin is asked only once about each number for a while.
//
// # Start reading
//
// Answers.
package answers

import (
	"sync"
	"sync/atomic"
	"time"

	"pmg/sms"
)

// An Answer is the known facts about a number.
type Answer struct {
	Network sms.Network // 0: the network in the table
	Code    sms.Code    // code with which messages to the number are refused; sms.OK: they are not refused
	Why     string
	Held    bool          // messages to the number wait for an operator's decision
	Keep    time.Duration // time for which the answer is cached; 0: the usual time
	Failure error         // the plugin has not answered; the other fields are the fallback, which is not cached
}

// A timed answer is valid until a time of the caller's clock.
type timed struct {
	until int64
	Answer
}

// A question is a question that is running; callers with the same question wait for its answer.
type question struct {
	done   chan struct{}
	answer Answer
}

// Answers are the answers of one plugin. They are safe for concurrent use. There are two halves. When the new
// half is full, the old half is dropped, so that answers in frequent use stay.
type Answers struct {
	longest time.Duration
	half    int

	mu     sync.Mutex
	newer  map[uint64]timed // newer answers, at most half of the entries
	older  map[uint64]timed // older answers, at most as many
	asking map[uint64]*question

	known, asked atomic.Int64
}

// New returns an empty cache of at most most answers, each for at most longest.
func New(most int, longest time.Duration) *Answers {
	return &Answers{
		longest: longest, half: max(most/2, 1),
		newer: map[uint64]timed{}, older: map[uint64]timed{}, asking: map[uint64]*question{},
	}
}

// Limits of numbers, in digits.
const (
	leastDigits = 7
	mostDigits  = 15
)

// KeyOf returns the key of an international number. It reports false if digits are no such number.
func KeyOf(digits []byte) (key uint64, ok bool) {
	if len(digits) < leastDigits || len(digits) > mostDigits {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		key = 10*key + uint64(c-'0')
	}
	return key, digits[0] != '0'
}

// Known returns the cached answer about a number.
func (a *Answers) Known(key uint64, now int64) (Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.newer[key]
	if !ok {
		if k, ok = a.older[key]; ok && now < k.until {
			a.add(key, k)
		}
	}
	if !ok || now >= k.until {
		return Answer{}, false
	}
	a.known.Add(1)
	return k.Answer, true
}

// add keeps an answer. The caller holds the lock.
func (a *Answers) add(key uint64, k timed) {
	if len(a.newer) >= a.half {
		a.older, a.newer = a.newer, make(map[uint64]timed, a.half)
	}
	a.newer[key] = k
}

// Ask returns the answer about a number. It asks the question, unless another caller is already asking.
func (a *Answers) Ask(key uint64, now int64, ask func() Answer) Answer {
	a.mu.Lock()
	q := a.asking[key]
	if q != nil {
		a.mu.Unlock()
		<-q.done
		return q.answer
	}
	q = &question{done: make(chan struct{})}
	a.asking[key] = q
	a.mu.Unlock()
	a.asked.Add(1)
	q.answer = ask()
	a.mu.Lock()
	delete(a.asking, key)
	if q.answer.Failure == nil {
		keep := a.longest
		if q.answer.Keep > 0 {
			keep = min(keep, q.answer.Keep)
		}
		a.add(key, timed{now + int64(keep), q.answer})
	}
	a.mu.Unlock()
	close(q.done)
	return q.answer
}

// Figures count events since the start.
type Figures struct {
	Known, Asked int64
	Kept         int
}

// Add adds other figures.
func (f *Figures) Add(of Figures) {
	f.Known += of.Known
	f.Asked += of.Asked
	f.Kept += of.Kept
}

// Figures returns the figures. An answer that is in both halves counts twice.
func (a *Answers) Figures() Figures {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Figures{a.known.Load(), a.asked.Load(), len(a.newer) + len(a.older)}
}
