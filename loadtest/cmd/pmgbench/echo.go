package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
)

// newEchoCommand runs the echo that the gateway's latency is compared with.
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
