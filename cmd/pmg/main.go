package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "pmg:", err)
		os.Exit(exitStatus(err))
	}
}

// exitSoftware is the exit status of a gateway that could not go on: EX_SOFTWARE of
// sysexits.h, by which a supervisor knows that a restart may help.
const exitSoftware = 70

// An exitError is an error with an exit status of its own.
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
		Use:           "pmg",
		Short:         "An SMS protocol gateway",
		Long:          "pmg takes messages from SMPP clients, routes them and forwards them to SMS\ncentres, and logs every PDU on the way.\n\nThe exit status is 0 when all went well, and 1 when something did not: the reason\nis on standard error. That of serve may also be 70 or 75, see its help.",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newServeCommand(),
		newReloadCommand(),
		newDemoCommand(),
		newLoadCommand(),
		newSinkCommand(),
		newLogCommand(),
		newConfigCommand(),
		newStatusCommand(),
		newSessionsCommand(),
		newKickCommand(),
		newTraceCommand(),
		newStagesCommand(),
		newPDUCommand(),
		newVersionCommand(),
	)
	explainUnknown(root)
	completeValues(root)
	return root
}
