package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/cmd/pmg/history"
	"pmg/config"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, show, write and explain the configuration",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newConfigCheckCommand(), newConfigShowCommand(), newConfigInitCommand(), newConfigDescribeCommand())
	cmd.AddCommand(history.Commands(func(file string, instead map[string][]byte) (*config.Config, error) {
		o := asItRuns()
		o.Instead = instead
		return loadChecked(io.Discard, file, o)
	})...)
	return cmd
}

func newConfigCheckCommand() *cobra.Command {
	var file string
	var allow bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report every problem of a configuration",
		Long: `Reads the configuration as pmg serve would, with its ${ENV:NAME} and
${FILE:/path} references, and reports every problem: the line, what is wrong and what
to do about it. Warnings go to standard error. The exit status is 1 when the
configuration cannot be used.`,
		Example: "  pmg config check -c /etc/pmg/pmg.yaml && systemctl reload pmg",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadPrivate(cmd.ErrOrStderr(), file, config.Options{Protocols: protocolNames(), Thorough: true}, allow)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s can be used: accounts %d, connectors %d, routes %d\n",
				file, len(c.Accounts), len(c.Connectors), len(c.Routes))
			return err
		},
	}
	ask.Flag(cmd, &file)
	allowFlag(cmd, &allow)
	return cmd
}

func newConfigShowCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Print the configuration in effect, with every default and without passwords",
		Example: "  pmg config show | less",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(cmd.ErrOrStderr(), file)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), config.Show(c))
			return err
		},
	}
	ask.Flag(cmd, &file)
	return cmd
}

func newConfigDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "describe [option]",
		Short:   "Explain all options, or those whose name begins with the argument",
		Example: "  pmg config describe connectors.queue",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			prefix := ""
			if len(args) > 0 {
				prefix = args[0]
			}
			return config.WriteText(cmd.OutOrStdout(), prefix)
		},
	}
}

// loadConfig loads the configuration and writes its warnings to w.
func loadConfig(w io.Writer, file string) (*config.Config, error) {
	return loadChecked(w, file, asItRuns())
}

// loadQuietly loads the configuration without printing its warnings, because serve, reload and config check print them.
func loadQuietly(_ io.Writer, file string) (*config.Config, error) {
	return loadConfig(io.Discard, file)
}

// asItRuns returns the options with which a gateway loads its file.
func asItRuns() config.Options { return config.Options{Protocols: protocolNames()} }

func loadChecked(w io.Writer, file string, o config.Options) (*config.Config, error) {
	c, warnings, err := config.Load(file, o)
	for _, warning := range warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	return c, ask.ExplainError(err, file)
}

// namedConfig loads the configuration of a command's flags, for completion, or returns nil.
func namedConfig(cmd *cobra.Command) *config.Config {
	f := cmd.Flag("config")
	if f == nil {
		return nil
	}
	c, err := loadConfig(io.Discard, f.Value.String())
	if err != nil {
		return nil
	}
	return c
}

// allowFlag adds the flag that allows files with passwords and keys that everybody can read.
func allowFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(
		allow, "allow-insecure-files", false, "start even if every user of this machine can read passwords or keys",
	)
}

// loadPrivate loads the configuration. It returns an error if everybody can read its passwords or keys, unless allow is set.
func loadPrivate(w io.Writer, file string, o config.Options, allow bool) (*config.Config, error) {
	c, err := loadChecked(w, file, o)
	if err == nil && len(c.Exposed()) > 0 && !allow {
		return nil, fmt.Errorf(
			"cannot use configuration: every user of this machine can read passwords or keys in %s; run \"chmod o-r "+
				"%s\", or start with --allow-insecure-files",
			strings.Join(c.Exposed(), ", "), strings.Join(c.Exposed(), " "),
		)
	}
	return c, err
}
