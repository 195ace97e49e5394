package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"sync"
	"time"

	"pmg/config"
	"pmg/gateway/node"
	"pmg/internal/token"
)

// Limits of the queue.
const (
	mostWaiting = 1000 // letters of all accounts
	mostOf      = 100  // letters of one account
	mostSending = 4    // attempts at the same time
)

// pauses returns the pauses after which a letter is sent again that the server did not take for now: nearly a day together.
func pauses() []time.Duration {
	return []time.Duration{
		time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
}

// A Letter is a mail to one recipient.
type Letter struct {
	Kind    string // what it is about, for the log
	Account string // account whose share of the queue it takes
	To      string
	Subject string
	Text    string

	Still func() bool // reports before each attempt whether it is still to be sent; nil: always
}

// A Sender sends letters, and tries those again that the server does not take for now. Letters wait in memory: those that are
// waiting when the gateway stops are lost. It is safe for concurrent use.
type Sender struct {
	node   *node.Node
	roots  *x509.CertPool  // authorities of the server's certificate, set before Run; nil: the machine's
	pauses []time.Duration // set before Run
	limit  time.Duration   // of an attempt, from the connection to the last answer; set before Run
	wake   chan struct{}   // has an element when a letter may be due

	mu      sync.Mutex
	waiting []*waiting
	of      map[string]int // waiting letters, and those being sent, by account
	figures Figures
}

// Figures count the mails since the start of the gateway.
type Figures struct {
	Waiting int64 `metric:"waiting" help:"Mails that wait to be sent, for the first time or again."`
	Sent    int64 `metric:"sent_total" help:"Mails that the server of the section mail has taken."`
	Retried int64 `metric:"retried_total" help:"Attempts to send a mail that failed for now; the mail waits for the next one."`
	Lost    int64 `metric:"lost_total" help:"Mails that were given up: the server has refused them, or did not take them for a day, or there was no room in the queue."`
}

// waiting is a letter in the queue.
type waiting struct {
	Letter
	id       string // identifies the mail for its recipient, the same in each attempt
	attempts int
	due      time.Time
}

// New makes the sender of a gateway.
func New(n *node.Node) *Sender {
	return &Sender{node: n, pauses: pauses(), limit: attemptTime, wake: make(chan struct{}, 1), of: map[string]int{}}
}

// Figures returns the counts. A nil Sender has sent nothing.
func (s *Sender) Figures() Figures {
	if s == nil {
		return Figures{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.figures
	f.Waiting = int64(len(s.waiting))
	return f
}

// IsOn reports whether mail is configured. A nil Sender sends none.
func (s *Sender) IsOn() bool { return s != nil && s.node.Config().Mail.IsSet() }

// Add queues a letter. It reports false if there is no room, or no mail is sent.
func (s *Sender) Add(l Letter) bool {
	if !s.IsOn() || !config.IsMailAddress(l.To) {
		return false
	}
	s.mu.Lock()
	hasRoom := len(s.waiting) < mostWaiting && s.of[l.Account] < mostOf
	if hasRoom {
		s.of[l.Account]++
		s.waiting = append(s.waiting, &waiting{Letter: l, id: token.New(), due: time.Now()})
	} else {
		s.figures.Lost++
	}
	s.mu.Unlock()
	if hasRoom {
		s.signal()
	} else if s.node.Repeats.First("no room for mail: " + l.Account) {
		s.node.Log.Warn().Str("account", l.Account).Str("kind", l.Kind).Msg("a mail is lost: too many wait already")
	}
	return hasRoom
}

// signal wakes a goroutine that looks for a letter that is due.
func (s *Sender) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends letters until ctx ends.
func (s *Sender) Run(ctx context.Context) {
	var all sync.WaitGroup
	for range mostSending {
		all.Go(func() { s.work(ctx) })
	}
	all.Wait()
}

// work sends one letter after the other.
func (s *Sender) work(ctx context.Context) {
	for ctx.Err() == nil {
		l, pause := s.take(time.Now())
		if l != nil {
			s.send(ctx, l)
			continue
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-wait.C:
		}
		wait.Stop()
	}
}

// longestPause is the time after which the queue is looked at in any case.
const longestPause = time.Hour

// take removes and returns the letter that has been due for longest. If none is due it returns the time until one is.
func (s *Sender) take(now time.Time) (l *waiting, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := -1
	for i, one := range s.waiting {
		if first < 0 || one.due.Before(s.waiting[first].due) {
			first = i
		}
	}
	if first < 0 {
		return nil, longestPause
	}
	if l = s.waiting[first]; l.due.After(now) {
		return nil, min(l.due.Sub(now), longestPause)
	}
	s.waiting = append(s.waiting[:first], s.waiting[first+1:]...)
	s.signal() // another goroutine looks for the next one
	return l, 0
}

// send makes an attempt, after which the letter has left, waits again, or is lost.
func (s *Sender) send(ctx context.Context, l *waiting) {
	cfg := s.node.Config().Mail
	if !cfg.IsSet() || l.Still != nil && !l.Still() {
		s.end(l, func(*Figures) {}) // nobody needs it any more
		return
	}
	err := s.attempt(ctx, &cfg, &l.Letter, l.id)
	if ctx.Err() != nil {
		return // the gateway stops
	}
	var f *failure
	errors.As(err, &f)
	about := func(text string) {
		e := s.node.Log.Info()
		if f != nil {
			e = s.node.Log.Warn().Str("step", f.step).Int("status", f.code())
		}
		_, domain, _ := strings.Cut(l.To, "@")
		e.Str("account", l.Account).Str("kind", l.Kind).Str("domain", domain).Msg(text)
	}
	switch {
	case f == nil:
		s.end(l, func(f *Figures) { f.Sent++ })
		about("a mail was sent")
	case f.isPermanent() || l.attempts >= len(s.pauses):
		s.end(l, func(f *Figures) { f.Lost++ })
		about("a mail is lost: the server of the section mail does not take it; pmg mail test shows what it answers")
	default:
		if s.again(l); s.node.Repeats.First("mail: " + f.step) {
			about("a mail cannot be sent now; it is sent again after a pause")
		}
	}
}

// end counts a letter that has left the queue.
func (s *Sender) end(l *waiting, count func(*Figures)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[l.Account]--; s.of[l.Account] <= 0 {
		delete(s.of, l.Account)
	}
	count(&s.figures)
}

// again queues a letter for its next attempt. It has kept its place in the share of its account.
func (s *Sender) again(l *waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.due = time.Now().Add(s.pauses[l.attempts])
	l.attempts++
	s.waiting = append(s.waiting, l)
	s.figures.Retried++
}

// Test sends a mail to an address now, and returns what went wrong, with the words of the server.
func (s *Sender) Test(ctx context.Context, to string) error {
	if !s.IsOn() {
		return errors.New("cannot send a mail: the configuration has no section mail with a server")
	}
	if !config.IsMailAddress(to) {
		return errors.New("cannot send a mail: the address must be one such as ann@example.net")
	}
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	cfg := s.node.Config().Mail
	return s.attempt(ctx, &cfg, &Letter{
		To: to, Subject: "Test of PMG", Text: "This mail shows that the gateway can send mail by " + cfg.Server + ".\n",
	}, token.New())
}
