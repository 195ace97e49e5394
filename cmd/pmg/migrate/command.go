package migrate

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/migrate/draft"
	"pmg/cmd/pmg/migrate/jasmin"
	"pmg/cmd/pmg/migrate/kannel"
	"pmg/config"
	"pmg/internal/token"
)

// A source is another gateway whose configuration can be read.
type source struct {
	use, short, long, example string
	read                      func(file string) (*draft.Draft, error)
	rows                      func() []draft.Row
}

// table returns the table of the options' translations.
func (s source) table() string { return draft.Markdown(s.rows()) }

var errProblems = errors.New("the configuration was written, but cannot be used yet: see the problems above")

// Command returns the command import for a program that knows the given protocols.
func Command(protocols []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Translate the configuration of another gateway",
		Long: `Reads the configuration of another gateway and writes one of PMG with the same effect, as far
as possible. Each option is translated, or named in a comment with the reason. Comments that
need a decision are marked DECIDE in the file, and counted at the end.`,
		Args: cobra.NoArgs,
	}
	for _, s := range sources() {
		cmd.AddCommand(s.command(protocols))
	}
	return cmd
}

func sources() []source {
	return []source{{
		use:   "kannel FILE",
		short: "Translate a kannel.conf",
		long: `Reads a kannel.conf and the files that it includes. Groups smsc become connectors, sendsms-user
accounts, and the options that select SMSCs become routes.`,
		example: "  pmg import kannel /etc/kannel/kannel.conf --output pmg.yaml && pmg config check -c pmg.yaml",
		read: func(file string) (*draft.Draft, error) {
			groups, err := kannel.ReadFile(file)
			if err != nil {
				return nil, err
			}
			return kannel.Translate(file, groups, token.Password), nil
		},
		rows: kannel.Table,
	}, {
		use:   "jasmin DUMP",
		short: "Translate the output of Jasmin's console",
		long: `Reads a file with the output of Jasmin's console (jcli) for its configuration: smppccm -l and
-s, user -l and -s, group -l, httpccm -l, mtrouter -l and morouter -l. docs/migrate.md describes
how to make it. Connectors and users become connectors and accounts, and routes become routes.
Jasmin does not show passwords of users, so their accounts get new ones.`,
		example: "  pmg import jasmin jasmin.txt --output pmg.yaml && pmg config check -c pmg.yaml",
		read: func(file string) (*draft.Draft, error) {
			dump, err := jasmin.ReadFile(file)
			if err != nil {
				return nil, err
			}
			return jasmin.Translate(file, dump, token.Password), nil
		},
		rows: jasmin.Table,
	}}
}

// common is the end of the help of each command.
const common = `

The result goes to standard output, or to a file that only its owner can read: it has the
passwords. It is written even if PMG cannot use it yet; then the problems are on standard
error and the exit status is 1. docs/migrate.md says what differs.`

func (s source) command(protocols []string) *cobra.Command {
	var output string
	var force, options bool
	cmd := &cobra.Command{
		Use: s.use, Short: s.short, Long: s.long + common, Example: s.example,
		Args: func(_ *cobra.Command, args []string) error {
			if !options && len(args) != 1 {
				return fmt.Errorf("cannot import: one file is needed, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if options {
				_, err := fmt.Fprint(cmd.OutOrStdout(), s.table())
				return err
			}
			d, err := s.read(args[0])
			if err != nil {
				return err
			}
			made := d.Bytes()
			if output == "" {
				_, err = cmd.OutOrStdout().Write(made)
			} else {
				err = write(output, made, force)
			}
			if err != nil {
				return err
			}
			return report(cmd, d, made, protocols)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write; standard output when not given")
	cmd.Flags().BoolVar(&options, "options", false, "print the translation of each option, without reading a file")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// report prints the decisions that a person must make, and the problems of the result.
func report(cmd *cobra.Command, d *draft.Draft, made []byte, protocols []string) error {
	c, warnings, err := config.Parse(made, config.Options{Protocols: protocols, Thorough: true})
	for _, w := range warnings {
		cmd.PrintErrf("warning: %s\n", w)
	}
	if err != nil {
		cmd.PrintErrln(err)
	} else {
		cmd.PrintErrf("accounts %d, connectors %d, routes %d\n", len(c.Accounts), len(c.Connectors), len(c.Routes))
	}
	switch n := d.Decisions(); n {
	case 0:
		cmd.PrintErrln("nothing needs a decision; the comments list the options that were left out")
	case 1:
		cmd.PrintErrln("1 thing needs a decision: see the comment with DECIDE")
	default:
		cmd.PrintErrf("%d things need a decision: see the comments with DECIDE\n", n)
	}
	if err != nil {
		return errProblems
	}
	return nil
}

// write writes a file that only its owner can read.
func write(name string, data []byte, force bool) error {
	mode := os.O_EXCL
	if force {
		mode = os.O_TRUNC
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|mode, 0o600)
	if os.IsExist(err) {
		return fmt.Errorf("cannot write configuration: %s exists already; --force overwrites it", name)
	}
	if err != nil {
		return fmt.Errorf("cannot write configuration: %w", err)
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("cannot protect configuration: %w", err)
	}
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("cannot write configuration: %w", err)
	}
	return f.Close()
}
