package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pmg/stages"
)

func newStagesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stages",
		Short: "Print the pipeline's table of stages",
		Long: `Prints the stages in order, with the work of each and the stages that it hands jobs
to. In addition, every stage may send jobs about the end of a session to the reader,
the listener and the dispatcher.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "#\tstage\tdoes\thands to")
			for i, s := range stages.Table() {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", i+1, s.Name, s.Doc, strings.Join(s.To, ", "))
			}
			return w.Flush()
		},
	}
}
