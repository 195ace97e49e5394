package customers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/token"
)

func keyCommand() *cobra.Command {
	var scopes []string
	var expires string
	cmd := &cobra.Command{
		Use:   "key NAME",
		Short: "Make a key for the API of HTTP, and print the line of the configuration",
		Long: `Makes a random key with which a program of an account uses the API of HTTP, in the place of the
account's password: "Authorization: Bearer" and the key. It prints the key, which stands
nowhere else, and the line for keys of the account, which has only its hash. A reload puts
the line in force. To take the key back, remove the line and reload.`,
		Example: "  pmg account key shop\n  pmg account key monitoring --scopes read --expires 2027-12-31",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("cannot make a key: one argument is needed, the name of the program that gets it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			key := token.New()
			row := fmt.Sprintf("{name: %s, hash: %q", args[0], token.Hash(key))
			for _, s := range scopes {
				if s != config.SendScope && s != config.ReadScope {
					return fmt.Errorf(
						"cannot make a key: --scopes accepts %s and %s, not %q", config.SendScope, config.ReadScope, s,
					)
				}
			}
			if len(scopes) > 0 {
				row += ", scopes: [" + strings.Join(scopes, ", ") + "]"
			}
			if expires != "" {
				if _, err := time.Parse(time.DateOnly, expires); err != nil {
					return fmt.Errorf("cannot make a key: --expires must be a day such as 2027-12-31, not %q", expires)
				}
				row += ", expires: " + expires
			}
			row += ", made: " + time.Now().UTC().Format(time.DateOnly)
			_, err := fmt.Fprintf(
				cmd.OutOrStdout(), "the key, which is shown only now:\n%s\n\nthe line for keys of the account:\n- %s}\n",
				key, row,
			)
			return err
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scopes", nil, "what it may be used for, `send` or read; both when not given")
	cmd.Flags().StringVar(&expires, "expires", "", "the first `day` on which it is not taken any more, such as 2027-12-31")
	return cmd
}
