package customers

import (
	"fmt"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/passhash"
	"pmg/internal/token"
)

// Admin returns the command admin with its subcommands.
func Admin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Make tokens and users for the admin address",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(tokenCommand(), userCommand())
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
		Example: "  pmg admin token prometheus\n  pmg admin token anna --scope operate",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("cannot make a token: one argument is needed, the name of who gets it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkScope(scope); err != nil {
				return fmt.Errorf("cannot make a token: %w", err)
			}
			made := token.New()
			_, err := fmt.Fprintf(cmd.OutOrStdout(),
				"the token, which is shown only now:\n%s\n\nthe line for admin.tokens:\n- {name: %s, hash: %q, scope: %s}\n",
				made, args[0], token.Hash(made), scope)
			return err
		},
	}
	cmd.Flags().StringVar(&scope, "scope", scope, "what it may be used for: `look`, operate or administer")
	return cmd
}

// checkScope checks the scope of a token or a user.
func checkScope(scope string) error {
	switch scope {
	case config.LookScope, config.OperateScope, config.AdministerScope:
		return nil
	}
	return fmt.Errorf(
		"--scope must be %s, %s or %s, not %q", config.LookScope, config.OperateScope, config.AdministerScope, scope,
	)
}

func userCommand() *cobra.Command {
	scope := config.LookScope
	cmd := &cobra.Command{
		Use:   "user NAME",
		Short: "Make somebody who may log in to the operators' pages, and print the line of the configuration",
		Long: `Asks for a password twice without showing it, or reads it from standard input if that is no
terminal. It prints the line for admin.users of the configuration, which has only the
hash. A reload puts the line in force; then the name and the password are good for the
pages at http://ADMIN-ADDRESS/ui/. Scope look sees everything but the texts of messages,
operate may also hold connectors, end sessions, change what waits, and see texts,
administer may do everything. To take that back, remove the line and reload, which ends
the sessions of the user, too.`,
		Example: "  pmg admin user anna --scope operate",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("cannot make a user: one argument is needed, the name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkScope(scope); err != nil {
				return fmt.Errorf("cannot make a user: %w", err)
			}
			password, err := inputPassword(cmd)
			if err != nil {
				return fmt.Errorf("cannot read the password: %w", err)
			}
			_, err = fmt.Fprintf(
				cmd.OutOrStdout(), "the line for admin.users:\n- {name: %s, password: %q, scope: %s}\n", args[0],
				passhash.New(password), scope,
			)
			return err
		},
	}
	cmd.Flags().StringVar(&scope, "scope", scope, "what the user may do: `look`, operate or administer")
	return cmd
}
