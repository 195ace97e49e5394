package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// oneArg returns a check that a command has one argument; what says what that is.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return fmt.Errorf("cannot %s: it needs %s; %s --help shows examples", cmd.Name(), what, cmd.CommandPath())
		}
		return fmt.Errorf("cannot %s: it takes one argument, %s, and got %d", cmd.Name(), what, len(args))
	}
}
