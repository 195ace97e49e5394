package privacy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"pmg/events"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/sms"
	"pmg/store"
)

// Logs are the files of pdu logs, or those of events.
type Logs interface {
	// CloseFiles begins new files, so that all before can be edited.
	CloseFiles(context.Context) error
	// Files returns those that can be edited, with open also those that are being written.
	Files(open bool) ([]logfile.Segment, error)
	Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error)
}

// Messages are those that wait.
type Messages interface {
	// Cancel ends the messages that are of somebody, or with dry counts them alone. Those that are under way stay.
	Cancel(ctx context.Context, is func(*sms.Message) bool, dry bool) (cancelled, underWay int64, err error)
}

// Notes are what the store keeps of messages that have left.
type Notes interface {
	store.Eraser
	// Write changes notes, and returns when that is safe.
	Write(change func(*store.Batch)) error
}

// Places are where something of people is kept. What is nil is not there.
type Places struct {
	PDULogs, Events Logs
	Decoder         *pdulog.Decoder
	Messages        Messages
	Notes           Notes
	Settle          time.Duration // after which all lines about what has happened are with the writers of logs

	// Left are places that are left as they are, and why.
	Left []Left
}

// A Left is something that is left as it is.
type Left struct {
	Where  string `json:"where"`
	Why    string `json:"why"`
	Failed bool   `json:"failed,omitempty"` // it should have been removed, and could not be
}

// A Removed is something that was removed, or that would be.
type Removed struct {
	Where string `json:"where"` // a file, or another place
	What  string `json:"what"`
	Count int64  `json:"count"`
}

// A Report says what became of a request to forget.
type Report struct {
	DryRun  bool      `json:"dry_run,omitempty"`
	Numbers int       `json:"numbers"`
	Removed []Removed `json:"removed"`
	Left    []Left    `json:"left"`
	Files   int       `json:"files"`  // that were read
	Octets  int64     `json:"octets"` // of them, when not compressed
}

func (r *Report) removed(where, what string, n int64) {
	if n > 0 {
		r.Removed = append(r.Removed, Removed{where, what, n})
	}
}

func (r *Report) left(where string, err error) {
	r.Left = append(r.Left, Left{where, err.Error(), true})
}

// String returns the report as lines.
func (r *Report) String() string {
	var b strings.Builder
	did := "removed"
	if r.DryRun {
		did = "would be removed"
	}
	fmt.Fprintf(&b, "%d files were read, %d octets\n", r.Files, r.Octets)
	for _, one := range r.Removed {
		fmt.Fprintf(&b, "%s: %d %s %s\n", one.Where, one.Count, one.What, did)
	}
	if len(r.Removed) == 0 {
		fmt.Fprintln(&b, "nothing was found")
	}
	for _, one := range r.Left {
		fmt.Fprintf(&b, "left: %s: %s\n", one.Where, one.Why)
	}
	return b.String()
}

// A forgetting is one request that is carried out.
type forgetting struct {
	*Places
	of     *Numbers
	dry    bool
	say    func(string)
	report *Report
}

// Forget removes what is kept of numbers, or with dry counts it alone. say is called with what is done next. It may be ended at
// any time, and carried out again: what was removed stays so. An error says that not all was done, and the report what was.
func (p *Places) Forget(ctx context.Context, of *Numbers, dry bool, say func(string)) (*Report, error) {
	f := &forgetting{p, of, dry, say, &Report{
		DryRun: dry, Numbers: of.Len(), Removed: []Removed{}, Left: append([]Left{}, p.Left...),
	}}
	err := f.messages(ctx)
	if err == nil {
		err = f.closeFiles(ctx) // behind which the store has dropped the events
	}
	if err == nil {
		err = f.notes(ctx)
	}
	if err == nil {
		err = f.logs(ctx)
	}
	if err != nil {
		err = fmt.Errorf("cannot forget all: %w", err)
	}
	return f.report, err
}

// cancelTimes is how often messages are looked for: one that is cancelled may leave a receipt behind that waits as well.
const cancelTimes = 3

// messages cancels those that wait.
func (f *forgetting) messages(ctx context.Context) error {
	if f.Messages == nil {
		return nil
	}
	f.say("messages that wait")
	var all, underWay int64
	for range cancelTimes {
		n, stay, err := f.Messages.Cancel(ctx, f.isOf, f.dry)
		if err != nil {
			return err
		}
		all, underWay = all+n, stay
		if n == 0 || f.dry {
			break
		}
	}
	f.report.removed("queues", "messages", all)
	if underWay > 0 {
		f.report.left("queues", fmt.Errorf("%d messages are under way: ask again when they have ended", underWay))
	}
	return nil
}

// isOf reports whether a message is to a number, or from it.
func (f *forgetting) isOf(m *sms.Message) bool {
	if f.isAddress(m.Source()) || f.isAddress(m.Dest()) {
		return true
	}
	s, ok := m.Submitted()
	return ok && (f.isAddress(s.Source) || f.isAddress(s.Dest))
}

// nationalType is the type of number of an address without a country code.
const nationalType = 2

func (f *forgetting) isAddress(a sms.Address) bool {
	return f.of.IsNumber(a.Addr, a.TON == nationalType)
}

// closeFiles begins new files of the logs.
func (f *forgetting) closeFiles(ctx context.Context) error {
	if f.dry {
		return nil
	}
	select {
	case <-time.After(f.Settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	var errs error
	for _, l := range []Logs{f.Events, f.PDULogs} {
		if l != nil {
			errs = errors.Join(errs, l.CloseFiles(ctx))
		}
	}
	return errs
}

// logs rewrites files, or counts lines in them.
func (f *forgetting) logs(ctx context.Context) error {
	redaction := &pdulog.Redaction{Of: f.of}
	edit := func(l Logs, line func(b, line []byte) ([]byte, bool)) error {
		if l == nil {
			return nil
		}
		return f.edit(ctx, l, &logfile.Edit{Wants: f.of.MayBeIn, Line: func(b, text []byte) ([]byte, bool) {
			if !f.of.MayBeIn(text) {
				return append(b, text...), false
			}
			return line(b, text)
		}})
	}
	err := edit(f.Events, func(b, line []byte) ([]byte, bool) { return events.AppendRedacted(b, line, redaction) })
	if err == nil {
		err = edit(f.PDULogs, func(b, line []byte) ([]byte, bool) { return f.Decoder.AppendRedacted(b, line, redaction) })
	}
	return err
}

// edit rewrites files. One that cannot be is left as it is.
func (f *forgetting) edit(ctx context.Context, l Logs, e *logfile.Edit) error {
	files, err := l.Files(f.dry)
	if err != nil {
		return err
	}
	for _, s := range files {
		f.say(filepath.Base(s.Path))
		done, err := l.Edit(ctx, s, e, f.dry)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			f.report.left(s.Path, err)
			continue
		}
		f.report.Files++
		f.report.Octets += done.Octets
		f.report.removed(s.Path, "lines", done.Changed)
	}
	return nil
}
