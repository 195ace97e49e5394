package whatif

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/events/stats"
	"pmg/internal/console"
	"pmg/internal/figuretext"
	"pmg/sms"
)

// A Program is what the command needs of pmg.
type Program struct {
	Load    ask.Load
	Drivers Drivers
	JSON    func(out io.Writer, v any) error
	Table   func(left int, head []string, rows [][]string) string // left: number of left-aligned columns
}

// Command returns the command whatif.
func Command(p Program) *cobra.Command {
	var file string
	var days stats.Days
	var q Question
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whatif",
		Short: "Try a configuration on messages that were sent: routes, costs, prices, refusals",
		Long: `Passes the messages of events through the networks, lists, routes, prices and costs of a
configuration that is not in force, and shows messages, prices, costs and margins before and
after by SMSC, network and account, and which messages would have been refused.

Before is what the events say. Nothing is sent, and no gateway is needed. A text is not in
events, so that rules about texts, rates, plugins and quiet hours are left out; which targets
were up is not known: all count as up. It reads the events of events.dir of the configuration,
or of --events, of the last 30 days without --day, --month, --from and --to.`,
		Example: "  pmg whatif -c new.yaml --month 2026-10\n  pmg whatif -c new.yaml --account acme --from 2026-11-01\n" +
			"  pmg whatif -c new.yaml --events /var/lib/pmg/events --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if q.Config, err = p.Load(io.Discard, file); err != nil {
				return err
			}
			if len(q.Dirs) == 0 {
				if q.Config.Events.Dir == "" {
					return errors.New("the configuration has no events.dir: name the directory with --events")
				}
				q.Dirs = []string{q.Config.Events.Dir}
			}
			if q.From, q.To, err = days.Period(time.Now()); err != nil {
				return err
			}
			q.Drivers = p.Drivers
			q.Progress = progressTo(cmd.ErrOrStderr())
			a, err := Try(cmd.Context(), q)
			if err != nil {
				return err
			}
			if asJSON {
				return p.JSON(cmd.OutOrStdout(), a)
			}
			return a.write(cmd.OutOrStdout(), p.Table)
		},
	}
	ask.Flag(cmd, &file)
	f := cmd.Flags()
	f.StringVar(&q.Account, "account", "", "only messages of this account")
	f.StringSliceVar(&q.Dirs, "events", nil, "`directories` of events, in place of the configuration's events.dir")
	f.StringVar(&days.Day, "day", "", "only this `day`: 2026-11-27, today or yesterday")
	f.StringVar(&days.Month, "month", "", "only this `month`: 2026-11")
	f.StringVar(&days.From, "from", "", "only from this `day` on")
	f.StringVar(&days.To, "to", "", "only up to this `day`, it included")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// progressTo returns a function that says every two seconds how far it is.
func progressTo(out io.Writer) func(n int64) {
	said := time.Now()
	return func(n int64) {
		if time.Since(said) > 2*time.Second {
			said = time.Now()
			fmt.Fprintf(out, "%s events\n", figuretext.Number(n))
		}
	}
}

// heads are the heads of the columns behind the name.
func heads(name string) []string {
	return []string{name, "before", "after", "price before", "after", "cost before", "after", "margin before", "after"}
}

func (r *Row) cells() []string {
	name := r.Name
	if name == "" {
		name = "-"
	}
	all := []string{console.Plain(name), figuretext.Number(r.Before.Messages), figuretext.Number(r.After.Messages)}
	for _, both := range [][2]sms.Money{
		{r.Before.Price, r.After.Price}, {r.Before.Cost, r.After.Cost}, {r.Before.Margin, r.After.Margin},
	} {
		all = append(all, both[0].String(), both[1].String())
	}
	return all
}

// write writes an answer as text.
func (a *Answer) write(out io.Writer, table func(left int, head []string, rows [][]string) string) error {
	fmt.Fprintf(
		out, "Messages from %s to %s that were sent; %s of them would have gone another way\n\n", a.From.Format("2006-01-02"),
		a.To.Add(-time.Nanosecond).Format("2006-01-02"), figuretext.Number(a.Moved),
	)
	for _, t := range []struct {
		name string
		rows []Row
	}{{"SMSC", a.Routes}, {"network", a.Networks}, {"account", a.Accounts}} {
		var rows [][]string
		for i := range t.rows {
			rows = append(rows, t.rows[i].cells())
		}
		fmt.Fprintln(out, table(1, heads(t.name), append(rows, a.Total.cells())))
	}
	if len(a.Refused) == 0 {
		_, err := fmt.Fprintln(out, "none would have been refused")
		return err
	}
	var rows [][]string
	for _, r := range a.Refused {
		rows = append(rows, []string{
			console.Plain(r.Reason), console.Plain(r.Example), figuretext.Number(r.Messages), r.Price.String(),
		})
	}
	_, err := fmt.Fprint(out, table(2, []string{"would have been refused", "such as to", "messages", "price"}, rows))
	return err
}
