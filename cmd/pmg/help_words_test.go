package main

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// goName is a word that only source code has: a type was renamed once, and with it a word of three help texts.
var goName = regexp.MustCompile(`\b[a-z]+[A-Z][A-Za-z]*\b`)

// Help texts have words, and no names of the source code.
func TestHelpHasNoGoNames(t *testing.T) {
	t.Parallel()
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		texts := []string{cmd.Short, cmd.Long, cmd.Example}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
		for _, text := range texts {
			if found := goName.FindString(text); found != "" {
				t.Errorf("%s: %s", cmd.CommandPath(), found)
			}
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRootCommand())
}
