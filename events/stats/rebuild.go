package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"pmg/events"
)

// A Rebuilt is the result of Rebuild.
type Rebuilt struct {
	Events   int64
	From, To string // the first and last day that were rebuilt; "": none
	Replaced string // the directory with the old files; "": there were no old files
}

// A Progress is called with the number of counted events, and the day of the last one.
type Progress func(n int64, day string)

// Rebuild makes the statistics of days again from the files of events, of one directory or of those of all nodes of a cluster.
// While it runs, no gateway may write statistics or events. It begins with the day from, or, if from is zero, with the first day
// whose events are all there.
func Rebuild(ctx context.Context, eventsDirs []string, dir string, from time.Time, progress Progress) (r Rebuilt, err error) {
	for _, one := range eventsDirs {
		if _, err := os.Stat(one); err != nil && len(eventsDirs) > 1 { // a lock would make it
			return r, err
		}
		lock, err := events.Lock(one)
		if err != nil {
			return r, err
		}
		defer lock.Close()
	}
	old, err := Open(dir, 0, zerolog.Nop())
	if err != nil {
		return r, err
	}
	made := filepath.Join(dir, "rebuilding")
	if err := os.RemoveAll(made); err != nil { // left by an earlier rebuild that did not finish
		return r, err
	}
	defer os.RemoveAll(made)
	c, err := Open(made, 0, zerolog.Nop())
	if err != nil {
		return r, err
	}
	c.counted.Era = max(old.counted.Era, 1)
	whole, err := r.count(ctx, c, eventsDirs, progress)
	if err != nil {
		return r, err
	}
	first := whole
	if !from.IsZero() {
		first = from.Unix() / (24 * 3600)
	}
	return r, r.take(c, dir, first)
}

// count counts all events in the files, and returns the first day whose events are complete; 0: all days.
func (r *Rebuilt) count(ctx context.Context, c *Counter, dirs []string, progress Progress) (whole int64, err error) {
	var one events.Line
	err = events.ReadAll(dirs, time.Time{}, func(text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		known := one.Read(bytes.TrimSuffix(text, []byte{'\n'}))
		if known && r.Events == 0 && one.Number > 1 { // the files with earlier events were removed
			whole = hourOf(one.Ended)/24 + 1
		}
		if known && one.Number == 1 && c.counted.UpTo > 0 { // event numbers begin again
			c.counted = counted{Era: c.counted.Era + 1}
		}
		before := c.counted.UpTo
		if err := c.Count(text); err != nil {
			return err
		}
		if c.counted.UpTo > before {
			r.Events++
		}
		if r.Events%100_000 == 0 && c.today != nil {
			progress(r.Events, nameOf(c.today.number))
		}
		_, err := c.Save(len(c.days) > 4*openDays)
		return err
	})
	if err != nil {
		return 0, err
	}
	_, err = c.Save(true)
	return whole, err
}

// take replaces days by the rebuilt days.
func (r *Rebuilt) take(c *Counter, dir string, first int64) error {
	days, err := daysIn(c.dir)
	if err != nil {
		return err
	}
	old := filepath.Join(dir, "replaced-"+time.Now().UTC().Format("20060102T150405"))
	for _, number := range days {
		if number < first {
			continue
		}
		if r.To = nameOf(number); r.From == "" {
			r.From = r.To
		}
		if err := os.Mkdir(old, 0o750); err == nil {
			r.Replaced = old
		} else if !errors.Is(err, os.ErrExist) {
			return err
		}
		err := os.Rename(pathOf(dir, number), pathOf(old, number))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Rename(pathOf(c.dir, number), pathOf(dir, number)); err != nil {
			return fmt.Errorf("%w; the days that were replaced are in %s", err, old)
		}
	}
	if r.Replaced != "" && os.Remove(old) == nil { // nothing was replaced
		r.Replaced = ""
	}
	c.dir = dir
	return c.saveCounted()
}
