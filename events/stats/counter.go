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

	"pmg/events"
)

const (
	countedName = "counted"
	saveEvery   = 10 * time.Second
	// Saving takes at most a twentieth of the time, however many rows there are.
	share    = 20
	openDays = 4 // days that stay in memory after they are saved
)

// A Counter counts events. One goroutine uses it at a time.
type Counter struct {
	dir      string
	log      zerolog.Logger
	counted  counted
	days     map[int64]*day
	today    *day // day of the last event
	saveAt   time.Time
	line     events.Line
	texts    map[string]string // names, so that equal names share memory
	keepDays int64             // the age in days at which files are removed; 0: never
	swept    int64             // the day of the last removal of old days
}

// counted is the number up to which events are counted in all files.
type counted struct {
	Era  uint64 `json:"era"` // identifies the sequence of event numbers; a new era begins when the numbers begin again
	UpTo uint64 `json:"up_to"`
}

// Open opens the statistics in a directory, and creates it if it is missing. It removes files of days older than
// keep; 0: none.
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
			return nil, fmt.Errorf("cannot read the last number counted in %s: %w; try pmg stats rebuild", dir, err)
		}
	}
	return c, nil
}

// findCounted puts the unreadable file counted aside, and restores the number from the files of days. Each day
// records the events that it contains, so that counting an event again does no harm.
func (c *Counter) findCounted(why error) error {
	c.counted = counted{}
	days, err := daysIn(c.dir)
	if err != nil {
		return err
	}
	for _, number := range days {
		d, err := load(c.dir, number)
		switch {
		case err != nil: // the damaged day is put aside when one of its events comes
		case d.era > c.counted.Era:
			c.counted = counted{d.era, d.upTo}
		case d.era == c.counted.Era:
			c.counted.UpTo = max(c.counted.UpTo, d.upTo)
		}
	}
	if c.counted.Era == 1 { // event numbers have not begun again
		c.counted.UpTo = 0
	}
	path := filepath.Join(c.dir, countedName)
	if err := os.Rename(path, path+".damaged"); err != nil {
		return err
	}
	c.log.Error().Err(why).Str("moved_to", path+".damaged").
		Msg("cannot read the number of the last counted event; the missing events are counted now")
	return nil
}

// Counted returns the number up to which events are counted.
func (c *Counter) Counted() uint64 { return c.counted.UpTo }

// Begin is called with the number of the last event in the files of events. It counts nothing: the caller then passes
// the events above Counted to Count.
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

// Count counts the events of whole lines, in the order of their numbers, and omits those already counted. After an
// error, counting continues above Counted.
func (c *Counter) Count(lines []byte) error {
	for len(lines) > 0 {
		one, rest, _ := bytes.Cut(lines, []byte{'\n'})
		lines = rest
		if !c.line.Read(one) || c.line.Number <= c.counted.UpTo { // another program may have written to the file
			continue
		}
		if err := c.add(&c.line); err != nil {
			return err
		}
		c.counted.UpTo = c.line.Number
	}
	return nil
}

// add counts an event in the day on which its message was accepted, and in the day on which it ended.
func (c *Counter) add(l *events.Line) error {
	ended := cmp.Or(l.Ended, l.Accepted)
	if ended == 0 {
		return nil
	}
	begun := cmp.Or(l.Accepted, ended)
	from, err := c.day(hourOf(begun) / 24)
	if err != nil {
		return err
	}
	to, err := c.day(hourOf(ended) / 24)
	if err != nil {
		return err
	}
	// Both days are loaded, so the event is counted in both or in neither.
	if c.isNew(from, l.Number) {
		c.accepted(from, l, hourOf(begun))
	}
	if c.isNew(to, l.Number) {
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
func (c *Counter) row(d *day, l *events.Line, hour int64) *Counts {
	account, connector := l.Account, l.ToConnector
	if string(l.Kind) == "mo" || string(l.Kind) == "receipt" {
		account, connector = l.ToAccount, l.Connector
	}
	d.changed = true
	return d.row(key{hour, c.text(account), c.text(connector), c.text(l.Network)})
}

// text returns octets as a string, the same one for equal octets.
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

func (c *Counter) accepted(d *day, l *events.Line, hour int64) {
	if string(l.Kind) != "submit" || string(l.State) == "cut" {
		return
	}
	row := c.row(d, l, hour)
	row.figures[accepted]++
	if l.Part <= 1 && string(l.State) != "joined" {
		row.figures[messages]++
	}
}

func (c *Counter) ended(d *day, l *events.Line, hour, took int64) {
	switch string(l.Kind) {
	case "submit":
		if string(l.State) != "cut" {
			c.submitted(c.row(d, l, hour), l, took)
		}
	case "refund":
		c.row(d, l, hour).figures[refunded] += int64(l.Refund)
	case "mo":
		row := c.row(d, l, hour)
		row.figures[mo]++
		if string(l.State) == "sent" {
			row.figures[moSent]++
		} else {
			row.figures[moFailed]++
		}
	case "receipt":
		switch string(l.Delivery) {
		case "delivered":
			c.row(d, l, hour).figures[delivered]++
		case "expired", "deleted", "undeliverable", "unknown", "rejected", "skipped":
			c.row(d, l, hour).figures[undelivered]++
		}
	}
}

// submitted counts the end of a client's message.
func (c *Counter) submitted(row *Counts, l *events.Line, took int64) {
	f := figures
	for _, one := range []figure{sent, failed, rejected, unknown, expired, deleted, joined} {
		if figureNames[one] == string(l.State) {
			f = one
		}
	}
	if f == figures {
		return
	}
	row.figures[f]++
	row.figures[charged] += int64(l.Price)
	row.figures[cost] += int64(l.Cost)
	switch f {
	case failed, rejected, unknown:
		row.addReason(c.text(l.Reason), 1)
	case sent:
		row.figures[delayMS] += max(took, 0) / 1000
		for i, longer := range []int64{1e6, 10e6, 60e6, 3600e6} {
			if took > longer {
				row.figures[late1s+figure(i)]++
			}
		}
	}
}

// day returns a day, and loads its file if there is one.
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

// replaceDamaged puts the damaged file of a day aside, so that new events can be counted.
func (c *Counter) replaceDamaged(number int64, why error) (*day, error) {
	path := pathOf(c.dir, number)
	if err := os.Rename(path, path+".damaged"); err != nil {
		return nil, err
	}
	c.log.Error().Err(why).Str("moved_to", path+".damaged").
		Msg("the statistics of a day begin again; stop pmg, and pmg stats rebuild makes them from the events")
	return load(c.dir, number)
}

// forget drops some days from memory if there are many. All must be saved.
func (c *Counter) forget() {
	c.today = nil
	for number := range c.days {
		if len(c.days) > openDays {
			delete(c.days, number)
		}
	}
}

// Save saves the counts if a save is due, or immediately with now. It returns the time of the next save; zero:
// everything is saved. All counted events must be safe in the files of events.
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

// saveCounted saves the number of the last counted event, after the days.
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
		return fmt.Errorf("cannot save the number of the last counted event: %w", err)
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
