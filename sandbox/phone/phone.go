// Package phone shows the texts of a sandbox's mobiles, and sends their replies.
//
// # Start reading
//
// Phones (the conversations), then Handler (the page).
package phone

import (
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/sandbox"
	phonenumber "pmg/sms/number"
)

// Limits of the stored texts.
const (
	mostNumbers = 100
	mostTexts   = 200 // texts of a number
)

// A Line is a text of a conversation.
type Line struct {
	Mine    bool   // the mobile has sent the text
	Client  string // account of the other side
	Other   string // the other side: sender or recipient
	At      time.Time
	Fate    string
	Arrives bool

	id    uint64
	parts []string
}

// Text returns the text, without parts that are missing.
func (l *Line) Text() string { return strings.Join(l.parts, "") }

// Phones are the conversations of mobiles. It is safe for concurrent use.
type Phones struct {
	mu      sync.Mutex
	numbers []string // numbers, the one with the latest text first
	lines   map[string][]*Line
}

// New returns phones that show nothing.
func New() *Phones { return &Phones{lines: map[string][]*Line{}} }

// Show adds a text, or a part of one, between a client and a mobile.
func (p *Phones) Show(client string, t sandbox.Text) {
	if t.Mine {
		p.reply(client, t.From, t.To, t.Text, "")
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	parts, part := max(int(t.Parts), 1), int(t.Part)
	for _, l := range p.lines[numberOf(t.To)] {
		if !l.Mine && l.id == t.ID && part < len(l.parts) {
			l.parts[part] = t.Text
			return
		}
	}
	l := &Line{
		Client: client, Other: t.From, At: time.Unix(0, t.At), Fate: t.Fate, Arrives: t.Arrives, id: t.ID,
		parts: make([]string, max(parts, part+1)),
	}
	l.parts[part] = t.Text
	p.add(t.To, l)
}

// reply adds a text that a mobile has sent.
func (p *Phones) reply(client, number, to, text, fate string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(number, &Line{
		Mine: true, Client: client, Other: to, At: time.Now(), Fate: fate, Arrives: fate == "", parts: []string{text},
	})
}

// add adds a line. The caller holds the lock.
func (p *Phones) add(number string, l *Line) {
	number = numberOf(number)
	lines := append(p.lines[number], l)
	p.lines[number] = lines[max(0, len(lines)-mostTexts):]
	if i := slices.Index(p.numbers, number); i >= 0 {
		p.numbers = slices.Delete(p.numbers, i, i+1)
	}
	p.numbers = slices.Insert(p.numbers, 0, number)
	if len(p.numbers) > mostNumbers {
		delete(p.lines, p.numbers[mostNumbers])
		p.numbers = p.numbers[:mostNumbers]
	}
}

// numberOf returns a number in the form of the keys of lines.
func numberOf(text string) string { return phonenumber.Read(text).String() }

// Numbers returns the mobiles, the one with the latest text first.
func (p *Phones) Numbers() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.numbers)
}

// Lines returns the conversation of a mobile.
func (p *Phones) Lines(number string) (all []Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines[numberOf(number)] {
		one := *l
		one.parts = slices.Clone(l.parts)
		all = append(all, one)
	}
	return all
}
