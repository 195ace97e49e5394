package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"pmg/store/journal"
)

const (
	// maxMessage is the maximum size of a message in octets, even if the servers accept larger
	// messages, so that a few messages can be read together. minMessage is the smallest limit of a
	// server with which the largest record has few enough parts for one batch.
	maxMessage = 1 << 20
	minMessage = 64 << 10
	// headers is the space for the headers of a message in a batch, in octets.
	headers = 256
	// An attempt waits for its acknowledgement for the time waits.first, and one second more for each
	// slowest octets. If no acknowledgement comes, the next attempt waits twice as long, up to
	// lastWait. The acknowledgement of an earlier attempt counts too. So slow servers do not get ever
	// more copies of a record.
	slowest  = 4 << 20
	lastWait = 8 * time.Second
	// errStoreFailed is the servers' code for a message that was not stored. The error's text says why.
	errStoreFailed = 10077
)

// Append implements journal.Journal. It waits for the servers without a time limit, until Close.
func (j *Journal) Append(id journal.ID, record []byte) (journal.Seq, error) {
	if len(record) > journal.MaxRecord {
		return 0, journal.ErrTooLarge
	}
	select {
	case <-j.slot:
		defer func() { j.slot <- struct{}{} }()
	case <-j.ctx.Done():
		return 0, journal.ErrClosed
	}
	j.mu.Lock()
	fault := j.fault
	j.mu.Unlock()
	if j.ctx.Err() != nil {
		return 0, journal.ErrClosed
	}
	if fault != nil {
		return 0, fault
	}
	return j.add(id, record)
}

// Write implements journal.Journal. It does the same as Append.
func (j *Journal) Write(id journal.ID, record []byte) (journal.Seq, error) {
	return j.Append(id, record)
}

// Sync implements journal.Journal. It does nothing, because written records are already safe.
func (j *Journal) Sync(journal.Seq) error {
	if j.ctx.Err() != nil {
		return journal.ErrClosed
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fault
}

// add publishes a record again until it is acknowledged. The caller has taken the slot.
func (j *Journal) add(id journal.ID, record []byte) (journal.Seq, error) {
	first, known := j.appended+1, true // known: no attempt so far may have stored the record
	defer j.setDelay(nil)
	wait := j.waits.first + time.Duration(len(record))*time.Second/slowest
	for last := max(wait, lastWait); ; {
		j.appended++
		err := j.publish(j.appended, id, record)
		var seq journal.Seq
		if err == nil {
			seq, err = j.acknowledged(first, wait)
		}
		switch {
		case err == nil:
			return seq, j.advance(seq)
		case errors.Is(err, journal.ErrFull) && known:
			return 0, err
		}
		if known = known && errors.Is(err, journal.ErrFull); errors.Is(err, context.DeadlineExceeded) {
			wait = min(2*wait, last)
		}
		j.setDelay(fmt.Errorf("cannot append to the stream %s yet: %w", j.name, err))
		if !rest(j.ctx) {
			return 0, journal.ErrClosed
		}
	}
}

func (j *Journal) setDelay(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.delay = err
}

// advance records the place of an acknowledged record. If the place is not after all earlier ones,
// the stream has lost records, and advance returns an error.
func (j *Journal) advance(seq journal.Seq) error {
	j.mu.Lock()
	acked := j.acked
	j.acked, j.last = max(j.acked, seq), max(j.last, seq)
	j.mu.Unlock()
	if seq <= acked {
		why := fmt.Sprintf("a new record got this place, but records up to %d were there already", acked)
		return j.fail(&Damage{j.name, seq, why})
	}
	return nil
}

// publish sends a record, in parts if necessary. The acknowledgement arrives on a subject below
// inbox that ends with the number of the attempt.
func (j *Journal) publish(attempt uint64, id journal.ID, record []byte) error {
	size := min(j.limit, int(j.conn.MaxPayload())) - frameOctets - headers
	if size < minMessage-frameOctets-headers {
		return fmt.Errorf("the server takes messages of %d octets only", j.conn.MaxPayload())
	}
	f := frame{id: id, parts: max(1, (len(record)+size-1)/size)}
	for ; f.part < f.parts; f.part++ {
		n := min(size, len(record))
		f.octets, record = record[:n], record[n:]
		j.buf = j.framer.append(j.buf[:0], &f) // the buffer can be reused, because published data is copied
		m := &nats.Msg{Subject: j.name, Data: j.buf}
		last := f.part == f.parts-1
		if last {
			m.Reply = j.inbox + "." + strconv.FormatUint(attempt, 10)
		}
		if f.parts > 1 {
			m.Header = nats.Header{
				"Nats-Batch-Id":       {j.inbox[strings.LastIndexByte(j.inbox, '.')+1:] + "-" + strconv.FormatUint(attempt, 10)},
				"Nats-Batch-Sequence": {strconv.Itoa(f.part + 1)},
			}
			if last {
				m.Header["Nats-Batch-Commit"] = []string{"1"}
			}
		}
		if err := j.conn.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// acknowledged waits for the answer to an attempt. Answers to attempts before first are ignored.
func (j *Journal) acknowledged(first uint64, wait time.Duration) (journal.Seq, error) {
	ctx, cancel := context.WithTimeout(j.ctx, wait)
	defer cancel()
	for {
		m, err := j.acks.NextMsgWithContext(ctx)
		if err != nil {
			return 0, fmt.Errorf("no acknowledgement within %v: %w", wait, err)
		}
		attempt, err := strconv.ParseUint(m.Subject[len(j.inbox)+1:], 10, 64)
		if err != nil || attempt < first {
			continue
		}
		if m.Header.Get("Status") != "" {
			return 0, nats.ErrNoResponders
		}
		return answered(m.Data)
	}
}

// answered decodes an acknowledgement.
func answered(b []byte) (journal.Seq, error) {
	var a struct {
		Seq   uint64              `json:"seq"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return 0, fmt.Errorf("cannot read the acknowledgement %.100q: %w", b, err)
	}
	if e := a.Error; e != nil {
		full := e.Description == "maximum bytes exceeded" || e.Description == "maximum messages exceeded"
		if full && e.ErrorCode == errStoreFailed {
			return 0, journal.ErrFull
		}
		return 0, e
	}
	if a.Seq == 0 {
		return 0, fmt.Errorf("the acknowledgement %.100q has no sequence number", b)
	}
	return journal.Seq(a.Seq), nil
}
