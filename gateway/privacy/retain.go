package privacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/events"
	"pmg/internal/logfile"
	"pmg/pdulog"
)

// A Policy says how long texts and numbers are kept in pdu logs and events.
type Policy struct {
	usual    config.Retention
	accounts map[string]config.Retention // policies of accounts that differ from the usual one
}

// PolicyOf returns the policy of a configuration.
func PolicyOf(cfg *config.Config) *Policy {
	p := &Policy{cfg.Retention, map[string]config.Retention{}}
	for i := range cfg.Accounts {
		a := &cfg.Accounts[i]
		own, usual := a.Policies.Retention, cfg.Retention
		if own.Texts == 0 {
			own.Texts = usual.Texts
		}
		if own.Numbers == 0 {
			own.Numbers = usual.Numbers
		}
		if own != usual {
			p.accounts[a.SystemID] = own
		}
	}
	return p
}

// IsEmpty reports whether the policy removes nothing.
func (p *Policy) IsEmpty() bool { return p.usual == (config.Retention{}) && len(p.accounts) == 0 }

// due are the redactions that apply to lines of an age.
type due struct {
	usual    pdulog.Redaction
	accounts map[string]pdulog.Redaction
}

// dueAt returns what is to be removed from lines of an age.
func (p *Policy) dueAt(age time.Duration) *due {
	at := func(r config.Retention) pdulog.Redaction {
		numbers := r.Numbers > 0 && age >= r.Numbers
		return pdulog.Redaction{Texts: numbers || r.Texts > 0 && age >= r.Texts, Numbers: numbers}
	}
	d := &due{at(p.usual), map[string]pdulog.Redaction{}}
	for name, r := range p.accounts {
		d.accounts[name] = at(r)
	}
	return d
}

func isNothing(r pdulog.Redaction) bool { return !r.Texts && !r.Numbers }

// String returns the same text for the same redactions, and "" for none.
func (d *due) String() string {
	h := fnv.New64a()
	nothing := isNothing(d.usual)
	fmt.Fprint(h, d.usual.Texts, d.usual.Numbers)
	for _, name := range slices.Sorted(maps.Keys(d.accounts)) {
		if r := d.accounts[name]; r != d.usual {
			nothing = nothing && isNothing(r)
			fmt.Fprint(h, "\n", name, " ", r.Texts, r.Numbers)
		}
	}
	if nothing {
		return ""
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// of returns the redaction for the lines of an account. "" stands for lines without an account.
func (d *due) of(account []byte) *pdulog.Redaction {
	if r, ok := d.accounts[string(account)]; ok {
		return &r
	}
	return &d.usual
}

// A Retainer removes texts and numbers from files that are old enough. Its figures may be read at any time.
type Retainer struct {
	Files, Lines, Octets atomic.Int64 // numbers of rewritten files, changed lines and read octets
	Faults               atomic.Int64 // failed attempts to rewrite a file
}

// doneName is the file that records the removals in the files of its directory.
const doneName = "retention.done"

// Run removes what is due at a time from the closed files of a directory. What is done stays done when it is ended. An error
// says which files could not be rewritten.
func (r *Retainer) Run(ctx context.Context, l Logs, dir string, d *pdulog.Decoder, p *Policy, now time.Time) (errs error) {
	files, err := l.Files(false)
	if err != nil {
		return err
	}
	done, left := readDone(dir), map[string]string{}
	for _, s := range files {
		name := strings.TrimSuffix(filepath.Base(s.Path), ".zst")
		if was := done[name]; was != "" {
			left[name] = was
		}
	}
	for _, s := range files {
		at, err := time.Parse(logfile.StampLayout, s.Stamp)
		if err != nil || ctx.Err() != nil {
			continue
		}
		name, what := strings.TrimSuffix(filepath.Base(s.Path), ".zst"), p.dueAt(now.Sub(at))
		if digest := what.String(); digest != "" && digest != left[name] {
			if err := r.edit(ctx, l, s, what, d); err != nil {
				errs = errors.Join(errs, err)
				continue
			}
			left[name] = digest
			errs = errors.Join(errs, writeDone(dir, left))
		}
	}
	return errors.Join(errs, ctx.Err())
}

// edit rewrites a file. d is nil for files of events.
func (r *Retainer) edit(ctx context.Context, l Logs, s logfile.Segment, what *due, d *pdulog.Decoder) error {
	e := &logfile.Edit{Wants: func([]byte) bool { return true }, Rest: new(pace).rest}
	e.Line = func(b, line []byte) ([]byte, bool) {
		var account []byte
		if d == nil {
			if _, after, ok := bytes.Cut(line, []byte(`,"account":"`)); ok {
				account, _, _ = bytes.Cut(after, []byte{'"'})
			}
		} else if one, err := pdulog.Parse(line); err == nil {
			account = []byte(one.AccountName())
		}
		redaction := what.of(account)
		switch {
		case isNothing(*redaction):
			return append(b, line...), false
		case d == nil:
			return events.AppendRedacted(b, line, redaction)
		}
		return d.AppendRedacted(b, line, redaction)
	}
	done, err := l.Edit(ctx, s, e, false)
	if err != nil && ctx.Err() == nil {
		r.Faults.Add(1)
	}
	r.Octets.Add(done.Octets)
	if r.Lines.Add(done.Changed); done.Changed > 0 {
		r.Files.Add(1)
	}
	return err
}

// paceShare is the part of its time in which a file is rewritten, as logs are compressed: 1/paceShare.
const paceShare = 20

// A pace makes work rest for most of the time.
type pace struct{ last time.Time }

func (p *pace) rest(ctx context.Context, _ int) error {
	if !p.last.IsZero() {
		select {
		case <-ctx.Done():
		case <-time.After((paceShare - 1) * time.Since(p.last)):
		}
	}
	p.last = time.Now()
	return ctx.Err()
}
