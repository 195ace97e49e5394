package ask

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"
)

// Exactly returns a check that a command has n arguments; what says what these are.
func Exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// AtLeast returns a check that a command has n arguments or more.
func AtLeast(n int, what string) cobra.PositionalArgs { return between(n, math.MaxInt, what) }

func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			return fmt.Errorf(
				"cannot %s: it needs %s, and got %d arguments; %s --help shows examples", cmd.Name(), what, n, cmd.CommandPath(),
			)
		}
		return nil
	}
}
