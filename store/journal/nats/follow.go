package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/store/journal"
)

const (
	fetchMessages = 512
	fetchOctets   = 8 * maxMessage
	fetchWait     = 2 * time.Second
	// The servers remove an abandoned consumer after this time.
	consumerRest = 30 * time.Second
)

// errOther is the error if a message is not the expected next one.
var errOther = errors.New("the next message does not come")

// Follow implements journal.Journal. The error is a Damage if the stream does not have all of these
// records. Follow also ends with an error if no record comes for half a minute.
func (j *Journal) Follow(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	r := reader{j: j, f: f, after: uint64(after)}
	return r.follow(j.ctx)
}

// FollowOn calls f with each record after a place, as Follow does. It continues with records that
// are appended later, and waits for the servers without a time limit. It ends when ctx ends, after
// Close, after an error of f, or with a Damage.
func (j *Journal) FollowOn(ctx context.Context, after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(j.ctx, cancel)()
	r := reader{j: j, f: f, after: uint64(after), patient: true}
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.endless = true
	return r.follow(ctx)
}

// A reader reads the stream in order.
type reader struct {
	j       *Journal
	f       func(journal.Seq, journal.ID, []byte) error
	after   uint64
	patient bool
	endless bool

	next  uint64 // the expected sequence number; 0: reading has not begun
	upTo  uint64 // the last sequence number to read, unless endless is set
	last  frame  // the latest part, without its octets; parts is 0 after the end of a record
	parts []byte // octets of the current record so far
	final error  // why reading cannot continue
}

func (r *reader) done() bool { return r.next > r.upTo && r.next > 0 && !r.endless }

// follow reads until all requested records are read. After a temporary error of the servers it
// tries again.
func (r *reader) follow(ctx context.Context) error {
	for since := time.Now(); ; {
		before := r.next
		why := r.read(ctx)
		var d *Damage
		switch late := time.Since(since) > patience; {
		case r.j.ctx.Err() != nil:
			return journal.ErrClosed
		case r.final != nil:
			return r.final
		case r.done():
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case r.next > before:
			since = time.Now()
		case late && errors.As(why, &d):
			return r.j.fail(d)
		case late && !r.patient:
			return fmt.Errorf("cannot read the stream %s: %w", r.j.name, why)
		}
		rest(ctx)
	}
}

// begin finds the first message to read: the first beginning of a record after the place after.
func (r *reader) begin() error {
	s, err := r.j.state(r.j.waits.ask)
	if err != nil {
		return err
	}
	if r.after+1 < s.FirstSeq {
		return r.trimmed(s.FirstSeq)
	}
	r.j.mu.Lock()
	upTo := max(uint64(r.j.last), r.after)
	r.j.mu.Unlock()
	next := min(r.after, s.LastSeq) + 1 // limited, because the stream may have lost its end, or its new leader may lag behind
	if r.after >= s.FirstSeq && next > 1 {
		end, err := r.j.whole(next - 1)
		if err != nil {
			return err
		}
		next = end + 1
	}
	r.next, r.upTo = next, upTo
	return nil
}

func (r *reader) trimmed(first uint64) error {
	r.final = fmt.Errorf("%w: its first is %d, and those behind %d are asked for", journal.ErrTrimmed, first, r.after)
	return r.final
}

// read reads from one consumer until the consumer delivers no more.
func (r *reader) read(ctx context.Context) error {
	if r.next == 0 {
		if err := r.begin(); err != nil {
			return err
		}
	}
	if r.done() {
		return nil
	}
	create, created := context.WithTimeout(ctx, r.j.waits.ask)
	c, err := r.j.stream.CreateConsumer(create, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next, AckPolicy: jetstream.AckNonePolicy,
		Replicas: 1, MemoryStorage: true, InactiveThreshold: consumerRest,
	})
	created()
	if err != nil {
		return err
	}
	defer func() {
		remove, cancel := context.WithTimeout(context.Background(), r.j.waits.status)
		defer cancel()
		_ = r.j.stream.DeleteConsumer(remove, c.CachedInfo().Name)
	}()
	for {
		n, err := r.fetch(ctx, c)
		if r.final != nil || r.done() || ctx.Err() != nil {
			return err
		}
		if n == 0 || err != nil {
			if why := r.examine(); why != nil || err != nil {
				return errors.Join(why, err)
			}
		}
	}
}

// fetch takes the messages that are available. If there are none, it waits for one.
func (r *reader) fetch(ctx context.Context, c jetstream.Consumer) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	batch, err := c.Fetch(fetchMessages, jetstream.FetchMaxBytes(fetchOctets), jetstream.FetchContext(ctx))
	if err != nil {
		return 0, err
	}
	for m := range batch.Messages() {
		if err := r.take(m); err != nil || r.done() {
			return n, err
		}
		n++
	}
	if n > 0 {
		return n, nil
	}
	return 0, batch.Error()
}

// take handles a message of the stream.
func (r *reader) take(m jetstream.Msg) error {
	of, err := m.Metadata()
	if err != nil {
		return err
	}
	if of.Sequence.Stream != r.next {
		return errOther
	}
	seq := journal.Seq(r.next)
	var record []byte
	whole := false
	f, ok := readFrame(r.j.sealer, m.Data())
	if ok {
		record, whole, ok = r.join(&f)
	}
	if !ok { // published by somebody else
		record, whole, f.id = nil, true, journal.ID{}
	}
	if whole && uint64(seq) > r.after {
		if r.final = r.f(seq, f.id, record); r.final != nil {
			return r.final
		}
	}
	r.next++
	return nil
}

// join joins the parts of a record. A record whose last part does not follow was never
// acknowledged, and is skipped. ok is false if a part does not follow the one before: somebody has
// published a copy of it.
func (r *reader) join(f *frame) (record []byte, whole, ok bool) {
	if f.part == 0 {
		if r.last.parts, r.parts = 0, nil; f.parts == 1 {
			return f.octets, true, true
		}
	} else if f.id != r.last.id || f.parts != r.last.parts || f.part != r.last.part+1 {
		return nil, false, false
	}
	if len(r.parts)+len(f.octets) > journal.MaxRecord {
		return nil, false, false
	}
	r.parts = append(r.parts, f.octets...)
	if r.last = (frame{part: f.part, parts: f.parts, id: f.id}); f.part < f.parts-1 {
		return nil, false, true
	}
	record, r.last.parts, r.parts = r.parts, 0, nil
	return record, true, true
}

func (r *reader) damaged(seq journal.Seq, why string) error {
	r.final = r.j.fail(&Damage{r.j.name, seq, why})
	return r.final
}

// examine asks the stream's leader why the next message does not arrive. It returns nil if the
// message does not exist yet. A Damage is final, unless it may be caused by one server that lags
// behind.
func (r *reader) examine() error {
	s, err := r.j.state(r.j.waits.ask)
	if err != nil {
		return err
	}
	switch {
	case r.next < s.FirstSeq:
		return r.trimmed(s.FirstSeq)
	case r.next > s.LastSeq && r.next > r.upTo:
		return nil
	case r.next > s.LastSeq:
		return &Damage{r.j.name, journal.Seq(r.next), fmt.Sprintf("it ends at %d, and went on to %d before", s.LastSeq, r.upTo)}
	}
	_, err = r.j.message(r.next)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return r.damaged(journal.Seq(r.next), fmt.Sprintf("this message is missing, and there are others up to %d", s.LastSeq))
	}
	if err == nil {
		return &Damage{r.j.name, journal.Seq(r.next), "only some servers have this message"}
	}
	return err
}

// message reads one message from the stream's leader.
func (j *Journal) message(seq uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(j.ctx, j.waits.ask)
	defer cancel()
	m, err := j.stream.GetMsg(ctx, seq)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

// whole returns the highest sequence number up to seq that is the end of a record.
func (j *Journal) whole(seq uint64) (uint64, error) {
	b, err := j.message(seq)
	if err != nil {
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return seq, nil
		}
		return 0, err
	}
	if f, ok := readFrame(j.sealer, b); ok && f.part < f.parts-1 {
		seq -= min(seq, uint64(f.part)+1)
	}
	return seq, nil
}

// Trim implements journal.Journal.
func (j *Journal) Trim(upTo journal.Seq) error {
	err := j.trim(uint64(upTo))
	if j.ctx.Err() != nil {
		return journal.ErrClosed
	}
	return err
}

func (j *Journal) trim(upTo uint64) error {
	s, err := j.state(j.waits.ask)
	if err != nil {
		return err
	}
	if upTo = min(upTo, s.LastSeq); upTo < s.FirstSeq || s.Msgs == 0 {
		return nil
	}
	if upTo, err = j.whole(upTo); err != nil {
		return fmt.Errorf("cannot trim the stream %s: %w", j.name, err)
	}
	ctx, cancel := context.WithTimeout(j.ctx, j.waits.ask)
	defer cancel()
	if err := j.stream.Purge(ctx, jetstream.WithPurgeSequence(upTo+1)); err != nil {
		return fmt.Errorf("cannot trim the stream %s: %w", j.name, err)
	}
	return nil
}
