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

// Logs are the files of pdu logs, or the files of events.
type Logs interface {
	// CloseFiles begins new files, so that all earlier files can be edited.
	CloseFiles(context.Context) error
	// Files returns the files that can be edited. If open is true, it also returns the files that are
	// being written.
	Files(open bool) ([]logfile.Segment, error)
	Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error)
}

// Messages are the waiting messages.
type Messages interface {
	// Cancel ends the messages for which is returns true. If dry is true, it only counts them. Messages
	// that are under way stay.
	Cancel(ctx context.Context, is func(*sms.Message) bool, dry bool) (cancelled, underWay int64, err error)
}

// Notes are the notes of the store about messages that have left.
type Notes interface {
	store.Eraser
	// Write changes notes, and returns when the change is safe.
	Write(change func(*store.Batch)) error
}

// Places are the places where data of people is kept. A place that is nil does not exist.
type Places struct {
	PDULogs, Events Logs
	Decoder         *pdulog.Decoder
	Messages        Messages
	Notes           Notes
	Settle          time.Duration // time after which all log lines about past events are written

	// Left are places that are not changed, with the reasons.
	Left []Left
}

// A Left is a place that is not changed.
type Left struct {
	Where  string `json:"where"`
	Why    string `json:"why"`
	Failed bool   `json:"failed,omitempty"` // the data should have been removed, but could not be removed
}

// A Removed is data that was or would be removed from one place.
type Removed struct {
	Where string `json:"where"` // the name of a file or of another place
	What  string `json:"what"`
	Count int64  `json:"count"`
}

// A Report is the result of a request to forget.
type Report struct {
	DryRun  bool      `json:"dry_run,omitempty"`
	Numbers int       `json:"numbers"`
	Removed []Removed `json:"removed"`
	Left    []Left    `json:"left"`
	Files   int       `json:"files"`  // number of files that were read
	Octets  int64     `json:"octets"` // octets of the files when not compressed
}

func (r *Report) removed(where, what string, n int64) {
	if n > 0 {
		r.Removed = append(r.Removed, Removed{where, what, n})
	}
}

func (r *Report) left(where string, err error) {
	r.Left = append(r.Left, Left{where, err.Error(), true})
}

// String returns the report as lines of text.
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

// A forgetting is one request to forget that is being carried out.
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
		err = f.closeFiles(ctx) // after this the store has dropped the events
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

// messages cancels the waiting messages.
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

// isOf reports whether a message is to or from one of the numbers.
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

// edit rewrites files. A file that cannot be rewritten is left unchanged.
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
