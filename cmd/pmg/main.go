package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker: make build.
var version = "development"

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "pmg:", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "pmg",
		Short:         "An SMS protocol gateway",
		Long:          "pmg takes messages from SMPP clients, routes them and forwards them to SMS\ncentres, and logs every PDU on the way.\n\nThe exit status is 0 when all went well, and 1 when something did not: the reason\nis on standard error.",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newServeCommand(),
		newDemoCommand(),
		newLoadCommand(),
		newSinkCommand(),
		newBenchCommand(),
		newLogCommand(),
		newConfigCommand(),
		newStatusCommand(),
		newStagesCommand(),
		newPDUCommand(),
	)
	for _, group := range root.Commands() {
		if group.HasSubCommands() && !group.Runnable() { // with something to run, cobra tells of an unknown subcommand
			group.Args = cobra.NoArgs
			group.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}
