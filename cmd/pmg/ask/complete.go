package ask

import (
	"slices"

	"github.com/spf13/cobra"

	"pmg/config"
)

// Names are the sources of the names that complete arguments.
type Names struct {
	Config   func(cmd *cobra.Command) *config.Config // returns the configuration that the flags name; nil: it cannot be read
	Sessions func(cmd *cobra.Command) []string       // names of the sessions of a running gateway
}

// Kinds of what a command takes, or a flag.
const (
	nothing = iota
	connectors
	smscs // out connectors
	accounts
	sessions // sessions, or accounts
	lists    // lists of numbers
	files
)

// takes lists the commands that take arguments, by their paths.
func takes(path string) int {
	switch path {
	case "pmg hold", "pmg release", "pmg connect":
		return smscs
	case "pmg webhooks enable", "pmg webhooks retry", "pmg webhooks test":
		return accounts
	case "pmg kick":
		return sessions
	case "pmg list test", "pmg list show", "pmg list add", "pmg list remove", "pmg list export":
		return lists
	case "pmg list check", "pmg network check", "pmg network test", "pmg import kannel", "pmg import jasmin", "pmg tls init",
		"pmg manual", "pmg store backup", "pmg store restore", "pmg store verify":
		return files
	}
	return nothing
}

// Add adds the completions to a command and those below it.
func (n Names) Add(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		n.Add(sub)
	}
	if kind := takes(cmd.CommandPath()); kind != files && cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
		cmd.ValidArgsFunction = n.completer(kind, 1)
	}
	for flag, kind := range map[string]int{"connector": connectors, "account": accounts} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(flag, n.completer(kind, -1)) // an error means that one exists
		}
	}
}

// completer returns what completes names of a kind: most arguments, or any number.
func (n Names) completer(kind, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return n.of(cmd, kind), cobra.ShellCompDirectiveNoFileComp
	}
}

func (n Names) of(cmd *cobra.Command, kind int) (names []string) {
	if kind == nothing {
		return nil
	}
	if kind == sessions {
		names = n.Sessions(cmd)
		kind = accounts
	}
	c := n.Config(cmd)
	if c == nil {
		return names
	}
	if kind == accounts {
		for i := range c.Accounts {
			names = append(names, c.Accounts[i].SystemID)
		}
		return names
	}
	if kind == lists {
		for i := range c.Lists {
			names = append(names, c.Lists[i].Name)
		}
		return names
	}
	for i := range c.Connectors {
		if kind == connectors || c.Connectors[i].Direction == config.Out {
			names = append(names, c.Connectors[i].Name)
		}
	}
	return slices.Compact(names)
}
