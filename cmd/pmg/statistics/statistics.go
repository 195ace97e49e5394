// Package statistics has the command pmg stats, which shows the statistics by day.
//
// # Start reading
//
// Command.
package statistics

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/find"
	"pmg/config"
	"pmg/stats"
)

// A Program is what the command needs of pmg.
type Program struct {
	Load  func(warnings io.Writer, file string) (*config.Config, error)
	JSON  func(out io.Writer, v any) error
	Table func(left int, head []string, rows [][]string) string // left: how many columns begin at their left
}

// usual is how many days are shown where none are named.
const usual = 30

type options struct {
	Program
	config, dir          string
	day, month, from, to string
	query                stats.Query
	csv, json            bool
}

// Command returns the command stats.
func Command(p Program) *cobra.Command {
	o := &options{Program: p}
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what was accepted, sent and delivered, by day, account, connector and network",
		Long: `Shows sums of the events of all days: messages of clients, what became of them, what
receipts say, and messages from mobiles. The gateway makes them with stats.dir set, and
saves them about every ten seconds. It needs no running gateway.

A message counts when it has ended: as accepted in the hour in which it was accepted,
and as sent, failed and so on in that in which it has ended. docs/stats.md says what
each figure counts. Hours, days and months are those of UTC.

Without --day, --month, --from and --to it shows the last 30 days.`,
		Example: `  pmg stats                                        # by day
  pmg stats --by account --month 2026-10
  pmg stats --by hour --day 2026-11-27 --connector operator
  pmg stats --by day,account,network --from 2026-11-01 --csv > november.csv
  pmg stats --by account --json | jq '.[] | {account, delivered}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.show(cmd) },
	}
	f := cmd.Flags()
	find.Flag(cmd, &o.config)
	f.StringVar(&o.dir, "dir", "", "`directory` of the statistics, instead of the configuration's")
	f.StringSliceVar(&o.query.By, "by", []string{"day"}, "rows are made for these: "+strings.Join(stats.Groups(), ", "))
	f.StringVar(&o.day, "day", "", "only this `day`: 2026-11-27, today or yesterday")
	f.StringVar(&o.month, "month", "", "only this `month`: 2026-11")
	f.StringVar(&o.from, "from", "", "only from this `day` on")
	f.StringVar(&o.to, "to", "", "only up to this `day`, it included")
	f.StringVar(&o.query.Account, "account", "", "only this account")
	f.StringVar(&o.query.Connector, "connector", "", "only this connector to an SMSC")
	f.StringVar(&o.query.Network, "network", "", "only this network")
	f.BoolVar(&o.csv, "csv", false, "print all figures as CSV")
	f.BoolVar(&o.json, "json", false, "print all figures, and the reasons of failures, as JSON")
	cmd.MarkFlagsMutuallyExclusive("dir", "config")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	for _, other := range []string{"month", "from", "to"} {
		cmd.MarkFlagsMutuallyExclusive("day", other)
	}
	cmd.MarkFlagsMutuallyExclusive("month", "from")
	cmd.MarkFlagsMutuallyExclusive("month", "to")
	cmd.AddCommand(rebuildCommand(p))
	return cmd
}

// dates sets the days of the query.
func (o *options) dates(now time.Time) (err error) {
	q := &o.query
	switch {
	case o.day != "":
		q.From, err = dayOf(o.day, now)
		q.To = q.From
	case o.month != "":
		if q.From, err = time.Parse("2006-01", o.month); err != nil {
			return fmt.Errorf("cannot read the month %q: it is written like 2026-11", o.month)
		}
		q.To = q.From.AddDate(0, 1, -1)
	case o.from == "" && o.to == "":
		q.From = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usual)
	default:
		if q.From, err = dayOf(o.from, now); err == nil {
			q.To, err = dayOf(o.to, now)
		}
	}
	return err
}

// dayOf reads a day. "" is none.
func dayOf(text string, now time.Time) (time.Time, error) {
	today := now.UTC().Truncate(24 * time.Hour)
	switch text {
	case "":
		return time.Time{}, nil
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	t, err := time.Parse("2006-01-02", text)
	if err != nil {
		return t, fmt.Errorf("cannot read the day %q: it is written like 2026-11-27, or is today or yesterday", text)
	}
	return t, nil
}

func (o *options) show(cmd *cobra.Command) error {
	if err := o.dates(time.Now()); err != nil {
		return err
	}
	if err := o.query.Check(); err != nil {
		return err
	}
	if o.dir == "" {
		cfg, err := o.Load(io.Discard, o.config)
		if err != nil {
			return err
		}
		if o.dir = cfg.Stats.Dir; o.dir == "" {
			return errors.New("the configuration has no stats.dir, so nothing is counted: set it and events.dir, and restart pmg")
		}
	}
	rows, err := stats.Read(cmd.Context(), o.dir, o.query)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch {
	case o.json:
		return o.JSON(out, objects(o.query.By, rows))
	case o.csv:
		return writeCSV(out, o.query.By, rows)
	case len(rows) == 0:
		_, err = fmt.Fprintln(out, "nothing was counted")
		return err
	}
	_, err = fmt.Fprint(out, o.Table(len(o.query.By), append(slices.Clone(o.query.By), heads()...), cells(o.query.By, rows)))
	return err
}

// objects returns rows for JSON.
func objects(by []string, rows []stats.Row) []map[string]any {
	all := make([]map[string]any, len(rows))
	for i := range rows {
		r := &rows[i]
		one := map[string]any{}
		for g, name := range by {
			one[name] = r.Values[g]
		}
		for _, name := range stats.Figures() {
			one[name] = r.Figure(name)
		}
		if one["reasons"] = r.Reasons(); r.Reasons() == nil {
			delete(one, "reasons")
		}
		all[i] = one
	}
	return all
}

// writeCSV writes all figures of rows.
func writeCSV(out io.Writer, by []string, rows []stats.Row) error {
	w := csv.NewWriter(out)
	err := w.Write(append(slices.Clone(by), stats.Figures()...))
	for i := range rows {
		line := slices.Clone(rows[i].Values)
		for _, name := range stats.Figures() {
			line = append(line, strconv.FormatInt(rows[i].Figure(name), 10))
		}
		err = errors.Join(err, w.Write(line))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

// A column is one of the table.
type column struct {
	head string
	of   func(*stats.Counts) string
}

// columns returns the columns behind those of the groups.
func columns() (all []column) {
	for _, name := range []string{
		"messages", "accepted", "sent", "delivered", "undelivered", "failed", "rejected", "unknown", "expired", "deleted",
	} {
		all = append(all, column{name, func(c *stats.Counts) string { return strconv.FormatInt(c.Figure(name), 10) }})
	}
	return append(all, column{"delay", delay}, column{"mo", func(c *stats.Counts) string {
		return strconv.FormatInt(c.Figure("mo"), 10)
	}})
}

// delay returns the mean time from acceptance to the SMSC's answer.
func delay(c *stats.Counts) string {
	if c.Figure("sent") == 0 {
		return "-"
	}
	return (time.Duration(c.Figure("delay_ms")/c.Figure("sent")) * time.Millisecond).String()
}

func heads() (all []string) {
	for _, c := range columns() {
		all = append(all, c.head)
	}
	return all
}

// cells returns the table's rows, and one with their sum below more than one.
func cells(by []string, rows []stats.Row) (all [][]string) {
	total := stats.Row{Values: make([]string, len(by))}
	if len(by) > 0 {
		total.Values[0] = "total"
	}
	for i := range rows {
		total.Add(&rows[i].Counts)
	}
	if len(rows) > 1 {
		rows = append(slices.Clip(rows), total)
	}
	for i := range rows {
		var line []string
		for _, v := range rows[i].Values {
			if v == "" {
				v = "-"
			}
			line = append(line, v)
		}
		for _, c := range columns() {
			line = append(line, c.of(&rows[i].Counts))
		}
		all = append(all, line)
	}
	return all
}

func rebuildCommand(p Program) *cobra.Command {
	var file, from string
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the statistics again from the events that are there",
		Long: `Counts all events in events.dir, and replaces the files of days in stats.dir by what was
counted. It needs a gateway that does not run. Days from the first on of which all events
are there are replaced; earlier ones stay as they are, as do those before --from. The files
that were replaced are moved to a directory in stats.dir, which may be removed later.`,
		Example: "  pmg stats rebuild\n  pmg stats rebuild --from 2026-11-01",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			first, err := dayOf(from, time.Now())
			if err != nil {
				return err
			}
			cfg, err := p.Load(cmd.ErrOrStderr(), file)
			if err != nil {
				return err
			}
			if cfg.Stats.Dir == "" {
				return errors.New("the configuration has no stats.dir: set it and events.dir")
			}
			said := time.Now()
			r, err := stats.Rebuild(cmd.Context(), cfg.Events.Dir, cfg.Stats.Dir, first, func(n int64, day string) {
				if time.Since(said) > time.Second {
					said = time.Now()
					fmt.Fprintf(cmd.ErrOrStderr(), "%d events, up to %s\n", n, day)
				}
			})
			if err != nil {
				return err
			}
			return tell(cmd.OutOrStdout(), r)
		},
	}
	find.Flag(cmd, &file)
	cmd.Flags().StringVar(&from, "from", "", "only from this `day` on, such as 2026-11-01")
	return cmd
}

// tell says what a rebuild has done.
func tell(out io.Writer, r stats.Rebuilt) error {
	if r.From == "" {
		_, err := fmt.Fprintf(out, "%d events were counted, and no day was replaced\n", r.Events)
		return err
	}
	_, err := fmt.Fprintf(out, "%d events were counted; the days from %s to %s were made again\n", r.Events, r.From, r.To)
	if r.Replaced != "" {
		_, err = fmt.Fprintf(out, "the files of before are in %s\n", r.Replaced)
	}
	return err
}
