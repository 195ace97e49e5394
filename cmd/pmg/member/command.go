package member

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/cluster"
	"pmg/cluster/report"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
)

const (
	askTimeout   = 10 * time.Second
	moveTimeout  = 2 * time.Minute  // a gateway drains first
	checkTimeout = 10 * time.Minute // each node reads its whole store
	checkTries   = 20
)

// Command returns the command cluster.
func Command(load ask.Load) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Show the nodes of a cluster, and move the work from one to another",
		Long: `Of the gateways of a cluster one owns the work, and the others follow and stand by. These
commands ask the servers of NATS that the section cluster of the configuration names, so
they work on any node, also while a gateway is stopped. docs/cluster.md has the rest.`,
		Example: "  pmg cluster setup sms --nodes a=10.0.0.1,b=10.0.0.2,c=10.0.0.3\n" +
			"  pmg cluster status\n  pmg cluster move b",
	}
	cmd.AddCommand(
		setupCommand(), adoptCommand(load), statusCommand(load), moveCommand(load), drainCommand(load),
		checkCommand(load), forgetCommand(load), repairCommand(load),
	)
	return cmd
}

// A run is the function of a command.
type run func(ctx context.Context, cmd *cobra.Command, op *cluster.Operator, args []string) error

// on makes a command that asks the cluster.
func on(load ask.Load, cmd *cobra.Command, timeout time.Duration, do run) *cobra.Command {
	var file string
	ask.Flag(cmd, &file)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := loaded(cmd, load, file)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
		defer cancel()
		opening, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		op, err := cluster.OpenOperator(opening, o)
		if err != nil {
			return err
		}
		defer op.Close()
		return do(ctx, cmd, op, args)
	}
	return cmd
}

func statusCommand(load ask.Load) *cobra.Command {
	var asJSON bool
	cmd := on(load, &cobra.Command{
		Use:   "status",
		Short: "Show which node owns the work, and how far the others follow",
		Long: `Shows each node: what it does, the epoch that it knows, the last record that it has and how
many it is behind the one that has most, the hash of its configuration, and why it cannot
take the work over; then what the servers of NATS refuse, and how full the stream is if it is
half full. The exit status is 1 if no node owns the work, or none could take it over.`,
		Example: "  pmg cluster status\n  pmg cluster status --json",
		Args:    cobra.NoArgs,
	}, askTimeout, func(ctx context.Context, cmd *cobra.Command, op *cluster.Operator, _ []string) error {
		all, err := op.Nodes(ctx)
		if err != nil {
			return err
		}
		notes := report.Notes(all)
		if err := op.Try(ctx); err != nil {
			notes = append(notes, err.Error())
		}
		v, err := op.Owner(ctx)
		if err != nil {
			return err
		}
		if v.Vacant {
			v.Node = ""
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
				"owner": v.Node, "epoch": v.Epoch, "nodes": all, "notes": notes,
			})
		}
		return writeStatus(cmd.OutOrStdout(), v.Node, v.Epoch, all, notes, time.Now())
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writeStatus writes a table of the nodes, and returns an error if an operator should do something.
func writeStatus(out io.Writer, owner string, epoch uint64, all []report.State, notes []string, now time.Time) error {
	fmt.Fprintf(out, "owner %s, epoch %d\n\n", cmp.Or(owner, "none"), epoch)
	table := [][]string{{"node", "state", "epoch", "record", "behind", "config", "version", "seen", "cannot take over because"}}
	rows, ready := report.Rows(all, owner, now)
	for _, r := range rows {
		table = append(table, []string{
			r.Node, r.State.State, fmt.Sprint(r.Epoch), fmt.Sprint(r.Applied), fmt.Sprint(r.Behind), r.Config, r.Version,
			r.Seen.Round(time.Second).String() + " ago", r.Reason,
		})
	}
	if err := console.Table(out, table); err != nil {
		return err
	}
	if len(notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, note := range notes {
		fmt.Fprintln(out, console.Plain(note))
	}
	switch {
	case owner == "":
		return errors.New("no node owns the work")
	case ready == 0:
		return errors.New("no other node could take the work over")
	}
	return nil
}

func moveCommand(load ask.Load) *cobra.Command {
	return on(load, &cobra.Command{
		Use:   "move [NODE]",
		Short: "Move the work to another node",
		Long: `The owner drains, as at a SIGTERM, and hands over to the node that is named, or to any. No
message is sent twice. Its process ends with status 75, and a supervisor starts it again.`,
		Example: "  pmg cluster move\n  pmg cluster move b",
		Args:    cobra.MaximumNArgs(1),
	}, moveTimeout, func(ctx context.Context, cmd *cobra.Command, op *cluster.Operator, args []string) error {
		to := ""
		if len(args) > 0 {
			to = args[0]
		}
		owner, err := op.Move(ctx, to)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "node %s owns the work\n", console.Plain(owner))
		return nil
	})
}

func drainCommand(load ask.Load) *cobra.Command {
	var undo, force bool
	cmd := on(load, &cobra.Command{
		Use:   "drain NODE",
		Short: "Keep the work away from a node, for instance while its machine is mended",
		Long: `The node takes nothing over until --undo. If it owns the work, it hands that over. It goes on to
follow, and the mark outlives its restarts. The last node that can own the work is refused,
because nothing would be accepted or sent any more.`,
		Example: "  pmg cluster drain a\n  pmg cluster drain --undo a",
		Args:    cobra.ExactArgs(1),
	}, askTimeout, func(ctx context.Context, cmd *cobra.Command, op *cluster.Operator, args []string) error {
		what := "takes nothing over until pmg cluster drain --undo"
		var err error
		if undo {
			what, err = "may take the work over", op.Undrain(ctx, args[0])
		} else {
			err = op.Drain(ctx, args[0], force)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "node %s %s\n", console.Plain(args[0]), what)
		return nil
	})
	cmd.Flags().BoolVar(&undo, "undo", false, "let the node take the work over again")
	cmd.Flags().BoolVar(&force, "force", false, "drain also the last node that can own the work")
	return cmd
}

func checkCommand(load ask.Load) *cobra.Command {
	return on(load, &cobra.Command{
		Use:   "check",
		Short: "Compare what the nodes have in their stores",
		Long: `Each node reads its whole store and makes a hash of the contents. The hashes of nodes that are at
the same record must be equal. Under load the nodes are seldom at the same record, so the nodes are
asked a few times. The exit status is 1 if stores differ, or fewer than two could be compared.`,
		Example: "  pmg cluster check",
		Args:    cobra.NoArgs,
	}, checkTimeout, func(ctx context.Context, cmd *cobra.Command, op *cluster.Operator, _ []string) error {
		for range checkTries {
			number := rand.Uint64()>>1 + 1
			all, err := op.Check(ctx, number)
			if err != nil {
				return err
			}
			same, wrong := cluster.Compare(all, number)
			if len(wrong) > 0 {
				return fmt.Errorf("the copies differ: %s", console.Plain(strings.Join(wrong, "; ")))
			}
			if same > 1 && same >= answered(all, number) {
				fmt.Fprintf(cmd.OutOrStdout(), "%d copies have the same\n", same)
				return nil
			}
		}
		return errors.New("fewer than two nodes run, or they were never at the same record: ask again when there is less load")
	})
}

// answered returns how many nodes have answered a check.
func answered(all []report.State, number uint64) (n int) {
	for _, s := range all {
		if s.Sum.Check == number {
			n++
		}
	}
	return n
}

func forgetCommand(load ask.Load) *cobra.Command {
	return on(load, &cobra.Command{
		Use:   "forget NODE",
		Short: "Remove a node that is gone for good",
		Long: `Removes the state that the node has published, so that its configuration is not compared with
that of the others any more. A node that runs publishes its state again a second later.

An owner that is alone keeps everything in the stream for the others, until the stream or the
disks of NATS are full. When all others are forgotten, it trims the stream alone. A node that
comes back after that needs a copy of the owner's store.`,
		Example: "  pmg cluster forget c",
		Args:    cobra.ExactArgs(1),
	}, askTimeout, func(ctx context.Context, _ *cobra.Command, op *cluster.Operator, args []string) error {
		return op.Forget(ctx, args[0])
	})
}
