package check

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/nearest"
)

// Profiles returns the command profile.
func Profiles() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Show the profiles that come with PMG",
		Long: `A profile is a set of options that connectors and accounts take by its name, as in
profile: vonage. docs/profiles.md describes these, and profiles of your own.`,
		Example: "  pmg profile list\n  pmg profile show vonage",
	}
	cmd.AddCommand(profileListCommand(), profileShowCommand())
	return cmd
}

func profileListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the profiles that come with PMG",
		Example: "  pmg profile list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range config.BuiltinProfiles() {
				text, _ := config.BuiltinProfile(name)
				about, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
				fmt.Fprintf(cmd.OutOrStdout(), "%-10s  %s\n", name, about)
			}
			return nil
		},
	}
}

func profileShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print a profile that comes with PMG, with its sources",
		Long: `Prints a profile in the form of a configuration, with the sources of its options. The output
can be copied into a configuration, and changed there.`,
		Example:           "  pmg profile show vonage",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(config.BuiltinProfiles(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, ok := config.BuiltinProfile(args[0])
			if !ok {
				hint := "pmg profile list shows them"
				if near := nearest.Word(args[0], config.BuiltinProfiles()); near != "" {
					hint = "did you mean " + near + "?"
				}
				return fmt.Errorf("cannot show profile %q: PMG has none of that name: %s", args[0], hint)
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
}
