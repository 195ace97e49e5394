package httpload

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"
)

// A line is a message that is not answered.
type line struct {
	number  int64
	planned time.Time
}

// stream sends messages as the lines of a stream, over one connection. As many lines as the window are unanswered. It gives the
// stream up when no answer has come for the timeout.
func (r *run) stream() {
	t := &http.Transport{DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10}
	defer t.CloseIdleConnections()
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	silence := time.AfterFunc(r.Timeout, giveUp)
	defer silence.Stop()
	in, out := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/messages:stream", in)
	if err != nil {
		r.lost.Add(1)
		return
	}
	req.SetBasicAuth(r.SystemID, r.Password)
	req.Header.Set("Content-Type", "application/x-ndjson")
	lines := make(chan line, r.Window)
	var writer sync.WaitGroup
	writer.Go(func() { r.write(ctx, out, lines) })
	answer, err := t.RoundTrip(req)
	if err == nil {
		err = r.read(answer, lines, silence)
		_ = answer.Body.Close()
	}
	giveUp() // the writer ends
	_ = in.CloseWithError(io.ErrClosedPipe)
	writer.Wait()
	if err != nil {
		r.lost.Add(1)
	}
}

// write writes lines, and closes both when the load or ctx ends.
func (r *run) write(ctx context.Context, out *io.PipeWriter, lines chan<- line) {
	defer close(lines)
	w := bufio.NewWriterSize(out, 32<<10)
	defer func() {
		_ = w.Flush()
		_ = out.Close()
	}()
	for ctx.Err() == nil {
		n, at, ok := r.take()
		if !ok {
			return
		}
		body := append(r.body(n), '\n')
		one := line{n, at}
		select {
		case lines <- one:
		default: // the window is full: what was written must be on its way
			if w.Flush() != nil {
				return
			}
			select {
			case lines <- one:
			case <-ctx.Done():
				return
			}
		}
		r.sent.Add(1)
		if _, err := w.Write(body); err != nil {
			return
		}
		if len(lines) == 1 && w.Flush() != nil { // nothing else is under way
			return
		}
	}
}

// read reads the answers, which come in the order of the lines. Each one winds up silence again.
func (r *run) read(answer *http.Response, lines <-chan line, silence *time.Timer) error {
	if answer.StatusCode != http.StatusOK {
		r.mu.Lock()
		r.statuses[answer.Status]++
		r.mu.Unlock()
		return io.ErrUnexpectedEOF
	}
	in := bufio.NewScanner(answer.Body)
	in.Buffer(make([]byte, maxAnswer), maxAnswer)
	for one := range lines {
		if !in.Scan() {
			if err := in.Err(); err != nil {
				return err
			}
			return io.ErrUnexpectedEOF
		}
		silence.Reset(r.Timeout)
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
		r.note(one.number, message.Status, message.ID, one.planned)
	}
	return nil
}
