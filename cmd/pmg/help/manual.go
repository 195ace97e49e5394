package help

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Manual returns the command manual of a program.
func Manual(program string) *cobra.Command {
	return &cobra.Command{
		Use:   "manual <directory>",
		Short: "Write a manual page for each command into a directory",
		Long: "Writes " + program + ".1 and a page for each command, which have the same text as --help.\n" +
			"The directory is made when missing.",
		Example: "  " + program + " manual /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return WriteManual(cmd.Root(), args[0]) },
	}
}

// WriteManual writes a page for a command, and for those below it, into a directory.
func WriteManual(cmd *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot write manual pages: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(manualPage(cmd)), 0o644); err != nil {
		return fmt.Errorf("cannot write manual page: %w", err)
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		if err := WriteManual(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// pageName returns the name of a command's page.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage returns a command's page, with the lines of its help as they are.
func manualPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q\n", strings.ToUpper(pageName(cmd)), "pmg "+cmd.Root().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(pageName(cmd)), escape(cmd.Short))
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", title, escape(text))
		}
	}
	section("SYNOPSIS", cmd.UseLine())
	section("DESCRIPTION", cmd.Long)
	section("OPTIONS", cmd.NonInheritedFlags().FlagUsages())
	section("OPTIONS OF ALL ITS COMMANDS", cmd.InheritedFlags().FlagUsages())
	section("EXAMPLES", cmd.Example)
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent())+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			also = append(also, fmt.Sprintf("%s(1): %s", pageName(sub), sub.Short))
		}
	}
	section("SEE ALSO", strings.Join(also, "\n"))
	return b.String()
}

// escape writes text so that roff shows it as it is.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
