package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"pmg/cluster"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
)

func repairCommand(load ask.Load) *cobra.Command {
	var file string
	var yes bool
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Make a new stream from this node's store, when the stream is damaged",
		Long: `For a stream that has lost records, or has one that no node can read: the nodes say so and stop.
Stop all nodes, and wait for 15 seconds. The command says what is wrong, and how far each
node had read, and changes nothing. With --yes it reads what the stream still has into store.dir,
removes the stream, and makes a new one of this store, as pmg cluster adopt does. The store stays as
store.dir with .before-repair behind it. The other nodes then start with an empty store.dir.

It must be run on the node that has most: if another one had read more, the command names that one and
changes nothing. pmg cluster forget removes a node whose disk is gone.`,
		Example: "  pmg cluster repair\n  sudo -u pmg pmg cluster repair --yes",
		Args:    cobra.NoArgs,
	}
	ask.Flag(cmd, &file)
	cmd.Flags().BoolVar(&yes, "yes", false, "remove the stream, and make a new one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := loaded(cmd, load, file)
		if err != nil {
			return err
		}
		return repair(cmd, o, yes)
	}
	return cmd
}

// repair makes a new stream of the store, if the operator wants that.
func repair(cmd *cobra.Command, o cluster.Options, yes bool) error {
	aside := o.Dir + ".before-repair"
	if err := mayAdopt(o.Dir, aside); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), adoptTimeout)
	defer cancel()
	examined := o
	examined.Failed = failures(cmd)
	f, err := cluster.Examine(ctx, examined)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := writeFinding(out, f, o.Node, time.Now()); err != nil {
		return err
	}
	switch {
	case f.Why == "":
		return errors.New("the stream can be read from here to its end, and nothing is to be repaired: start the nodes. One " +
			"that cannot follow needs a copy of this store, as one that was away for too long does (docs/cluster.md)")
	case f.Better != nil:
		return fmt.Errorf("node %s had read up to %d: run it there (pmg cluster forget %[1]s if its disk is gone)",
			console.Plain(f.Better.Node), f.Better.Applied)
	}
	fmt.Fprintf(out, "\n--yes removes the stream %s, and makes a new one of %s, which becomes %s.\n", o.Stream, o.Dir, aside)
	if !yes {
		fmt.Fprintln(out, "Nothing is changed yet.")
		return nil
	}
	if err := cluster.Discard(ctx, o); err != nil {
		return err
	}
	fmt.Fprintln(out, "the stream is removed")
	if err := adopt(cmd, o, aside); err != nil {
		return fmt.Errorf("the stream was removed, and no new one is complete. %s has everything, as the store of a gateway "+
			"without a cluster: pmg cluster adopt goes on, with another cluster.stream on all nodes: %w", o.Dir, err)
	}
	return nil
}

// writeFinding writes what is wrong, and how far the nodes had read.
func writeFinding(out io.Writer, f *cluster.Finding, own string, now time.Time) error {
	if f.Why != "" {
		fmt.Fprintf(out, "the stream of the journal is damaged: %s\n", console.Plain(f.Why))
	}
	for _, err := range f.Unreadable {
		fmt.Fprintf(out, "%s. What it may have changed is left out\n", console.Plain(err.Error()))
	}
	table := [][]string{{"node", "had read up to", "seen"}}
	for _, s := range f.Nodes {
		table = append(table, []string{s.Node, fmt.Sprint(s.Applied), now.Sub(s.At).Round(time.Second).String() + " ago"})
	}
	fmt.Fprintln(out)
	if err := console.Table(out, table); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nthis is node %s", console.Plain(own))
	if f.Has > 0 {
		fmt.Fprintf(out, ", whose store has the journal up to %d", f.Has)
	}
	fmt.Fprintln(out)
	if f.Read > f.Has {
		fmt.Fprintf(out, "It had read up to %d. If it was killed, its store may lack the rest: see first what this command says "+
			"on the other nodes, and use --yes where the store has most.\n", f.Read)
	}
	return nil
}
