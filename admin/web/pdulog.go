package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/admin/access"
	"pmg/config"
	"pmg/pdulog"
	"pmg/protocols"
)

const pduLogName = "pdulog"

// Limits of the page with the pdu log.
const (
	mostLines     = 200             // maximum lines that the page shows, and in one event of the stream
	mostRows      = 500             // maximum lines that a browser keeps
	mostOctets    = 4 << 20         // octets at the end of a log that are searched
	mostOfLine    = 4 << 10         // octets of a line that are shown
	mostPattern   = 200             // octets of a pattern
	mostFollowers = 8               // browsers that may follow the log
	readTime      = 5 * time.Second // time limit of the page
	sendEvery     = time.Second     // interval in which a stream sends new lines
)

// A pduLogPage is the model of the page with the pdu log of a connector.
type pduLogPage struct {
	Connectors                       []string
	Connector                        string
	Find, Command, Direction, Status string
	MaySeeTexts, Texts               bool
	Lines                            []logLine // lines, the latest first
	Wrong                            string    // reason why no lines are shown
	Rows                             int

	query pdulog.Query
}

// A logLine is a line as the page shows it.
type logLine struct {
	Time    string `json:"time"`
	Session string `json:"session"`
	Way     string `json:"way"`
	PDU     string `json:"pdu"`
}

// IsStill reports whether no lines will follow.
func (p *pduLogPage) IsStill() bool { return p.Wrong != "" }

// private serves requests with a parameter that asks for data which may contain texts of messages, for users
// who may see texts. It first records the page's name and the parameter in the audit log.
func private(page, parameter string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get(parameter) != "" {
			access.Named(r, page+"/"+parameter)
			if c := access.CallerOf(r); !c.SeesTexts() {
				access.MarkAudited(r)
				access.Forbid(w, c, access.Operate)
				return
			}
			access.MarkAuditedNow(r)
		}
		h(w, r)
	}
}

// pduLogOf reads the parameters of a request.
func (s *site) pduLogOf(r *http.Request) *pduLogPage {
	v, g := r.URL.Query(), s.server.Gateway()
	p := &pduLogPage{
		Connector: v.Get("connector"), Find: v.Get("find"), Command: v.Get("command"), Direction: v.Get("direction"),
		Status:      v.Get("status"),
		MaySeeTexts: access.CallerOf(r).SeesTexts(), Texts: v.Get("texts") != "", Rows: mostRows,
	}
	cfg := g.Node.Config()
	for i := range cfg.Connectors {
		p.Connectors = append(p.Connectors, cfg.Connectors[i].Name)
	}
	if p.Connector == "" && len(p.Connectors) > 0 {
		p.Connector = p.Connectors[0]
	}
	c := g.Table.Connector(p.Connector)
	switch {
	case c == nil:
		p.Wrong = "The gateway has no connector of this name."
	case !cfg.PDULog.Enabled:
		p.Wrong = "No PDUs are logged, because pdulog.enabled is false."
	default:
		if err := p.read(c.Driver); err != nil {
			p.Wrong = "This cannot be looked for: " + err.Error()
		}
	}
	return p
}

// read makes a query of the request's parameters.
func (p *pduLogPage) read(driver protocols.Driver) error {
	for _, text := range []string{p.Find, p.Command, p.Status} {
		if len(text) > mostPattern {
			return fmt.Errorf("the pattern has more than %d characters", mostPattern)
		}
	}
	p.query = pdulog.Query{Connectors: []string{p.Connector}, Last: mostLines, Octets: mostOctets}
	f := &p.query.Filter
	f.Decoder, f.Masked = decoderOf(driver), !p.Texts
	if p.Command != "" {
		if _, err := path.Match(p.Command, ""); err != nil {
			return fmt.Errorf("command: %w", err)
		}
		f.Commands = []string{p.Command}
	}
	switch p.Direction {
	case "", config.In, config.Out:
		f.Direction = p.Direction
	default:
		return errors.New("direction: it is in or out")
	}
	var err error
	if p.Status != "" {
		if f.Status, err = pdulog.ParseStatusFilter(
			p.Status, func(name string) (uint32, error) { return statusNumber(driver, name) },
		); err != nil {
			return fmt.Errorf("status: %w", err)
		}
	}
	if p.Find != "" {
		f.Grep, err = regexp.Compile(p.Find)
	}
	return err
}

func statusNumber(driver protocols.Driver, name string) (uint32, error) {
	if d, ok := driver.(interface {
		Statuses() iter.Seq2[uint32, string]
	}); ok {
		for number, known := range d.Statuses() {
			if known == name {
				return number, nil
			}
		}
	}
	return 0, fmt.Errorf("the protocol has no %s", name)
}

func decoderOf(driver protocols.Driver) *pdulog.Decoder {
	return pdulog.NewDecoder(func(string) (protocols.Driver, error) { return driver, nil })
}

// line returns a line as the page shows it. The beginning has the time, the session and the direction.
func (p *pduLogPage) line(d *pdulog.Decoder, e *pdulog.Entry) logLine {
	var b []byte
	if p.Texts {
		b = d.AppendLine(nil, e)
	} else {
		b = d.AppendMasked(nil, e)
	}
	way := "sent"
	if e.Received {
		way = "received"
	}
	if words := bytes.SplitN(b, []byte(" "), 4); len(words) == 4 {
		b = words[3]
	}
	text := string(b)
	if len(text) > mostOfLine {
		text = strings.ToValidUTF8(text[:mostOfLine], "") + "…"
	}
	return logLine{e.Time.Format("15:04:05.000"), fmt.Sprintf("%s/%d", e.Connector, e.Instance), way, text}
}

// pduLog shows the last lines.
func (s *site) pduLog(r *http.Request) any {
	p := s.pduLogOf(r)
	if p.Wrong != "" {
		return p
	}
	ctx, stop := context.WithTimeout(r.Context(), readTime)
	defer stop()
	_, err := pdulog.Read(ctx, s.server.Gateway().Node.Config().PDULog.Dir, p.query, func(e *pdulog.Entry) error {
		p.Lines = append(p.Lines, p.line(p.query.Filter.Decoder, e))
		return nil
	})
	if err != nil {
		p.Wrong = "The log cannot be read: " + err.Error()
	}
	slices.Reverse(p.Lines)
	return p
}

// A catch contains the lines since the last event of a stream, up to the maximum in one event.
type catch struct {
	mu    sync.Mutex
	lines [][]byte // the latest lines; a ring once the slice is full
	next  int      // index of the next line in the ring
	out   int      // number of dropped lines, because of the maximum
}

func (c *catch) add(e *pdulog.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) < mostLines {
		c.lines = append(c.lines, bytes.Clone(e.Line))
		return nil
	}
	c.lines[c.next] = append(c.lines[c.next][:0], e.Line...)
	c.next = (c.next + 1) % mostLines
	c.out++
	return nil
}

// take returns the lines in order of arrival, and the number of dropped lines.
func (c *catch) take() (lines [][]byte, out int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines, out = append(c.lines[c.next:len(c.lines):len(c.lines)], c.lines[:c.next]...), c.out
	c.lines, c.next, c.out = nil, 0, 0
	return lines, out
}

// A logEvent is an event in a stream of the pdu log.
type logEvent struct {
	First   bool      `json:"first,omitempty"` // the lines replace the lines that are shown
	LeftOut int       `json:"left_out,omitempty"`
	Lines   []logLine `json:"lines"`
}

// follow sends the last lines, and then new lines. If there are too many new lines, it sends the last of them, with the number
// of dropped lines.
func (s *site) follow(w http.ResponseWriter, r *http.Request) {
	select {
	case s.followers <- struct{}{}:
		defer func() { <-s.followers }()
	default:
		http.Error(w, "too many follow the pdu log; try again", http.StatusServiceUnavailable)
		return
	}
	p := s.pduLogOf(r)
	if p.Wrong != "" {
		http.Error(w, p.Wrong, http.StatusBadRequest)
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	var caught catch
	ended := make(chan error, 1)
	go func() {
		_, err := pdulog.Follow(ctx, s.server.Gateway().Node.Config().PDULog.Dir, p.query, caught.add)
		ended <- cmp.Or(err, errGone)
	}()
	over := false
	defer func() {
		if stop(); !over {
			<-ended
		}
	}()
	decoder, first := decoderOf(s.server.Gateway().Table.Connector(p.Connector).Driver), true
	s.push(w, r, sendEvery, func() (string, error) {
		select {
		case err := <-ended:
			over = true
			return "", err
		default:
		}
		text := p.event(decoder, &caught, first)
		first = first && text == ""
		return text, nil
	})
}

// event returns the event with the lines of the catch, "" if there are none.
func (p *pduLogPage) event(d *pdulog.Decoder, c *catch, first bool) string {
	lines, out := c.take()
	if len(lines) == 0 {
		return ""
	}
	v := logEvent{First: first, LeftOut: out}
	for _, line := range lines {
		if e, err := pdulog.Parse(line); err == nil {
			v.Lines = append(v.Lines, p.line(d, &e))
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("event: lines\ndata: %s\n\n", b)
}
