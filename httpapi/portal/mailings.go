package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pmg/connector"
	"pmg/gateway/request"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// Limits of mailings.
const (
	mostMailings = 5  // mailings of an account that are remembered
	mostRunning  = 10 // mailings of all accounts that are remembered and not ended
	mostKept     = 2000
	mailingTime  = 24 * time.Hour
	rowTime      = 10 * time.Minute // for which a row is tried
	waitTime     = time.Hour        // for which a mailing that was looked at keeps its place, if others need it
	mostSamples  = 5
)

// The states of a mailing.
const (
	checking  = "checking"
	checked   = "checked"
	beingSent = "sending"
	ended     = "ended"
	stopped   = "stopped"
)

// mailings are the mailings of accounts. They are forgotten when the gateway stops.
type mailings struct {
	mu sync.Mutex
	of map[string]*mailing // by account and id
}

// A mailing is a text for many recipients. It is the same one when the same file comes again with the same text, at any time:
// each row has a key, so that it is sent once.
type mailing struct {
	ID         string
	account    string
	from, text string
	at         time.Time  // the messages do not leave before; zero: they leave when they are sent
	recipients recipients // of the goroutine that checks or sends; without one, guarded by mu
	made       time.Time

	mu       sync.Mutex
	progress // guarded by mu
	stop     context.CancelFunc
}

// progress is how far a mailing has come.
type progress struct {
	State    string
	Rows     int
	Accepted int
	Refused  faults
	LeftOut  faults // rows whose recipients get no messages, as they have opted out; the others are sent
	Parts    int
	Price    sms.Money
	Currency string
	Samples  []sending
}

// Done returns how many rows were looked at in this state.
func (p progress) Done() int { return p.Accepted + p.Refused.Rows + p.LeftOut.Rows }

// Faults are rows that are not sent.
type faults struct {
	Rows  int
	First []fault
}

func (f *faults) add(one fault) {
	f.Rows++
	if len(f.First) < mostFaults {
		f.First = append(f.First, one)
	}
}

// A fault is what is wrong with a row of the file.
type fault struct {
	line    int
	problem *own.Problem
}

// sameNumber is the detail of a problem of a row with the number of another one, which follows.
const sameNumber = "the number is that of line "

// text writes the fault for a user.
func (f fault) text(v *visit) string {
	p := *f.problem
	if line, ok := strings.CutPrefix(p.Detail, sameNumber); ok {
		p.Detail = v.T("the number is that of line %s", line)
	}
	return v.T("Line %s: %s", f.line, strings.ReplaceAll(v.textOf(&p), "\n", " "))
}

// Runs reports whether the mailing goes on by itself.
func (p progress) Runs() bool { return p.State == checking || p.State == beingSent }

func (p progress) isOver() bool { return p.State == ended || p.State == stopped }

// newMailing returns a mailing to be checked.
func newMailing(account, from, text string, at time.Time, file []byte, r recipients) *mailing {
	h := sha256.New()
	for _, one := range []string{account, from, text, string(file)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(one), one) // never fails
	}
	m := &mailing{
		ID: hex.EncodeToString(h.Sum(nil)[:16]), account: account, from: from, text: text, at: at, recipients: r,
		made: time.Now(), progress: progress{State: checking, Rows: len(r.rows)}, stop: func() {},
	}
	for i := range min(mostSamples, len(r.rows)) {
		m.Samples = append(m.Samples, r.message(i, from, text))
	}
	return m
}

// shown returns how far the mailing has come.
func (m *mailing) shown() progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.progress
	p.Samples = slices.Clone(p.Samples)
	p.Refused.First, p.LeftOut.First = slices.Clone(p.Refused.First), slices.Clone(p.LeftOut.First)
	return p
}

// enter changes the state, if it is another one, and reports whether it was.
func (m *mailing) enter(from, to string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.State != from {
		return false
	}
	m.State = to
	return true
}

// became counts the outcome of a row.
func (m *mailing) became(line int, p *own.Problem) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case p == nil:
		m.Accepted++
	case getsNone(p):
		m.LeftOut.add(fault{line, p})
	default:
		m.Refused.add(fault{line, p})
	}
}

// getsNone reports whether a problem is that the recipient gets no messages.
func getsNone(p *own.Problem) bool { return p.Is("opted-out") || p.Is("blocked") }

// add adds a mailing, or returns the one that is the same, unless that was stopped, or has ended without all rows. ok is false if
// another one of the account, or too many of others, have not ended.
func (s *mailings) add(m *mailing) (same *mailing, isNew, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.of[m.key()]; one != nil {
		switch p := one.shown(); {
		case !p.isOver() && !one.at.Equal(m.at):
			return nil, false, false
		case p.State != stopped && (p.State != ended || p.Refused.Rows == 0):
			return one, false, true
		}
	}
	var mine []*mailing
	running := 0
	var waits *mailing // the one that has waited longest for its user
	for key, one := range s.of {
		p := one.shown()
		switch {
		case (time.Since(one.made) > mailingTime || len(s.of) >= mostKept && p.isOver()) && !p.Runs():
			delete(s.of, key)
		case one.account == m.account && !p.isOver():
			return nil, false, false
		case !p.isOver():
			if running++; !p.Runs() && (waits == nil || one.made.Before(waits.made)) {
				waits = one
			}
		case one.account == m.account:
			mine = append(mine, one)
		}
	}
	switch {
	case running < mostRunning:
	case waits != nil && time.Since(waits.made) > waitTime:
		waits.end()
	default:
		return nil, false, false
	}
	slices.SortFunc(mine, func(a, b *mailing) int { return a.made.Compare(b.made) })
	for len(mine) >= mostMailings {
		delete(s.of, mine[0].key())
		mine = mine[1:]
	}
	s.of[m.key()] = m
	return m, true, true
}

// key is the name of the mailing among those of all accounts.
func (m *mailing) key() string { return m.account + "\x00" + m.ID }

// find returns a mailing of an account, nil if it has none of this id.
func (s *mailings) find(account, id string) *mailing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[account+"\x00"+id]
}

// all returns the mailings of an account, the latest first.
func (s *mailings) all(account string) (rows []*mailing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range maps.Values(s.of) {
		if one.account == account {
			rows = append(rows, one)
		}
	}
	slices.SortFunc(rows, func(a, b *mailing) int { return b.made.Compare(a.made) })
	return rows
}

// A mailingPost sends the messages of a mailing.
type mailingPost struct {
	messages Messages
	reader   *own.Reader
	from     *connector.Source
	now      func() time.Time
	may      func() bool // whether the user may still send
	ctx      context.Context
}

// begun returns what carries the mailing on, until it ends or is stopped.
func (m *mailing) begun(by *mailingPost, do func(*mailingPost)) func(context.Context) {
	return func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		m.mu.Lock()
		m.stop = stop
		m.mu.Unlock()
		by.ctx = ctx
		do(by)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.isOver() {
			m.recipients = recipients{}
		}
	}
}

// end stops the mailing.
func (m *mailing) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.State == checked { // nothing reads them
		m.recipients = recipients{}
	}
	if !m.isOver() {
		m.State = stopped
	}
	m.stop()
}

// maySend reports whether no row has a fault, and one is left to be sent.
func (m *mailing) maySend() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Refused.Rows == 0 && m.Accepted > 0
}

// goesOn reports whether the mailing goes on with its next row. It stops one whose user may not send any more.
func (m *mailing) goesOn(state string, by *mailingPost) bool {
	may := by.ctx.Err() == nil && by.may()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.State == state && !may {
		m.State = stopped
	}
	return m.State == state
}

// readAt returns the time at which a message counts as read. It is at most the mailing's, so that those whose turn comes later
// leave immediately, and are not refused as being late.
func (m *mailing) readAt(now time.Time) time.Time {
	if !m.at.IsZero() && now.After(m.at) {
		return m.at
	}
	return now
}

// lateTime is how long after the time of a mailing its user may still send it.
const lateTime = 5 * time.Minute

// isLate reports whether the time of the mailing has passed, so that its user may not mean it any more.
func (m *mailing) isLate(now time.Time) bool { return !m.at.IsZero() && now.Sub(m.at) > lateTime }

// check finds what each message becomes and costs. It waits for the account's rate.
func (m *mailing) check(by *mailingPost) {
	again := m.recipients.repeated()
	if m.each(checking, by, func(i int, read *own.Message, _ []byte) (request.Result, *own.Problem) {
		if line, ok := again[i]; ok {
			return request.Result{}, own.NewProblem("invalid-message", sameNumber+strconv.Itoa(line))
		}
		r, _, p := by.messages.PreviewFrom(by.ctx, by.from, read)
		if p == nil {
			m.mu.Lock()
			m.Parts, m.Price, m.Currency = m.Parts+r.Parts, m.Price+r.Quote.Price, r.Quote.Currency
			m.mu.Unlock()
		}
		return r, p
	}) {
		m.enter(checking, checked)
	}
}

// send sends the messages. A row that was sent before, with the same key, is not sent again.
func (m *mailing) send(by *mailingPost) {
	m.mu.Lock()
	m.Accepted, m.Refused, m.LeftOut = 0, faults{}, faults{}
	m.mu.Unlock()
	if m.each(beingSent, by, func(i int, read *own.Message, body []byte) (request.Result, *own.Problem) {
		return by.messages.SubmitFrom(by.ctx, by.from, read, fmt.Sprintf("m%s-%d", m.ID, i), body)
	}) {
		m.enter(beingSent, ended)
	}
}

// each does something with each row, and counts what became of it. What the gateway cannot do for now is done again. each reports
// false if the mailing does not go on.
func (m *mailing) each(
	state string, by *mailingPost, do func(i int, read *own.Message, body []byte) (request.Result, *own.Problem),
) bool {
	for i := range m.recipients.rows {
		one, until := m.recipients.message(i, m.from, m.text), by.now().Add(rowTime)
		body := one.body() // what the key of the row stands for, whatever the time
		one.SendAt = m.at
		for again := true; again; {
			if !m.goesOn(state, by) {
				return false
			}
			var r request.Result
			read, p := one.read(by.reader, m.readAt(by.now()))
			if p == nil {
				r, p = do(i, read, body)
			}
			if again = passes(r.Step, p) && by.now().Before(until); again {
				by.wait(p.RetryAfter)
			} else {
				m.became(m.recipients.rows[i].Number, p)
			}
		}
	}
	return true
}

// passes reports whether a problem passes by itself: a rate that others use up, or a queue that is full. A limit of flood may
// last for days.
func passes(step string, p *own.Problem) bool {
	return p != nil && p.RetryAfter > 0 && p.Status != http.StatusPaymentRequired && step != "flood"
}

// wait waits for some seconds, or until the mailing is stopped.
func (by *mailingPost) wait(seconds int) {
	t := time.NewTimer(time.Duration(seconds) * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-by.ctx.Done():
	}
}
