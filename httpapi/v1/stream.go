package v1

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"pmg/config"
	"pmg/connector/streams"
	"pmg/gateway/request"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// Limits of streams and batches.
const (
	atOnce       = 1024      // lines of a stream that are submitted together, if as many have come
	maxLine      = 256 << 10 // octets of a line
	maxBatch     = 1000      // messages in a batch
	maxBatchBody = 16 << 20
)

// stream submits a message for each line of the body, and answers each with a line, in order. Lines that have come together
// are submitted together, in one commit. A refused line does not end the stream.
func (h *handler) stream() {
	c := http.NewResponseController(h.x.Writer)
	h.x.Conn.Await(false)    // the table of streams ends the connection
	_ = c.EnableFullDuplex() // HTTP/1.1: lines are answered while others come
	h.x.Writer.Header().Set("Content-Type", "application/x-ndjson")
	life, ok := h.x.BeginStream("stream", func() bool { return h.isStillKnown(config.SendScope) }, func() {
		_ = c.SetReadDeadline(time.Now())
		_ = c.SetWriteDeadline(time.Now().Add(endTime))
	})
	if !ok {
		h.problem(own.NewProblem("unavailable", ""))
		return
	}
	defer h.x.Connector.Streams.End(life)
	in := bufio.NewReaderSize(h.x.Request.Body, maxLine)
	h.x.Writer.WriteHeader(http.StatusOK)
	h.x.LogRequest(httpsms.Ask, nil, http.StatusOK, httpsms.Result{})
	var out bytes.Buffer
	var lines [][]byte
	for {
		var err error
		// Stop closes Over before it sets its deadlines: either Over is seen here, or the deadlines are in effect.
		if h.x.Extend(); life.Reason() == 0 {
			lines, err = readLines(in, lines[:0])
			life.Heard.Store(h.api.rooms.Node.Clock.Now())
		}
		out.Reset()
		why := life.Reason()
		if why != streams.Revoked {
			h.answerLines(&out, h.submitLines(lines))
		}
		lines = lines[:0]
		switch {
		case why != 0:
			writeLine(&out, endOf(why))
			err = errEnded
		case err != nil && !errors.Is(err, io.EOF):
			writeLine(&out, own.NewProblem("malformed-json", "the stream ends with a line that cannot be read: "+err.Error()))
		}
		if _, werr := h.x.Writer.Write(out.Bytes()); werr != nil || c.Flush() != nil || errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			// Extend may have run after Stop: without this deadline net/http would wait for the rest of the body.
			_ = c.SetReadDeadline(time.Now())
			panic(http.ErrAbortHandler) // the connection is aborted, so that the client does not see a regular end of the stream
		}
	}
}

// errEnded means that the gateway ends a stream.
var errEnded = errors.New("the gateway has ended the stream")

// endOf returns the problem on the last line of a stream that the gateway ends.
func endOf(why streams.Reason) *own.Problem {
	switch why {
	case streams.Revoked:
		return own.NewProblem("unauthenticated", "the stream ends: its login is no longer valid")
	case streams.Kicked:
		return own.NewProblem("unavailable", "an operator has ended the stream")
	}
	return own.NewProblem("unavailable", "the stream ends: the gateway is stopping, or the connector was removed")
}

// readLines waits for a line, and returns it with the lines that have come with it. The lines do not share
// memory with the reader.
func readLines(in *bufio.Reader, lines [][]byte) ([][]byte, error) {
	for {
		line, err := in.ReadSlice('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			lines = append(lines, bytes.Clone(line))
		}
		if err != nil {
			return lines, err
		}
		waiting, _ := in.Peek(in.Buffered())
		if len(lines) >= atOnce || len(lines) > 0 && bytes.IndexByte(waiting, '\n') < 0 {
			return lines, nil
		}
	}
}

// A line is a message of a stream or a batch, with its outcome.
type line struct {
	message *own.Message
	problem *own.Problem // the reason of the refusal
	result  request.Result
}

// submitLines submits messages that are JSON.
func (h *handler) submitLines(bodies [][]byte) []line {
	all := make([]line, len(bodies))
	now := h.now()
	for i, body := range bodies {
		all[i].message, all[i].problem = h.api.reader.Message(body, now)
	}
	h.submitMany(all, bodies)
	return all
}

// submitMany submits the valid messages.
func (h *handler) submitMany(all []line, bodies [][]byte) {
	items, at := h.items(all, bodies)
	if len(items) == 0 {
		return
	}
	for i, r := range h.api.rooms.Submitter.Submit(h.x.Request.Context(), h.x.Source(), items) {
		h.became(&all[at[i]], r)
	}
}

// items returns the messages to submit, and their indexes among all messages.
func (h *handler) items(all []line, bodies [][]byte) (items []request.Item, at []int) {
	for i := range all {
		if item, ok := h.item(&all[i], bodies[i]); ok {
			items, at = append(items, item), append(at, i)
		}
	}
	return items, at
}

// item returns a message as an item to submit. It reports false if the message is invalid, and records the reason.
func (h *handler) item(l *line, body []byte) (item request.Item, ok bool) {
	if l.problem == nil {
		l.problem = h.maySend(l.message)
	}
	if l.problem != nil {
		return item, false
	}
	h.x.Trace(&l.message.Order)
	item = itemOf(l.message)
	if l.message.Deduplicate {
		item.Key, item.Payload = "r"+l.message.Context.Reference, sha256.Sum256(body)
	}
	return item, true
}

// became records the outcome of a message, and logs it.
func (h *handler) became(l *line, r request.Result) {
	l.result = r
	status := http.StatusAccepted
	if l.problem = refusal(&r); l.problem != nil {
		status = l.problem.Status
	}
	if l.message != nil { // nil: the client was gone before the line was read
		h.x.LogRequest(httpsms.Submit, &l.message.Order, status, became(&r))
	}
}

// answerLines writes the outcome of each message on a line.
func (h *handler) answerLines(out *bytes.Buffer, all []line) {
	now := h.now()
	for i := range all {
		writeLine(out, h.answer(&all[i], now))
	}
}

// answer returns the line of the answer about a message.
func (h *handler) answer(l *line, now time.Time) any {
	if l.problem == nil {
		return l.message.Accepted(l.result.ID, l.result.Parts, priceOf(h.x, l.result.Quote), now)
	}
	reference := ""
	if l.message != nil {
		reference = l.message.Context.Reference
	}
	return struct {
		*own.Problem
		Reference string `json:"client_reference,omitempty"`
	}{l.problem, reference}
}

func writeLine(out *bytes.Buffer, v any) {
	_ = json.NewEncoder(out).Encode(v) // a value of our own types
}

// postBatch submits the messages of a batch. Each message has its own outcome.
func (h *handler) postBatch() {
	body, ok := h.readJSON(maxBatchBody)
	if !ok {
		return
	}
	key, p := h.onceKey(&own.Message{})
	if p != nil {
		h.problem(p)
		return
	}
	var batch *own.Batch
	var hash [sha256.Size]byte
	if !h.x.Parse(func() {
		if batch, p = h.api.reader.Batch(body, maxBatch); p == nil && key != "" {
			hash = sha256.Sum256(body)
		}
	}) {
		panic(http.ErrAbortHandler) // nobody reads an answer
	}
	if p != nil {
		h.problem(p)
		return
	}
	c := &carried{h: h, batch: batch, lines: make([]line, batch.Len()), Messages: make([]any, batch.Len())}
	work := request.Work{N: batch.Len(), Item: c.item, Became: c.became}
	if key == "" {
		h.api.rooms.Submitter.SubmitAll(h.x.Request.Context(), h.x.Source(), work)
	} else {
		repeated, err := h.api.rooms.Submitter.SubmitOnce(h.x.Request.Context(), h.x.Source(), key, hash, work)
		if err != nil {
			h.problem(refusal(&request.Result{Err: err}))
			return
		}
		if repeated {
			h.x.Writer.Header().Set("Idempotency-Replayed", "true")
		}
	}
	c.Refused = len(c.Messages) - c.Accepted
	h.answerJSON(http.StatusOK, c)
}

// A carried is a batch in progress, and its answer.
type carried struct {
	h     *handler
	batch *own.Batch
	lines []line // lines that are being submitted

	Accepted int   `json:"accepted"`
	Refused  int   `json:"refused"`
	Messages []any `json:"messages"`
}

// item reads message i.
func (c *carried) item(i int) (request.Item, bool) {
	var read own.Item
	if !c.h.x.Parse(func() { read = c.batch.Item(i, c.h.now()) }) {
		read.Problem = own.NewProblem("unavailable", "the client has disconnected")
	}
	l := &c.lines[i]
	l.message, l.problem = read.Message, read.Problem
	item, ok := c.h.item(l, read.Body)
	if !ok {
		c.answer(i)
	}
	return item, ok
}

// became records the outcome of message i.
func (c *carried) became(i int, r request.Result) {
	c.h.became(&c.lines[i], r)
	c.answer(i)
}

// answer records the answer for message i, and drops the message, so that memory holds no more messages than
// are submitted together.
func (c *carried) answer(i int) {
	l := &c.lines[i]
	if c.Messages[i] = c.h.answer(l, c.h.now()); l.problem == nil {
		c.Accepted++
	}
	*l = line{}
}
