package ask

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"pmg/config"
)

// Commands complete the names that they take, and no files.
func TestCompletions(t *testing.T) {
	t.Parallel()
	c := &config.Config{Accounts: []config.Account{{SystemID: "acme"}}, Connectors: []config.Connector{{Name: "clients", Direction: config.In}, {Name: "operator", Direction: config.Out}}}
	root := &cobra.Command{Use: "pmg"}
	for _, name := range []string{"hold", "kick", "trace", "manual"} {
		sub := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
		sub.Flags().String("connector", "", "")
		root.AddCommand(sub)
	}
	Names{Config: func(*cobra.Command) *config.Config { return c }, Sessions: func(*cobra.Command) []string { return []string{"clients/1"} }}.Add(root)
	for name, want := range map[string][]string{"hold": {"operator"}, "kick": {"clients/1", "acme"}, "trace": nil} {
		sub, _, _ := root.Find([]string{name})
		got, directive := sub.ValidArgsFunction(sub, nil, "")
		if !slices.Equal(got, want) || directive != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("%s: %v, %v", name, got, directive)
		}
		if got, _ := sub.ValidArgsFunction(sub, []string{"operator"}, ""); got != nil {
			t.Errorf("%s, a second one: %v", name, got)
		}
		complete, ok := sub.GetFlagCompletionFunc("connector")
		if !ok {
			t.Fatalf("%s: --connector completes files", name)
		}
		if got, _ := complete(sub, nil, ""); !slices.Equal(got, []string{"clients", "operator"}) {
			t.Errorf("%s --connector: %v", name, got)
		}
	}
	if sub, _, _ := root.Find([]string{"manual"}); sub.ValidArgsFunction != nil {
		t.Error("manual does not complete directories")
	}
}
