package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"pmg/cluster"
	"pmg/cmd/pmg/ask"
)

// adoptTimeout bounds the wait for servers and lease, and the transfer of the store.
const adoptTimeout = time.Hour

func adoptCommand(load ask.Load) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Make the store of a gateway that was alone the first contents of a new cluster",
		Long: `Takes everything in store.dir into the journal of a new cluster: messages that wait, also scheduled
ones, balances, SMSCs' ids for receipts that are to come, idempotency keys, webhooks' events,
dead letters. Stop the gateway before, start the servers of NATS, and do not start the other
nodes: they get it from the journal when they start with an empty store.dir.

The store is compared with the result, and put aside as store.dir with .alone behind it: nothing
is deleted. Events that are in files already stay in events.dir. If it fails, store.dir is as it
was, and the next try needs another name of the stream (cluster.stream).`,
		Example: "  systemctl stop pmg && sudo -u pmg pmg cluster adopt && systemctl start pmg",
		Args:    cobra.NoArgs,
	}
	ask.Flag(cmd, &file)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := loaded(cmd, load, file)
		if err != nil {
			return err
		}
		return adopt(cmd, o, o.Dir+".alone")
	}
	return cmd
}

// freshOf returns the directory in which adopt makes the copy.
func freshOf(dir string) string { return dir + ".cluster" }

// mayAdopt returns an error if adopt has no store, or the directories that it makes exist.
func mayAdopt(dir, aside string) error {
	for _, path := range []string{aside, freshOf(dir)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s exists already: move it elsewhere, because this command needs that name", path)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("there is no store to adopt: %w", err)
	}
	return nil
}

// failures returns a function that prints why the servers cannot be used, each reason once.
func failures(cmd *cobra.Command) func(error) {
	trouble := ""
	return func(err error) {
		if err.Error() != trouble {
			trouble = err.Error()
			fmt.Fprintln(cmd.ErrOrStderr(), "cannot use the servers yet:", trouble)
		}
	}
}

// adopt makes the copy beside the store, and puts it in the store's place. The store becomes aside.
func adopt(cmd *cobra.Command, o cluster.Options, aside string) error {
	out, dir, fresh := cmd.OutOrStdout(), o.Dir, freshOf(o.Dir)
	if err := mayAdopt(dir, aside); err != nil {
		return err
	}
	o.Dir, o.Failed = fresh, failures(cmd)
	ctx, cancel := context.WithTimeout(cmd.Context(), adoptTimeout)
	defer cancel()
	fmt.Fprintf(out, "waiting for the servers, and for %s in which no other node may own the work\n", o.Lease.Dead)
	said, all := time.Now(), int64(0)
	err := cluster.Adopt(ctx, o, dir, func(operations int64) {
		if all = operations; time.Since(said) > time.Second {
			said = time.Now()
			fmt.Fprintf(out, "%d entries are in the journal\n", all)
		}
	})
	if err != nil {
		_ = os.RemoveAll(fresh) // it has nothing that the store has not
		if errors.Is(err, cluster.ErrUsed) {
			return fmt.Errorf("%w: only a new cluster can adopt a store. Give cluster.stream another name on all nodes", err)
		}
		return fmt.Errorf("%s is as it was: %w", dir, err)
	}
	err = os.Rename(dir, aside)
	if err == nil {
		err = os.Rename(fresh, dir)
	}
	if err != nil {
		return fmt.Errorf("everything is in the journal, but %s cannot be put in the place of %s, which becomes %s: do it by "+
			"hand: %w", fresh, dir, aside, err)
	}
	fmt.Fprintf(out, "%d entries are in the journal, and in %s; the earlier store is in %s.\n"+
		"Start this node, and the others with an empty store.dir.\n", all, dir, aside)
	return nil
}
