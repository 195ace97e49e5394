package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pmg/gateway/intake"
	"pmg/gateway/settle"
	"pmg/stages"
)

func newStagesCommand() *cobra.Command {
	o := statusOptions{statusView: statusView{pipelines: true}}
	cmd := &cobra.Command{
		Use:   "stages",
		Short: "Print the stages of the pipeline and the steps of a message",
		Long: `Prints three tables in order. The first has the stages, with the work of each and the
stages that it passes jobs to; in addition, every stage may send jobs about the end of a
session to the reader, the listener and the dispatcher. The second has the steps that a
message takes in the builder before it is accepted, with the messages that take them. The
third has the steps of a message that has ended.

With --watch it asks a running gateway instead, until interrupted, and shows the work of its
stages and, if there are several pipelines, the load of each.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.watch > 0 {
				if err := o.find(cmd); err != nil {
					return err
				}
				return runStatus(cmd, o)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "#\tstage\tdoes\thands to")
			for i, s := range stages.Table() {
				does := s.Doc
				if s.Shared {
					does += "; one for all pipelines"
				}
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", i+1, s.Name, does, strings.Join(s.To, ", "))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, "\n#\ta message comes in\twhat happens\tfor")
			for i, s := range intake.Steps() {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", i+1, s.Name, s.Doc, s.Ways)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, "\n#\ta message ends\twhat happens")
			for i, s := range settle.Steps() {
				fmt.Fprintf(w, "%d\t%s\t%s\n", i+1, s.Name, s.Doc)
			}
			return w.Flush()
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.watch, "watch", 0, "show the load of a running gateway's stages and pipelines, repeatedly at this `interval`")
	f.Lookup("watch").NoOptDefVal = "2s"
	return cmd
}
