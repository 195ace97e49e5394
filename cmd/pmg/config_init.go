package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/internal/token"
	"pmg/packaging"
)

// purposes are those that a file is written for. docs/first-month.md explains them.
func purposes() []string { return []string{"operator", "reseller", "dev"} }

// A starter says which configuration is written, and where.
type starter struct {
	file    string
	purpose string // "" is none
	short   bool
	force   bool
}

func newConfigInitCommand() *cobra.Command {
	var o starter
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a starter configuration: with every option, the first ones, or for a purpose",
		Long: `Writes a configuration that works on one machine: clients log in on port 2775 as
"load", or send by HTTP to port 8080, messages are sent to an SMSC on port 2776, such as pmgload sink, and pmg status,
pmg reload and Prometheus use port 2780. The file explains every option and shows its
default; with --short only those that it sets and those of the first month. Only its owner can read it.

With --for it is the file of an operator, a reseller or a developer of clients, with an account "acme" or "dev". Its
passwords of accounts and keys of webhooks are new ones, but those of a developer. Lists and prices that it names are
written beside it, unless they are there. docs/first-month.md goes with it.`,
		Example: "  pmg config init && pmg serve\n  pmg config init --for operator && pmg config check",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.write(cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "config", "c", ask.Here, "the `file` to write")
	f.StringVar(&o.purpose, "for", "", "the `purpose`: "+strings.Join(purposes(), ", "))
	f.BoolVar(&o.short, "short", false, "explain only the options of the first month")
	f.BoolVar(&o.force, "force", false, "overwrite an existing file")
	cmd.MarkFlagsMutuallyExclusive("for", "short")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(purposes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// write writes the file, and those that it names.
func (o *starter) write(out io.Writer) error {
	text, err := o.text()
	if err != nil {
		return err
	}
	if err := writeStarter(o.file, text, o.force); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "wrote %s\n", o.file); err != nil || o.purpose == "" {
		return err
	}
	for _, name := range regexp.MustCompile(`\bfile: ([\w.]+)`).FindAllStringSubmatch(text, -1) {
		if err := writeBeside(out, filepath.Dir(o.file), name[1]); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text of the file.
func (o *starter) text() (string, error) {
	switch {
	case o.short:
		return config.ShortTemplate(), nil
	case o.purpose == "":
		return config.Template(), nil
	case !slices.Contains(purposes(), o.purpose):
		return "", fmt.Errorf("cannot write configuration: --for must be %s, not %q", strings.Join(purposes(), ", "), o.purpose)
	}
	text, _ := packaging.Example(o.purpose + ".yaml")
	return regexp.MustCompile(`change-me|whsec_[\w+/=]+`).ReplaceAllStringFunc(text, secret), nil
}

// secret returns a random secret in place of one that everybody knows.
func secret(known string) string {
	if !strings.HasPrefix(known, "whsec_") {
		return token.Password()
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // rand.Read ends the program rather than fail
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// writeBeside writes an example into the directory of the configuration that names it. A file that exists stays, because numbers
// or prices are in it.
func writeBeside(out io.Writer, dir, name string) error {
	text, ok := packaging.Example(name)
	if !ok {
		return fmt.Errorf("cannot write %s: no example has the name", name)
	}
	file := filepath.Join(dir, name)
	if _, err := os.Lstat(file); err == nil {
		_, err := fmt.Fprintf(out, "%s is there, and stays as it is\n", file)
		return err
	}
	if err := writeStarter(file, text, false); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "wrote %s\n", file)
	return err
}

// writeStarter writes the configuration, or a file that it names. It holds passwords, so only its owner may read it.
func writeStarter(file, text string, force bool) error {
	mode := os.O_EXCL
	if force {
		mode = os.O_TRUNC
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|mode, 0o600)
	if os.IsExist(err) {
		return fmt.Errorf("cannot write configuration: %s exists already; --force overwrites it", file)
	}
	if err != nil {
		return fmt.Errorf("cannot write configuration: %w", err)
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("cannot protect configuration: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		return fmt.Errorf("cannot write configuration: %w", err)
	}
	return f.Close()
}
