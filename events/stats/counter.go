package stats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pmg/internal/wholefile"

	"github.com/rs/zerolog"
)

const (
	countedName = "counted"
	saveEvery   = 10 * time.Second
	// Saving takes a twentieth of the time at most, however many rows there are.
	share    = 20
	openDays = 4 // days that stay in memory when they are saved
)

// A Counter counts events. One goroutine uses it at a time.
type Counter struct {
	dir      string
	log      zerolog.Logger
	counted  counted
	days     map[int64]*day
	today    *day // day of the last event
	saveAt   time.Time
	line     line
	texts    map[string]string // names, so that equal names share memory
	keepDays int64             // files of older days are removed; 0: none is
	swept    int64             // the day of the last removal of old days
}

// counted is how far events are counted in all files.
type counted struct {
	Era  uint64 `json:"era"` // identifies the sequence of event numbers; a new era begins when the numbers begin again
	UpTo uint64 `json:"up_to"`
}

// Open opens the statistics in a directory, which is made. Files of days that are longer ago than keep are removed; 0: none is.
func Open(dir string, keep time.Duration, log zerolog.Logger) (*Counter, error) {
	c := &Counter{
		dir: dir, log: log, days: map[int64]*day{}, texts: map[string]string{}, keepDays: int64(keep / (24 * time.Hour)),
	}
	if err := wholefile.MakeDir(dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot open the statistics in %s: %w", dir, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, countedName))
	if err == nil {
		err = json.Unmarshal(b, &c.counted)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := c.findCounted(err); err != nil {
			return nil, fmt.Errorf("cannot read how far %s has counted: %w; make them again with pmg stats rebuild", dir, err)
		}
	}
	return c, nil
}

// findCounted finds out by the days how far events are counted, where the file that says so cannot be read, and puts that aside.
// Each day knows which events it has, so that all may come again.
func (c *Counter) findCounted(why error) error {
	c.counted = counted{}
	days, err := daysIn(c.dir)
	if err != nil {
		return err
	}
	for _, number := range days {
		d, err := load(c.dir, number)
		switch {
		case err != nil: // the damaged day is put aside when an event of the day comes
		case d.era > c.counted.Era:
			c.counted = counted{d.era, d.upTo}
		case d.era == c.counted.Era:
			c.counted.UpTo = max(c.counted.UpTo, d.upTo)
		}
	}
	if c.counted.Era == 1 { // the numbers have never begun again
		c.counted.UpTo = 0
	}
	path := filepath.Join(c.dir, countedName)
	if err := os.Rename(path, path+".damaged"); err != nil {
		return err
	}
	c.log.Error().Err(why).Str("moved_to", path+".damaged").
		Msg("cannot read how far events are counted; the days say so, and the events that they lack are counted now")
	return nil
}

// Counted returns the number up to which events are counted.
func (c *Counter) Counted() uint64 { return c.counted.UpTo }

// Begin is called with the number of the last event in the files of events. Then those behind Counted are to be counted.
func (c *Counter) Begin(last uint64) error {
	switch {
	case c.counted.Era == 0:
		if c.counted = (counted{1, last}); last > 0 {
			c.log.Info().Uint64("number", last).Msg("events are counted from here on; pmg stats rebuild counts those before")
		}
	case c.counted.UpTo > last:
		c.log.Warn().Uint64("counted", c.counted.UpTo).Uint64("number", last).
			Msg("the numbers of events begin again, because files of events were lost; statistics go on")
		c.counted = counted{c.counted.Era + 1, last}
	default:
		return nil
	}
	return c.saveCounted()
}

// Count counts the events of whole lines, in the order of their numbers. Those that were counted are left out. Behind an error
// Counted says where to go on.
func (c *Counter) Count(lines []byte) error {
	for len(lines) > 0 {
		one, rest, _ := bytes.Cut(lines, []byte{'\n'})
		lines = rest
		if !c.line.read(one) || c.line.number <= c.counted.UpTo { // another program may have written to the file
			continue
		}
		if err := c.add(&c.line); err != nil {
			return err
		}
		c.counted.UpTo = c.line.number
	}
	return nil
}

// add counts an event in the day in which it was accepted, and in that in which it has ended.
func (c *Counter) add(l *line) error {
	ended := cmp.Or(l.ended, l.accepted)
	if ended == 0 {
		return nil
	}
	begun := cmp.Or(l.accepted, ended)
	from, err := c.day(hourOf(begun) / 24)
	if err != nil {
		return err
	}
	to, err := c.day(hourOf(ended) / 24)
	if err != nil {
		return err
	}
	// Both days are there, and so the event is counted wholly.
	if c.isNew(from, l.number) {
		c.accepted(from, l, hourOf(begun))
	}
	if c.isNew(to, l.number) {
		c.ended(to, l, hourOf(ended), ended-begun)
	}
	return nil
}

func hourOf(micros int64) int64 { return micros / 3600e6 }

// isNew reports whether a day does not have an event yet.
func (c *Counter) isNew(d *day, number uint64) bool {
	return d.era != c.counted.Era || number > d.upTo
}

// row returns the counts for an event in an hour.
func (c *Counter) row(d *day, l *line, hour int64) *Counts {
	account, connector := l.account, l.toConnector
	if string(l.kind) == "mo" || string(l.kind) == "receipt" {
		account, connector = l.toAccount, l.connector
	}
	d.changed = true
	return d.row(key{hour, c.text(account), c.text(connector), c.text(l.network)})
}

// text returns octets as a string that is made once.
func (c *Counter) text(b []byte) string {
	if s, ok := c.texts[string(b)]; ok {
		return s
	}
	if len(c.texts) >= maxRows {
		clear(c.texts)
	}
	s := string(b)
	c.texts[s] = s
	return s
}

func (c *Counter) accepted(d *day, l *line, hour int64) {
	if string(l.kind) != "submit" || string(l.state) == "cut" {
		return
	}
	row := c.row(d, l, hour)
	row.figures[accepted]++
	if l.part <= 1 && string(l.state) != "joined" {
		row.figures[messages]++
	}
}

func (c *Counter) ended(d *day, l *line, hour, took int64) {
	switch string(l.kind) {
	case "submit":
		if string(l.state) != "cut" {
			c.submitted(c.row(d, l, hour), l, took)
		}
	case "refund":
		c.row(d, l, hour).figures[refunded] += int64(l.refund)
	case "mo":
		row := c.row(d, l, hour)
		row.figures[mo]++
		if string(l.state) == "sent" {
			row.figures[moSent]++
		} else {
			row.figures[moFailed]++
		}
	case "receipt":
		switch string(l.delivery) {
		case "delivered":
			c.row(d, l, hour).figures[delivered]++
		case "expired", "deleted", "undeliverable", "unknown", "rejected", "skipped":
			c.row(d, l, hour).figures[undelivered]++
		}
	}
}

// submitted counts how a message of a client has ended.
func (c *Counter) submitted(row *Counts, l *line, took int64) {
	f := figures
	for _, one := range []figure{sent, failed, rejected, unknown, expired, deleted, joined} {
		if figureNames[one] == string(l.state) {
			f = one
		}
	}
	if f == figures {
		return
	}
	row.figures[f]++
	row.figures[charged] += int64(l.price)
	switch f {
	case failed, rejected, unknown:
		row.addReason(c.text(l.reason), 1)
	case sent:
		row.figures[delayMS] += max(took, 0) / 1000
		for i, longer := range []int64{1e6, 10e6, 60e6, 3600e6} {
			if took > longer {
				row.figures[late1s+figure(i)]++
			}
		}
	}
}

// day returns a day.
func (c *Counter) day(number int64) (*day, error) {
	if c.today != nil && c.today.number == number {
		return c.today, nil
	}
	d := c.days[number]
	if d == nil {
		var err error
		if d, err = load(c.dir, number); errors.Is(err, errDamaged) {
			d, err = c.replaceDamaged(number, err)
		}
		if err != nil {
			return nil, err
		}
		c.days[number] = d
	}
	c.today = d
	return d, nil
}

// replaceDamaged moves the file of a day aside, so that the events of now are counted.
func (c *Counter) replaceDamaged(number int64, why error) (*day, error) {
	path := pathOf(c.dir, number)
	if err := os.Rename(path, path+".damaged"); err != nil {
		return nil, err
	}
	c.log.Error().Err(why).Str("moved_to", path+".damaged").
		Msg("the statistics of a day begin again; stop pmg, and pmg stats rebuild makes them from the events")
	return load(c.dir, number)
}

// forget drops days if there are many, which are all saved.
func (c *Counter) forget() {
	c.today = nil
	for number := range c.days {
		if len(c.days) > openDays {
			delete(c.days, number)
		}
	}
}

// Save saves what was counted, if it is time for that, or now. It returns when it is time for what is not saved; zero: all is.
// What it saves must be on the disk as events.
func (c *Counter) Save(now bool) (at time.Time, err error) {
	begun := time.Now()
	if !now && begun.Before(c.saveAt) {
		return c.saveAt, nil
	}
	err = c.save()
	c.saveAt = time.Now().Add(max(saveEvery, share*time.Since(begun)))
	if err == nil {
		c.sweep(begun.Unix() / (24 * 3600))
		return at, nil
	}
	return c.saveAt, err
}

func (c *Counter) save() error {
	for _, d := range c.days {
		if !d.changed {
			continue
		}
		d.era, d.upTo = c.counted.Era, c.counted.UpTo
		if err := d.save(c.dir); err != nil {
			return fmt.Errorf("cannot save the statistics of %s: %w", nameOf(d.number), err)
		}
	}
	if err := c.saveCounted(); err != nil {
		return err
	}
	for _, d := range c.days {
		d.changed = false
	}
	c.forget()
	return nil
}

// saveCounted saves how far events are counted, behind the days.
func (c *Counter) saveCounted() error {
	err := wholefile.SyncDir(c.dir)
	if err == nil {
		path := filepath.Join(c.dir, countedName)
		err = wholefile.Replace(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(c.counted) })
	}
	if err == nil {
		err = wholefile.SyncDir(c.dir)
	}
	if err != nil {
		return fmt.Errorf("cannot save how far events are counted: %w", err)
	}
	return nil
}

// sweep removes the files of days that are too old, once a day.
func (c *Counter) sweep(today int64) {
	if c.keepDays == 0 || c.swept == today {
		return
	}
	c.swept = today
	all, err := daysIn(c.dir)
	for _, number := range all {
		if number < today-c.keepDays {
			err = errors.Join(err, os.Remove(pathOf(c.dir, number)))
			delete(c.days, number)
		}
	}
	if err != nil {
		c.log.Warn().Err(err).Msg("cannot remove old statistics")
	}
}
