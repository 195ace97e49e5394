package customers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/events/statement"
	"pmg/internal/console"
)

// A StatementProgram is what the command needs of pmg.
type StatementProgram struct {
	Gateway Gateway
	JSON    func(out io.Writer, v any) error
	Table   func(left int, head []string, rows [][]string) string // left: number of left-aligned columns
}

// Statement returns the command statement.
func Statement(p StatementProgram) *cobra.Command {
	var ask func(method, path string, v any) error
	var month, connector, zone string
	var dirs []string
	var asCSV, asJSON bool
	cmd := &cobra.Command{
		Use:   "statement [ACCOUNT]",
		Short: "Show what an account was charged in a month, or what an SMSC charges",
		Long: `Shows what an account was charged in a month by country, network and price, what was given
back, its payments, and its balance at the beginning and at the end, exact to the millionth.
Without --month it is the present month up to now. With --connector it shows what an SMSC
charges for the messages that it has accepted, by the costs of the connector.

It asks a running gateway, which reads the events of the month (docs/statements.md). In a
cluster no node has all events: name directories with those of all nodes with --events.`,
		Example: "  pmg statement acme --month 2026-10\n  pmg statement acme --month 2026-10 --csv > acme.csv\n" +
			"  pmg statement --connector telia --month 2026-10\n  pmg statement acme --events a/events,b/events,c/events",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"month": {month}, "timezone": {zone}, "connector": {connector}}
			if len(args) == 1 {
				query.Set("account", args[0])
			}
			if (len(args) == 0) == (connector == "") {
				return errors.New("name an account, or an SMSC with --connector")
			}
			s, err := statementOf(cmd, ask, query, dirs)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				return p.JSON(out, s)
			case asCSV:
				return s.WriteCSV(out)
			}
			fmt.Fprintf(out, "%s\n\n", console.Plain(s.Title()))
			for _, t := range s.Tables() {
				fmt.Fprintf(out, "%s\n%s", console.Plain(t.Title), p.Table(t.Left, t.Heads, t.Rows))
			}
			return nil
		},
	}
	ask = p.Gateway(cmd)
	f := cmd.Flags()
	f.StringVar(&month, "month", "", "the `month`, such as 2026-10; the present one if not given")
	f.StringVar(&connector, "connector", "", "the out `connector` whose SMSC's costs are shown, in place of an account")
	f.StringVar(&zone, "timezone", "", "the `zone` of the month, as Europe/Stockholm; that of the account, or UTC, if not given")
	f.StringSliceVar(&dirs, "events", nil, "`directories` of events of all nodes of a cluster, which are read in place of the gateway's")
	f.BoolVar(&asCSV, "csv", false, "print CSV")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	return cmd
}

// statementOf asks the gateway for a statement, or makes it of directories of events.
func statementOf(
	cmd *cobra.Command, ask func(method, path string, v any) error, query url.Values, dirs []string,
) (*statement.Statement, error) {
	if len(dirs) == 0 {
		s := new(statement.Statement)
		return s, ask(http.MethodGet, admin.Base+"/statement?"+query.Encode(), s)
	}
	var asked admin.Ledger
	if err := ask(http.MethodGet, admin.Base+"/statement/ledger?"+query.Encode(), &asked); err != nil {
		return nil, err
	}
	return statement.Make(cmd.Context(), dirs, asked.Period, &asked.Ledger, statement.NoNames)
}
