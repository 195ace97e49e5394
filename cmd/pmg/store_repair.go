package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/files"
	"pmg/store"
)

// exitLosses is the exit status of a repair that could not read everything.
const exitLosses = 2

func newStoreRepairCommand() *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Put a damaged store aside, and make a new one of what can be read",
		Long: `Makes a new store from the readable parts of a stopped gateway's store. The damaged store is
not deleted: its directory gets the ending .damaged- and the time. Repair needs as much free
space as the messages take, and memory for all of them.

If a part could not be read, the exit status is 2. Then balances of accounts may be outdated,
and messages that had ended may be there again: if the configuration has events.dir, both are
compared with the events.`,
		Example: "  pmg store repair -c /etc/pmg/pmg.yaml\n  pmg store repair --store data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, dir, err := o.findConfig()
			if err != nil {
				return err
			}
			aside, r, err := store.Repair(dir, time.Now())
			if err != nil {
				return explainStore(err)
			}
			out := cmd.OutOrStdout()
			writeReport(out, dir, &r)
			fmt.Fprintf(
				out, "the store in %s was made anew; the old one is in %s: delete it when nothing is missing\n", dir, aside,
			)
			if len(r.Faults) == 0 {
				return nil
			}
			if err := files.CompareLosses(out, cfg, dir); err != nil {
				return exitError{fmt.Errorf(
					"a part of the store is lost: see above; its effect on balances is not known: %w", err,
				), exitLosses}
			}
			return exitError{errors.New("a part of the store is lost: see above"), exitLosses}
		},
	}
	o.dirFlags(cmd)
	return cmd
}
