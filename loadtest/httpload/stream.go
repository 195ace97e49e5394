package httpload

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A line is a message that is not answered, or is to be sent again.
type line struct {
	number  int64
	planned time.Time
	due     time.Time // earliest time of the next attempt
}

// A streaming is a connection that sends a stream.
type streaming struct {
	*run
	lines   chan line     // written, and not answered
	back    chan line     // throttled, and to be sent again
	open    atomic.Int64  // lines that have not ended: neither accepted nor refused
	settled chan struct{} // has something when one has ended
}

func newStreaming(r *run) *streaming {
	// A new line is taken only when none has come back. So the lines that come back are at most a window and those that
	// the two goroutines hold.
	return &streaming{
		run: r, lines: make(chan line, r.Window), back: make(chan line, r.Window+2), settled: make(chan struct{}, 1),
	}
}

// stream sends messages as the lines of a stream, over one connection. As many lines as the window are unanswered. It gives the
// stream up when no answer has come for the timeout.
func (s *streaming) stream() {
	t := &http.Transport{DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10}
	defer t.CloseIdleConnections()
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	silence := time.AfterFunc(s.Timeout, giveUp)
	defer silence.Stop()
	in, out := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages:stream", in)
	if err != nil {
		s.lost.Add(1)
		return
	}
	req.SetBasicAuth(s.SystemID, s.Password)
	req.Header.Set("Content-Type", "application/x-ndjson")
	var writer sync.WaitGroup
	writer.Go(func() { s.write(ctx, out) })
	answer, err := t.RoundTrip(req)
	if err == nil {
		err = s.read(answer, silence)
		_ = answer.Body.Close()
	}
	giveUp() // the writer ends
	_ = in.CloseWithError(io.ErrClosedPipe)
	writer.Wait()
	if err != nil {
		s.lost.Add(1)
	}
}

// write writes lines, and closes both when the load or ctx ends.
func (s *streaming) write(ctx context.Context, out *io.PipeWriter) {
	defer close(s.lines)
	w := bufio.NewWriterSize(out, 32<<10)
	defer func() {
		_ = w.Flush()
		_ = out.Close()
	}()
	for ctx.Err() == nil {
		one, ok := s.next(ctx, w)
		if !ok {
			return
		}
		body := append(s.body(one.number), '\n')
		select {
		case s.lines <- one:
		default: // the window is full: what was written must be on its way
			if w.Flush() != nil {
				return
			}
			select {
			case s.lines <- one:
			case <-ctx.Done():
				return
			}
		}
		s.sent.Add(1)
		if _, err := w.Write(body); err != nil {
			return
		}
		if len(s.lines) == 1 && w.Flush() != nil { // nothing else is under way
			return
		}
	}
}

// next returns the line that is next: one that is to be sent again, else a new one. When none is left, it waits for those that
// may come back.
func (s *streaming) next(ctx context.Context, w *bufio.Writer) (one line, ok bool) {
	select {
	case one = <-s.back:
		return one, s.again(one, w)
	default:
	}
	if n, at, ok := s.take(); ok {
		s.open.Add(1)
		return line{number: n, planned: at}, true
	}
	if s.Retry == 0 || w.Flush() != nil {
		return one, false
	}
	for s.open.Load() > 0 {
		select {
		case one = <-s.back:
			return one, s.again(one, w)
		case <-s.settled:
		case <-ctx.Done():
			return one, false
		}
	}
	return one, false
}

// again waits until a line may be sent again, and reports false if it is not sent because the load ends.
func (s *streaming) again(one line, w *bufio.Writer) bool {
	if after := time.Until(one.due); after > 0 && (w.Flush() != nil || !s.pause(after)) {
		return false
	}
	s.resent.Add(1)
	return true
}

// read reads the answers, which come in the order of the lines. Each one winds up silence again.
func (s *streaming) read(answer *http.Response, silence *time.Timer) error {
	if answer.StatusCode != http.StatusOK {
		s.mu.Lock()
		s.statuses[answer.Status]++
		s.mu.Unlock()
		return io.ErrUnexpectedEOF
	}
	in := bufio.NewScanner(answer.Body)
	in.Buffer(make([]byte, maxAnswer), maxAnswer)
	for one := range s.lines {
		if !in.Scan() {
			if err := in.Err(); err != nil {
				return err
			}
			return io.ErrUnexpectedEOF
		}
		silence.Reset(s.Timeout)
		var message struct {
			ID     string
			Status int
		}
		if err := json.Unmarshal(in.Bytes(), &message); err != nil {
			return err
		}
		if message.Status == 0 {
			message.Status = http.StatusAccepted
		}
		if s.count(one.number, message.Status, message.ID, one.planned) {
			one.due = time.Now().Add(s.Retry)
			s.back <- one
			continue
		}
		s.open.Add(-1)
		select {
		case s.settled <- struct{}{}:
		default:
		}
	}
	return nil
}
