package help

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// ExplainUnknown adds, to the errors for unknown commands and flags, the help that lists the known ones.
func ExplainUnknown(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // pmg server -c file
			return unknownCommand(cmd, words)
		}
		return fmt.Errorf("%w: %q lists the flags", err, cmd.CommandPath()+" --help")
	})
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.SuggestionsMinimumDistance = 2
		cmd.Args = unknownCommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		ExplainUnknown(sub)
	}
}

// unknownCommand is the cobra.PositionalArgs of a command that only has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf(
		"there is no command %q: %q lists the commands", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], cmd.Root().Name()+" "),
		cmd.CommandPath()+" --help",
	)
	if moved := []string{"load", "sink", "demo"}; cmd.Name() == "pmg" && slices.Contains(moved, args[0]) {
		return fmt.Errorf("%w; it is \"pmgload %s\", a program of its own", err, args[0])
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		for i := range near {
			near[i] = strconv.Quote(cmd.CommandPath() + " " + near[i])
		}
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}
