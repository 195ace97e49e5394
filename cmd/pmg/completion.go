package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pmg/config"
)

// completions returns the possible values of flags, by the flag's name. Commands share
// them, because flags of the same name have the same meaning in every command.
func completions() map[string]func(cmd *cobra.Command) []string {
	return map[string]func(cmd *cobra.Command) []string{
		"bind":      func(*cobra.Command) []string { return []string{"transmitter", "receiver", "transceiver"} },
		"protocol":  func(*cobra.Command) []string { return protocolNames() },
		"direction": func(*cobra.Command) []string { return []string{config.In, config.Out} },
		"connector": configuredConnectors,
		"account":   configuredAccounts,
		"command":   commandNames,
		"state":     func(*cobra.Command) []string { return queueStates() },
		"status":    func(*cobra.Command) []string { return []string{"nonzero", "ESME_"} },
	}
}

// completeValues lets the shell complete the values of the flags of cmd and of the
// commands below it.
func completeValues(cmd *cobra.Command) {
	for name, values := range completions() {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
				return values(cmd), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	if cmd.Flags().Lookup("config") != nil {
		_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	}
	for _, name := range []string{"dir", "directory", "store"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.MarkFlagDirname(name)
		}
	}
	for _, sub := range cmd.Commands() {
		completeValues(sub)
	}
}

// configured returns the configuration that the flags name, or an empty one if it
// cannot be loaded.
func configured(cmd *cobra.Command) *config.Config {
	file := defaultConfig
	if f := cmd.Flags().Lookup("config"); f != nil && f.Value.String() != "" {
		file = f.Value.String()
	}
	c, err := loadConfig(io.Discard, file)
	if err != nil {
		return &config.Config{}
	}
	return c
}

func configuredConnectors(cmd *cobra.Command) (names []string) {
	for _, c := range configured(cmd).Connectors {
		names = append(names, c.Name)
	}
	return names
}

func configuredAccounts(cmd *cobra.Command) (names []string) {
	for _, a := range configured(cmd).Accounts {
		names = append(names, a.SystemID)
	}
	return names
}

// commandNames returns the command names of all protocols.
func commandNames(*cobra.Command) (names []string) {
	for _, protocol := range protocolNames() {
		if d, err := newDriver(protocol, &config.Config{}); err == nil {
			names = append(names, d.Commands()...)
		}
	}
	slices.Sort(names)
	return names
}

// explainUnknown makes the errors for unknown commands and flags name the help that
// lists the known ones.
func explainUnknown(cmd *cobra.Command) {
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
		explainUnknown(sub)
	}
}

// unknownCommand is the cobra.PositionalArgs of a command that only has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no command %q: %q lists the commands", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "pmg "), cmd.CommandPath()+" --help")
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		for i := range near {
			near[i] = strconv.Quote(cmd.CommandPath() + " " + near[i])
		}
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}
