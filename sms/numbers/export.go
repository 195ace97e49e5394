package numbers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"pmg/internal/sheet"
)

// exported are the columns of an export. A list can be made of it, because its reader takes the first one alone.
var exported = []string{"number", "on", "since", "source", "who", "id", "reason"}

// WriteCSV writes the list with its changes as a table: what is on it, and the removed ones if removed. show returns what is
// written of an origin; nil: all. WriteCSV needs memory only for the numbers that have changed more than once. An error of the
// context means that the table is not complete.
func (l *List) WriteCSV(ctx context.Context, to io.Writer, removed bool, show func(Origin) Origin) error {
	out := bufio.NewWriter(to)
	var row []byte
	write := func(cells ...string) error {
		row = sheet.AppendRow(row[:0], cells...)
		_, err := out.Write(row)
		return err
	}
	err := write(exported...)
	if err == nil {
		err = l.Each(ctx, removed, func(c Change) error {
			if show != nil {
				c.Origin = show(c.Origin)
			}
			on, since := "no", ""
			if c.On {
				on = "yes"
			}
			if !c.At.IsZero() {
				since = c.At.Format(time.RFC3339)
			}
			return write(c.Entry, on, since, string(c.Source), c.Who, c.ID, c.Reason)
		})
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("cannot export list %s: %w", l.Path(), err)
	}
	return nil
}
