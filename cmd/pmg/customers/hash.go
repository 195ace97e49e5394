// Package customers has the commands about what customers and operators are known by, and about their money: pmg account, pmg
// admin, pmg price and pmg credit.
//
// Start reading with Account, Admin, Price or Credit.
package customers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pmg/internal/passhash"
)

// Account returns the command account with its subcommands.
func Account() *cobra.Command {
	cmd := &cobra.Command{Use: "account", Short: "Create password hashes and API keys"}
	cmd.AddCommand(hashCommand(), keyCommand())
	return cmd
}

func hashCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hash",
		Short: "Make the hash of a password, for the option password of an account or of one of its users",
		Long: `Asks for a password twice without showing it, or reads it from standard input if that is
no terminal, without its last line end. It prints the argon2id hash, which the
option password of an account takes in place of the password. Each call prints another
hash, and each is as good. A login takes 19 MiB and about 30 ms to check, once for each
password that is right.

Passwords of out connectors, and peer_password, cannot be hashed, because the gateway
itself sends or compares them: refer to those with ${FILE:/path} or ${ENV:NAME}.`,
		Example: "  pmg account hash\n  cat acme.password | pmg account hash",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New(
					"cannot hash an argument, which every user of this machine can see: type the password when asked, " +
						"or write it to standard input",
				)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := inputPassword(cmd)
			if err != nil {
				return fmt.Errorf("cannot read the password: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), passhash.New(password))
			return err
		},
	}
}

// inputPassword returns a password from the terminal, or from another standard input.
func inputPassword(cmd *cobra.Command) ([]byte, error) {
	if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return typedPassword(cmd.ErrOrStderr(), func() ([]byte, error) { return term.ReadPassword(int(f.Fd())) })
	}
	password, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPassword+2))
	if err != nil {
		return nil, err
	}
	return checkedPassword(bytes.TrimSuffix(bytes.TrimSuffix(password, []byte("\n")), []byte("\r")))
}

// typedPassword asks for a password twice; read returns a line that was typed unseen.
func typedPassword(out io.Writer, read func() ([]byte, error)) ([]byte, error) {
	var typed [2][]byte
	for i, prompt := range [2]string{"Password: ", "The same again: "} {
		fmt.Fprint(out, prompt)
		line, err := read()
		fmt.Fprintln(out)
		if err != nil {
			return nil, err
		}
		typed[i] = line
	}
	if !bytes.Equal(typed[0], typed[1]) {
		return nil, errors.New("the two are not the same: try again")
	}
	return checkedPassword(typed[0])
}

// maxPassword is longer than any password that a protocol can transport.
const maxPassword = 255

func checkedPassword(password []byte) ([]byte, error) {
	switch {
	case len(password) == 0:
		return nil, errors.New("it is empty")
	case len(password) > maxPassword:
		return nil, fmt.Errorf("it is longer than %d octets", maxPassword)
	case bytes.ContainsAny(password, "\r\n\x00"):
		return nil, errors.New("it has several lines, or a zero octet, which no client can send")
	}
	return password, nil
}
