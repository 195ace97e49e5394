package help

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// find runs the command help of a small program.
func find(args ...string) (string, error) {
	root := tree()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Args, root.RunE = unknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	options := Subject{Title: "Options", More: "toy describe OPTION"}
	for i := range 30 {
		options.Entries = append(options.Entries, Entry{Name: fmt.Sprintf("feet[].size%d", i), Text: "How large a foot is."})
	}
	options.Entries = append(options.Entries, Entry{Name: "weight_limit", Text: "Above it nobody may jump."}, Entry{Name: "legs[].foot", Text: "Its foot."})
	AddSearch(root, func() []Subject { return []Subject{options} })
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"help"}, args...))
	err := root.Execute()
	return out.String(), err
}

// help shows a command of the name, and otherwise what has the word, names first.
func TestSearch(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][]string{
		"jump":            {"Usage:\n  toy jump [flags]"},
		"":                {"Available Commands:"},
		" ":               {"Available Commands:"},
		"high":            {"Commands (toy help COMMAND):\n  toy jump\n      Jump off\n\n"},
		"OFF":             {"  toy jump\n"},
		"weight":          {"Options (toy describe OPTION):\n  weight_limit\n      Above it nobody may jump.\n"},
		"nobody may jump": {"  weight_limit\n"},
		"foot":            {"):\n  legs[].foot\n      Its foot.\n  feet[].size0\n", "  and 11 more\n"},
	} {
		out, err := find(word)
		for _, part := range want {
			if err != nil || !strings.Contains(out, part) {
				t.Errorf("%q: %v, %s", word, err, out)
			}
		}
		if strings.Contains(out, "secret") {
			t.Errorf("%q shows a hidden command", word)
		}
	}
}

// A word that nothing has is an error, with the word that is most similar.
func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"wieght_limit": `cannot find "wieght_limit": no command, flag or option has it; did you mean "weight_limit"?`,
		"zzzzzzzzzzzz": `cannot find "zzzzzzzzzzzz": no command, flag or option has it`,
		"[]%(":         `no command, flag or option has it`,
		"...":          `cannot find "..."`,
		"eigh jum":     `cannot find "eigh jum"`,
	} {
		out, err := find(word)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" || strings.Contains(want, "zzz") && strings.Contains(err.Error(), "mean") {
			t.Errorf("%q: %v, %s", word, err, out)
		}
	}
}
