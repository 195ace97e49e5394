package files

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/events/stats"
)

// A StatisticsProgram is what the command needs of pmg.
type StatisticsProgram struct {
	Load  ask.Load
	JSON  func(out io.Writer, v any) error
	Table func(left int, head []string, rows [][]string) string // left: number of left-aligned columns
}

type options struct {
	StatisticsProgram
	config, dir string
	days        stats.Days
	query       stats.Query
	csv, json   bool
}

// Statistics returns the command stats.
func Statistics(p StatisticsProgram) *cobra.Command {
	o := &options{StatisticsProgram: p}
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
	ask.Flag(cmd, &o.config)
	f.StringVar(&o.dir, "dir", "", "`directory` of the statistics, instead of the configuration's")
	f.StringSliceVar(&o.query.By, "by", []string{"day"}, "rows are made for these: "+strings.Join(stats.Groups(), ", "))
	f.StringVar(&o.days.Day, "day", "", "only this `day`: 2026-11-27, today or yesterday")
	f.StringVar(&o.days.Month, "month", "", "only this `month`: 2026-11")
	f.StringVar(&o.days.From, "from", "", "only from this `day` on")
	f.StringVar(&o.days.To, "to", "", "only up to this `day`, it included")
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

func (o *options) show(cmd *cobra.Command) error {
	o.query.Costs = true
	if err := o.days.Of(&o.query, time.Now()); err != nil {
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
		return o.JSON(out, stats.Objects(o.query.By, rows))
	case o.csv:
		return stats.WriteCSV(out, &o.query, rows)
	case len(rows) == 0:
		_, err = fmt.Fprintln(out, "nothing was counted")
		return err
	}
	table, cells := stats.TableOf(&o.query, rows, 0, false), [][]string{}
	for _, row := range table.Rows {
		cells = append(cells, row.Cells)
	}
	_, err = fmt.Fprint(out, o.Table(len(o.query.By), table.Heads, cells))
	return err
}

func rebuildCommand(p StatisticsProgram) *cobra.Command {
	var file, from, dir string
	var all []string
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the statistics again from the events that are there",
		Long: `Counts all events in events.dir, and replaces the files of days in stats.dir by what was
counted. It needs a gateway that does not run. Days from the first on of which all events
are there are replaced; earlier ones stay as they are, as do those before --from. The files
that were replaced are moved to a directory in stats.dir, which may be removed later.

With --events and --dir it makes the statistics of a cluster, from copies of the directories
of events of all nodes: an event that two nodes have written counts once.`,
		Example: "  pmg stats rebuild\n  pmg stats rebuild --from 2026-11-01\n" +
			"  pmg stats rebuild --events a,b,c --dir together && pmg stats --dir together",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			first, err := stats.DayOf(from, time.Now())
			if err != nil {
				return err
			}
			if len(all) == 0 {
				cfg, err := p.Load(cmd.ErrOrStderr(), file)
				if err != nil {
					return err
				}
				if cfg.Stats.Dir == "" {
					return errors.New("the configuration has no stats.dir: set it and events.dir")
				}
				all, dir = []string{cfg.Events.Dir}, cfg.Stats.Dir
			}
			said := time.Now()
			r, err := stats.Rebuild(cmd.Context(), all, dir, first, func(n int64, day string) {
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
	ask.Flag(cmd, &file)
	cmd.Flags().StringVar(&from, "from", "", "only from this `day` on, such as 2026-11-01")
	cmd.Flags().StringSliceVar(&all, "events", nil, "`directories` of events of all nodes, instead of the configuration's")
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` of the statistics that are made of --events")
	cmd.MarkFlagsRequiredTogether("events", "dir")
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
		_, err = fmt.Fprintf(out, "the earlier files are in %s\n", r.Replaced)
	}
	return err
}
