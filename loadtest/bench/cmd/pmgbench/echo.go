package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
)

// newEchoCommand returns the command that runs the echo server, whose latency is compared
// with the gateway's.
func newEchoCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "echo",
		Short:  "Answer requests of the size of a submit, for --latency",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := loadtest.StartEcho("127.0.0.1:0")
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), e.Addr())
			ctx, stop := console.Interruptible(cmd.Context())
			defer stop()
			<-ctx.Done()
			return e.Close()
		},
	}
}
