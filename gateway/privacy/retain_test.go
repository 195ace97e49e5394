package privacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pmg/config"
	"pmg/events"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

func smppOnly(string) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil }

// retained is a directory with a file for each of some days before now, each with a line of two accounts and one of none.
func retained(t *testing.T, now time.Time, days ...int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, day := range days {
		var b bytes.Buffer
		for _, account := range []string{" account=acme", " account=bank", ""} {
			fmt.Fprintf(
				&b, "2026-11-01T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=ACME destination_addr=4670000000%d "+
					"short_message=\"secret %d\"%s\n", day, day, account,
			)
		}
		name := "clients-" + now.AddDate(0, 0, -day).Format(logfile.StampLayout) + ".log"
		text := b.Bytes()
		if i%2 == 1 {
			z, _ := zstd.NewWriter(nil)
			name, text = name+".zst", z.EncodeAll(text, nil)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shown returns how many texts and numbers the files of a directory have, the oldest first: "2t3n" for one with two texts.
func shown(t *testing.T, l Logs) (all []string) {
	t.Helper()
	files, err := l.Files(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range files {
		f, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Reader(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(r)
		if err = errors.Join(err, r.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%dt%dn", strings.Count(b.String(), "secret"), strings.Count(b.String(), "=467")))
		if n := strings.Count(b.String(), "source_addr=ACME"); n != 3 {
			t.Errorf("%d lines with names of senders", n)
		}
	}
	return all
}

const day = 24 * time.Hour

// Texts, and later numbers, are removed from closed files by their age, for each account as it says, and once.
func TestRetention(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	dir := retained(t, now, 60, 20, 5, 1)
	l := pdulog.NewDir(dir, pdulog.Options{})
	cfg := &config.Config{Retention: config.Retention{Texts: 7 * day, Numbers: 30 * day}, Accounts: []config.Account{
		{SystemID: "acme"}, {SystemID: "bank", Policies: config.Policies{Retention: config.Retention{Texts: 2 * day, Numbers: 365 * day}}},
	}}
	var r Retainer
	run := func(now time.Time, want ...string) {
		t.Helper()
		if err := r.Run(t.Context(), l, dir, pdulog.NewDecoder(smppOnly), PolicyOf(cfg), now); err != nil {
			t.Fatal(err)
		}
		if got := shown(t, l); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	run(now, "0t1n", "0t3n", "2t3n", "3t3n")
	octets := r.Octets.Load()
	if run(now.Add(time.Hour), "0t1n", "0t3n", "2t3n", "3t3n"); r.Octets.Load() != octets || r.Files.Load() != 3 {
		t.Errorf("files are read again although nothing is due: %d files", r.Files.Load())
	}
	run(now.Add(3*day), "0t1n", "0t3n", "0t3n", "2t3n")
	cfg.Retention.Numbers = 10 * day
	run(now.Add(3*day), "0t1n", "0t1n", "0t3n", "2t3n")
	run(now.Add(400*day), "0t0n", "0t0n", "0t0n", "0t0n")
	octets = r.Octets.Load()
	cfg.Retention, cfg.Accounts = config.Retention{}, nil
	if run(now.Add(400*day), "0t0n", "0t0n", "0t0n", "0t0n"); r.Octets.Load() != octets {
		t.Error("files are read although nothing is to be removed")
	}
	if n := r.Faults.Load(); n != 0 {
		t.Errorf("%d faults", n)
	}
	for _, policy := range []config.Retention{{}, {Texts: 500 * day}} {
		if p := PolicyOf(&config.Config{Retention: policy}); p.IsEmpty() != (policy.Texts == 0) || p.dueAt(100*day).String() != "" {
			t.Errorf("%+v: something is due", policy)
		}
	}
}

// A run that is ended goes on with the next file the next time. A damaged file is left, and the others are done.
func TestRetentionEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	dir := retained(t, now, 60, 50, 40)
	l := pdulog.NewDir(dir, pdulog.Options{})
	p := PolicyOf(&config.Config{Retention: config.Retention{Texts: 7 * day}})
	var r Retainer
	ctx, cancel := context.WithCancel(t.Context())
	if err := r.Run(ctx, &endingLogs{l, cancel}, dir, pdulog.NewDecoder(smppOnly), p, now); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := shown(t, l); !slices.Equal(got, []string{"0t3n", "3t3n", "3t3n"}) || r.Faults.Load() != 0 {
		t.Errorf("%q, %d faults", got, r.Faults.Load())
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.zst"))
	good, err := os.ReadFile(names[0])
	if err == nil {
		err = os.WriteFile(names[0], good[:len(good)/2], 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), l, dir, pdulog.NewDecoder(smppOnly), p, now); err == nil || r.Faults.Load() != 1 {
		t.Errorf("a damaged file: %v", err)
	}
	if err := os.WriteFile(names[0], good, 0o640); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, l); !slices.Equal(got, []string{"0t3n", "3t3n", "0t3n"}) {
		t.Errorf("%q", got)
	}
	if err := r.Run(t.Context(), l, dir, pdulog.NewDecoder(smppOnly), p, now); err != nil {
		t.Error(err)
	}
	if got := shown(t, l); !slices.Equal(got, []string{"0t3n", "0t3n", "0t3n"}) {
		t.Errorf("%q", got)
	}
}

// endingLogs end a run after the first file.
type endingLogs struct {
	Logs
	end func()
}

func (l *endingLogs) Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error) {
	done, err := l.Logs.Edit(ctx, s, e, dry)
	l.end()
	return done, err
}

// A run that is ended in the middle of a file leaves it as it was, and counts no fault.
func TestRetentionEndsInFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	dir := retained(t, now, 60)
	l := pdulog.NewDir(dir, pdulog.Options{})
	p := PolicyOf(&config.Config{Retention: config.Retention{Texts: 7 * day}})
	var r Retainer
	ctx, cancel := context.WithCancel(t.Context())
	if err := r.Run(ctx, &startingLogs{l, cancel}, dir, pdulog.NewDecoder(smppOnly), p, now); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := shown(t, l); !slices.Equal(got, []string{"3t3n"}) || r.Faults.Load() != 0 || r.Files.Load() != 0 {
		t.Errorf("%q, %d faults, %d files", got, r.Faults.Load(), r.Files.Load())
	}
}

// startingLogs end a run when it has begun with a file.
type startingLogs struct {
	Logs
	end func()
}

func (l *startingLogs) Edit(ctx context.Context, s logfile.Segment, e *logfile.Edit, dry bool) (logfile.Edited, error) {
	l.end()
	return l.Logs.Edit(ctx, s, e, dry)
}

// What is kept for a time is removed when that is over, and not a moment later or before.
func TestDue(t *testing.T) {
	t.Parallel()
	p := PolicyOf(&config.Config{Retention: config.Retention{Texts: 7 * day, Numbers: 30 * day}})
	for age, want := range map[time.Duration]pdulog.Redaction{
		7*day - 1: {}, 7 * day: {Texts: true}, 30*day - 1: {Texts: true}, 30 * day: {Texts: true, Numbers: true},
	} {
		if got := *p.dueAt(age).of(nil); got != want {
			t.Errorf("after %v: %+v, want %+v", age, got, want)
		}
	}
}

// Something is due if it is for one account alone, whichever that is. What is due has a text of its own.
func TestDueForOne(t *testing.T) {
	t.Parallel()
	bound := func(name string, texts time.Duration) config.Account {
		return config.Account{SystemID: name, Policies: config.Policies{Retention: config.Retention{Texts: texts}}}
	}
	seen := map[string]bool{"": true}
	for _, all := range [][]config.Account{
		{bound("a", 2*day), bound("b", 90*day)}, {bound("a", 90*day), bound("b", 2*day)}, {bound("a", 2*day), bound("b", 2*day)},
	} {
		p := PolicyOf(&config.Config{Accounts: all})
		if text := p.dueAt(5 * day).String(); p.IsEmpty() || seen[text] || p.dueAt(day).String() != "" {
			t.Errorf("%+v: %q, and after a day %q", all, text, p.dueAt(day))
		} else {
			seen[text] = true
		}
	}
	p := PolicyOf(&config.Config{Retention: config.Retention{Texts: 2 * day}, Accounts: []config.Account{bound("a", 90*day)}})
	if text := p.dueAt(5 * day).String(); seen[text] {
		t.Errorf("for all but one: %q", text)
	}
}

// Events lose their numbers, and stay events.
func TestRetentionOfEvents(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	const line = `{"number":%d,"id":"1a1fb0c12c230d41","kind":"submit","account":%q,"source":"1234","destination":"46701740605","parts":1}` + "\n"
	file := filepath.Join(dir, "events-"+now.AddDate(0, 0, -40).Format(logfile.StampLayout)+".log")
	if err := os.WriteFile(file, fmt.Appendf(fmt.Appendf(nil, line, 1, "acme"), line, 2, "bank"), 0o640); err != nil {
		t.Fatal(err)
	}
	l, err := events.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := PolicyOf(&config.Config{Accounts: []config.Account{
		{SystemID: "bank", Policies: config.Policies{Retention: config.Retention{Numbers: 30 * day}}},
	}})
	var r Retainer
	if err := r.Run(t.Context(), l, dir, nil, p, now); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	want := fmt.Sprintf(line, 1, "acme") + strings.Replace(fmt.Sprintf(line, 2, "bank"), "46701740605", "*", 1)
	if err != nil || string(b) != want {
		t.Errorf("%v: %s", err, b)
	}
}
