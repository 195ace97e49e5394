package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	_ "time/tzdata" // for the option timezone where the machine has no table of zones

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/cmd/pmg/check"
	"pmg/cmd/pmg/customers"
	"pmg/cmd/pmg/dev"
	"pmg/cmd/pmg/files"
	"pmg/cmd/pmg/help"
	"pmg/cmd/pmg/member"
	"pmg/cmd/pmg/migrate"
	"pmg/cmd/pmg/probe"
	"pmg/cmd/pmg/webhooks"
	"pmg/cmd/pmg/whatif"
	"pmg/config"
)

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "pmg:", err)
		os.Exit(exitStatus(err))
	}
}

// exitSoftware is the exit status of a gateway that failed: EX_SOFTWARE of sysexits.h. A
// supervisor should start pmg again.
const exitSoftware = 70

// An exitError is an error with its own exit status.
type exitError struct {
	error
	status int
}

func (e exitError) Unwrap() error { return e.error }

func exitStatus(err error) int {
	if e := (exitError{}); errors.As(err, &e) {
		return e.status
	}
	return 1
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "pmg",
		Short: "An SMS protocol gateway",
		Long: "pmg accepts messages from clients of SMPP, UCP and HTTP, routes them, forwards them to " +
			"SMSCs,\nand logs every PDU.\n\nThe exit status is 0 when the command succeeded, and 1 when it failed or " +
			"found a\nproblem: the reason is on standard error. That of serve may also be 70 or 75, see its\nhelp. " +
			"\"pmg help WORD\" finds commands and options of the configuration that have a word.",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	addGroups(root)
	root.AddCommand(newVersionCommand(), help.Manual("pmg"))
	help.ExplainUnknown(root)
	help.AddSearch(root, findable)
	ask.Names{Config: namedConfig, Sessions: sessionNamesOf}.Add(root)
	help.Arrange(root)
	return root
}

// addGroups adds the commands in the groups of the help.
func addGroups(root *cobra.Command) {
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start", []*cobra.Command{
			dev.Command(startTrial), newConfigCommand(), migrate.Command(protocolNames()), newTLSCommand(),
			newServeCommand(), newReloadCommand(), customers.Admin(),
		}},
		{"Look", []*cobra.Command{
			newStatusCommand(), newSessionsCommand(), newTraceCommand(), newLogCommand(), newExplainCommand(), newPDUCommand(),
			whatif.Command(whatif.Program{Load: loadQuietly, Drivers: newDriver, JSON: writeJSON, Table: rowsText}),
			files.Statistics(files.StatisticsProgram{Load: loadQuietly, JSON: writeJSON, Table: rowsText}),
			check.Networks(loadQuietly), newStagesCommand(),
		}},
		{"Act", []*cobra.Command{
			newKickCommand(), newHoldCommand(), newReleaseCommand(), newConnectCommand(), newQueueCommand(),
			webhooks.Command(webhooksProgram()), check.Plugins(loadQuietly), newStoreCommand(), member.Command(loadQuietly),
			newMailCommand(),
		}},
		{"Customers", []*cobra.Command{
			customers.Account(), customers.Credit(moneyGateway),
			customers.Statement(customers.StatementProgram{Gateway: moneyGateway, JSON: writeJSON, Table: rowsText}),
			customers.Price(), check.Lists(loadQuietly), files.Forget(forgetProgram()), newTextsCommand(),
		}},
		{"Test", []*cobra.Command{
			probe.Command(sessionNames(), newSessionDriver), newReplayCommand(), check.Profiles(),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, one := range g.commands {
			one.GroupID = g.title
			root.AddCommand(one)
		}
	}
}

// moneyGateway returns a function that sends requests about the money of accounts to a gateway.
func moneyGateway(cmd *cobra.Command) func(method, path string, v any) error {
	o := new(statusOptions)
	o.flags(cmd)
	return func(method, path string, v any) error {
		if err := o.find(cmd); err != nil {
			return err
		}
		return askAdmin(cmd.Context(), &o.Gateway, method, path, v)
	}
}

// slowTimeout is longer than a call of a webhook, or a test of mail, can take.
const slowTimeout = 25 * time.Second

// slowGateway returns a function that sends requests to a gateway whose answers depend on servers of others.
func slowGateway(cmd *cobra.Command) webhooks.Ask {
	o := new(statusOptions)
	o.flags(cmd)
	return func(method, path string, v any) error {
		if err := o.find(cmd); err != nil {
			return err
		}
		return o.JSON(cmd.Context(), slowTimeout, method, path, v)
	}
}

// webhooksProgram returns the functions of this package that pmg webhooks uses.
func webhooksProgram() webhooks.Program {
	return webhooks.Program{Gateway: slowGateway, JSON: writeJSON, Table: rowsText}
}

// rowsText returns a table, whose first columns are left-aligned.
func rowsText(left int, head []string, rows [][]string) string {
	t := newTable(left, head...)
	for _, row := range rows {
		t.add(row...)
	}
	return tableText(t)
}

// forgetTimeout is the time limit for a gateway that rewrites its logs.
const forgetTimeout = time.Hour

// forgetProgram returns the functions of this package that pmg forget uses.
func forgetProgram() files.ForgetProgram {
	return files.ForgetProgram{
		Gateway: func(cmd *cobra.Command) func() (files.Ask, *config.Config, error) {
			o := new(statusOptions)
			o.flags(cmd)
			return func() (files.Ask, *config.Config, error) { return findForgetting(cmd, o) }
		},
		Driver: newLogProtocols().find,
		JSON:   writeJSON,
	}
}

// findForgetting returns a function that sends requests to the gateway, or the configuration if the gateway does not run.
func findForgetting(cmd *cobra.Command, o *statusOptions) (files.Ask, *config.Config, error) {
	ask := func(ctx context.Context, method, path string, v any) error {
		return o.JSON(ctx, forgetTimeout, method, path, v)
	}
	if o.Address != "" {
		return ask, nil, nil
	}
	cfg, err := loadConfig(io.Discard, o.config)
	if err != nil {
		return nil, nil, err
	}
	if o.Runs(cmd.Context(), statusTimeout, cfg, o.config) {
		return ask, nil, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "no gateway that runs with %s answers, so this reads its files\n", o.config)
	return nil, cfg, nil
}
