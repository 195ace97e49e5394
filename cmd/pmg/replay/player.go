package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"pmg/cmd/pmg/dialogue"
	"pmg/pdulog"
	"pmg/protocols"
)

// Options say where submits are sent, and how fast.
type Options struct {
	Address  dialogue.Address
	Driver   protocols.SessionDriver
	Login    protocols.SessionOptions // role and credentials
	Decoder  *pdulog.Decoder
	Speed    float64 // how many times as fast as they were; 0: as fast as they are answered
	Window   int     // limit of submits without an answer
	Disguise bool    // texts are replaced
}

// tick is how often a session that waits looks at its timers.
const tick = time.Second

// reportEvery is the time between lines of progress.
const reportEvery = 5 * time.Second

// A Player sends submits.
type Player struct {
	ctx      context.Context
	options  *Options
	dialogue *dialogue.Dialogue
	progress io.Writer

	began    time.Time // when the first submit was sent
	first    time.Time // its time in the log
	reported time.Time
	open     map[uint32]time.Time // time of each submit without an answer, by number (goOn)
	left     time.Time            // end of the latest Play: until the next one nobody listens
	masked   []byte               // the PDU of a line with a masked text
	numbered []byte               // the same with the number that it is sent with
	octets   []byte

	sent, accepted, unanswered, hidden int

	refused map[string]int // by status
}

// New connects, and logs in. Progress is written while submits are sent.
func New(ctx context.Context, progress io.Writer, o *Options) (*Player, error) {
	conn, err := o.Address.Dial(ctx, progress)
	if err != nil {
		return nil, err
	}
	p := &Player{ctx: ctx, options: o, progress: progress, open: map[uint32]time.Time{}, refused: map[string]int{}}
	login := o.Login
	login.Taken = func(sequence uint32) bool {
		_, isOpen := p.open[sequence]
		return isOpen
	}
	p.dialogue = dialogue.New(conn, o.Driver, login, o.Address.Timeout)
	if _, err := p.dialogue.Login(); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("login of %s: %w", login.SystemID, err)
	}
	return p, nil
}

// Play sends the submit of a line when it is due.
func (p *Player) Play(e *pdulog.Entry) error {
	now := time.Now()
	p.goOn(now)
	defer func() { p.left = time.Now() }()
	if p.first.IsZero() {
		p.first, p.began, p.reported = e.Time, now, now
	}
	due := now
	if p.options.Speed > 0 {
		due = p.began.Add(time.Duration(float64(e.Time.Sub(p.first)) / p.options.Speed))
	}
	if err := p.wait(func() bool { return !time.Now().Before(due) && len(p.open) < p.options.Window }, due); err != nil {
		return err
	}
	sequence := p.dialogue.Session.NextSequence()
	if p.encode(e, sequence) != nil {
		p.hidden++
		return nil
	}
	if err := p.dialogue.WriteOctets(p.octets); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	p.open[sequence] = time.Now()
	p.sent++
	p.report()
	return nil
}

// goOn leaves the time since the latest Play out of the times to the answers.
func (p *Player) goOn(now time.Time) {
	for sequence, at := range p.open {
		p.open[sequence] = at.Add(now.Sub(p.left))
	}
}

// encode makes the octets of a line's PDU with a number.
func (p *Player) encode(e *pdulog.Entry, sequence uint32) (err error) {
	other := *e
	if p.options.Disguise {
		if p.masked, err = p.options.Decoder.AppendDisguised(p.masked[:0], e); err != nil {
			return err
		}
		other.PDU = p.masked
	}
	p.numbered = pdulog.AppendNumbered(p.numbered[:0], other.PDU, sequence)
	other.PDU = p.numbered
	p.octets, err = p.options.Decoder.AppendOctets(p.octets[:0], &other)
	return err
}

// wait handles what comes until a condition holds, and looks at the condition at a time.
func (p *Player) wait(isDone func() bool, at time.Time) error {
	for {
		p.expire()
		if p.ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if isDone() {
			return nil
		}
		until := time.Now().Add(tick)
		if at.Before(until) && at.After(time.Now()) {
			until = at
		}
		if err := p.receive(until); err != nil {
			return err
		}
	}
}

// receive handles one PDU, or looks at the timers at a time. It finds answers by their numbers itself, because the session
// has not encoded the submits.
func (p *Player) receive(until time.Time) error {
	d := p.dialogue
	a, err := d.Receive(until)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		a, err = d.Session.Tick(time.Now().UnixNano(), d.PDU, true), nil
	} else if err == nil && a.Kind != protocols.Send && d.PDU.IsAnswer() { // with Send it is our own answer
		p.answered(d.PDU)
	}
	switch {
	case p.ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return err
	case a.Kind == protocols.Send:
		return d.Write()
	case a.Kind == protocols.Close || a.Kind == protocols.SendClose:
		return errors.New(a.Reason)
	}
	return nil
}

// answered counts the answer to a submit.
func (p *Player) answered(answer protocols.Header) {
	if _, isOpen := p.open[answer.Sequence()]; !isOpen {
		return // it comes after its time, or answers a keep-alive
	}
	delete(p.open, answer.Sequence())
	if answer.Status() == 0 {
		p.accepted++
	} else {
		p.refused[p.options.Driver.StatusName(answer.Status())]++
	}
}

// expire gives up submits that were not answered in time.
func (p *Player) expire() {
	for sequence, at := range p.open {
		if time.Since(at) > p.options.Address.Timeout {
			delete(p.open, sequence)
			p.unanswered++
		}
	}
}

// report writes the progress, if the last report is some time ago.
func (p *Player) report() {
	if time.Since(p.reported) < reportEvery {
		return
	}
	p.reported = time.Now()
	fmt.Fprintf(p.progress, "sent %d, accepted %d, refused %d\n", p.sent, p.accepted, p.refusals())
}

func (p *Player) refusals() (n int) {
	for _, one := range p.refused {
		n += one
	}
	return n
}

// End waits for the answers, logs out, and writes what became of the submits. cause is why not all were sent, nil if they were.
// The error says that some were not accepted.
func (p *Player) End(out io.Writer, cause error) error {
	p.goOn(time.Now())
	if cause == nil {
		cause = p.wait(func() bool { return len(p.open) == 0 }, time.Time{})
	}
	took := time.Since(p.began)
	p.unanswered += len(p.open)
	if cause == nil {
		p.dialogue.Leave()
	}
	if p.sent > 0 {
		fmt.Fprintf(out, "sent %d submits in %s: %d accepted, %d refused, %d not answered\n",
			p.sent, took.Round(time.Millisecond), p.accepted, p.refusals(), p.unanswered)
	}
	for _, status := range slices.Sorted(maps.Keys(p.refused)) {
		fmt.Fprintf(out, "  %s: %d\n", status, p.refused[status])
	}
	if p.hidden > 0 {
		fmt.Fprintf(out, "left out %d lines that lack octets of their PDUs\n", p.hidden)
	}
	switch {
	case cause != nil:
		return cause
	case p.sent == 0:
		return errors.New("nothing was sent: no line with all octets of a submit is selected")
	case p.accepted < p.sent:
		return fmt.Errorf("%d of %d submits were not accepted", p.sent-p.accepted, p.sent)
	}
	return nil
}
