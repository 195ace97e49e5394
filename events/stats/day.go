package stats

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pmg/internal/wholefile"

	"github.com/klauspost/compress/zstd"
)

const (
	format    = 1
	suffix    = ".zst"
	dayLayout = "2006-01-02"
	// maxRows is the maximum number of rows in a day. Events without a row are then counted in a row of their hour,
	// whose account is "others".
	maxRows = 1 << 20
	others  = "(others)"
	// largestFile is the maximum number of octets in the file of a day, uncompressed.
	largestFile = 4 << 30
)

// errDamaged is the permanent error of a damaged file.
var errDamaged = errors.New("the file is damaged")

// A head is the first line of a day's file.
type head struct {
	Format int    `json:"format"`
	Day    string `json:"day"`
	Era    uint64 `json:"era"`
	UpTo   uint64 `json:"up_to"` // the day contains the events of the era with numbers up to UpTo
}

// A day contains the rows of a day.
type day struct {
	number  int64 // days since 1970, in UTC
	era     uint64
	upTo    uint64
	rows    map[key]*Counts
	most    int  // maximum number of rows
	changed bool // the day has changed since it was saved
}

func nameOf(number int64) string {
	return time.Unix(number*24*3600, 0).UTC().Format(dayLayout)
}

func pathOf(dir string, number int64) string { return filepath.Join(dir, nameOf(number)+suffix) }

// dayOf returns the day of a file's name.
func dayOf(file string) (number int64, ok bool) {
	name, ok := strings.CutSuffix(file, suffix)
	if !ok {
		return 0, false
	}
	t, err := time.Parse(dayLayout, name)
	return t.Unix() / (24 * 3600), err == nil
}

// row returns the counts of a key, which it adds if they are missing.
func (d *day) row(k key) *Counts {
	if c := d.rows[k]; c != nil {
		return c
	}
	if len(d.rows) >= d.most {
		k = key{hour: k.hour, account: others}
		if c := d.rows[k]; c != nil {
			return c
		}
	}
	c := &Counts{}
	d.rows[k] = c
	return c
}

// load reads the file of a day. Without a file the day has no rows.
func load(dir string, number int64) (*day, error) {
	d := &day{number: number, rows: map[key]*Counts{}, most: maxRows}
	path := pathOf(dir, number)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := readDay(f, number, func(k key, c *Counts) error {
		d.rows[k] = c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	d.era, d.upTo = h.Era, h.UpTo
	return d, nil
}

// readDay reads the file of a day, and calls f for each row.
func readDay(file io.Reader, number int64, f func(key, *Counts) error) (h head, err error) {
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return h, err
	}
	defer z.Close()
	lines := json.NewDecoder(io.LimitReader(bufio.NewReaderSize(z, 64<<10), largestFile))
	if err := lines.Decode(&h); err != nil {
		return h, damaged(err)
	}
	if h.Format != format || h.Day != nameOf(number) {
		return h, fmt.Errorf("the file has format %d and day %q, not %d and %q", h.Format, h.Day, format, nameOf(number))
	}
	for {
		var r record
		if err := lines.Decode(&r); err == io.EOF {
			return h, nil
		} else if err != nil {
			return h, damaged(err)
		}
		k, c, err := r.row(number)
		if err != nil {
			return h, err
		}
		if err := f(k, c); err != nil {
			return h, err
		}
	}
}

// damaged wraps a read error as errDamaged, unless the disk has failed.
func damaged(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// save writes the file of a day, completely or not at all.
func (d *day) save(dir string) error {
	return wholefile.Replace(pathOf(dir, d.number), func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			return err
		}
		lines := json.NewEncoder(z)
		err = lines.Encode(head{Format: format, Day: nameOf(d.number), Era: d.era, UpTo: d.upTo})
		for _, k := range d.keys() {
			if err != nil {
				break
			}
			err = lines.Encode(recordOf(k, d.rows[k]))
		}
		return errors.Join(err, z.Close())
	})
}

// keys returns the keys of the rows in a fixed order.
func (d *day) keys() []key {
	all := make([]key, 0, len(d.rows))
	for k := range d.rows {
		all = append(all, k)
	}
	slices.SortFunc(all, compare)
	return all
}
