package credentials

import (
	"fmt"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/token"
)

// Admin returns the command admin with its subcommands.
func Admin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Make tokens for the admin address",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(tokenCommand())
	return cmd
}

func tokenCommand() *cobra.Command {
	scope := config.LookScope
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for the admin address, and print the line of the configuration",
		Long: `Makes a random token for somebody who uses the gateway's admin.address: Prometheus, a
colleague on another machine, a script. It prints the token, which stands nowhere else,
and the line for admin.tokens of the configuration, which has only its hash. A reload puts
the line in force.

The commands of pmg take the token from the environment, PMG_ADMIN_TOKEN, or from the
file that --token-file names, other programs send "Authorization: Bearer" and the token.
To take it back, remove the line and reload.`,
		Example: "  pmg admin token prometheus\n  pmg admin token anna --scope act",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("cannot make a token: one argument is needed, the name of who gets it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if scope != config.LookScope && scope != config.ActScope {
				return fmt.Errorf("cannot make a token: --scope must be %s or %s, not %q", config.LookScope, config.ActScope, scope)
			}
			made := token.New()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "the token, which is shown only now:\n%s\n\nthe line for admin.tokens:\n- {name: %s, hash: %q, scope: %s}\n",
				made, args[0], token.Hash(made), scope)
			return err
		},
	}
	cmd.Flags().StringVar(&scope, "scope", scope, "what it may be used for: `look` or act")
	return cmd
}
