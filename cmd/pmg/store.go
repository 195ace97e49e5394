package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
	"pmg/sms"
	"pmg/store"
)

func newStoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Check, repair or back up the store of messages",
		Long: `The store keeps accepted messages until it is known how they ended: in the directory
store.dir of the configuration, or in the directory of --store.

check and repair need a gateway that is stopped. backup asks the running gateway at
--address, or else that of the configuration; if it is stopped, backup copies its store. pmg status shows how many messages the store of a running gateway
has, and how large it is.`,
		Example: "  pmg store backup monday\n  pmg store check --store data\n  pmg store repair --store data",
	}
	cmd.AddCommand(newStoreCheckCommand(), newStoreRepairCommand(), newStoreBackupCommand())
	return cmd
}

func newStoreCheckCommand() *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read all of a store, and report what is in it and what is wrong",
		Long: "Reads all of the store of a gateway that is stopped, and changes nothing. The exit\nstatus is 1 if " +
			"something is wrong: then pmg store repair saves what can be read.",
		Example: "  pmg store check -c /etc/pmg/pmg.yaml\n  pmg store check --store data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := o.findDir()
			if err != nil {
				return err
			}
			r, err := store.Check(dir)
			if err != nil {
				return explainStore(err)
			}
			writeReport(cmd.OutOrStdout(), dir, &r)
			if len(r.Faults) > 0 {
				return fmt.Errorf(
					"the store in %s is damaged; pmg store repair --store %s puts it aside and saves what can be read", dir,
					dir,
				)
			}
			return nil
		},
	}
	o.dirFlags(cmd)
	return cmd
}

func writeReport(out io.Writer, dir string, r *store.Report) {
	fmt.Fprintf(out, "%s: format %d, messages %d, ids of SMSCs %d, events %d\n", dir, r.Format, r.Messages, r.Mappings, r.Events)
	if r.Messages > 0 {
		fmt.Fprintf(out, "messages from %s to %s\n", sms.FormatID(r.First), sms.FormatID(r.Last))
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(out, "cannot read %s\n", console.Escaped(fault))
	}
}

// backupTimeout is the time limit for a running gateway that copies its store.
const backupTimeout = time.Hour

func newStoreBackupCommand() *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "backup NAME|DIRECTORY",
		Short: "Copy a store into a new directory, while the gateway runs or is stopped",
		Long: `Copies the store into a directory that must not exist yet. A running gateway makes it, with
this name, in the directory store.backups of its configuration. For a stopped gateway it may
be any directory. Only the gateway's user can read the copy, which is consistent: the store
at one moment. On the same file system it takes little space at first, because files are
linked.

A gateway that is started with the copy sends all messages that waited at that moment, even
those that were sent since, so start it only if the store itself is lost.`,
		Example: "  pmg store backup monday\n  pmg store backup --store data /var/backups/pmg-monday",
		Args:    ask.Exactly(1, "the name of the copy, or for a gateway that is stopped the directory to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := o.find(cmd)
			if err != nil {
				return err
			}
			dir, err := source.backup(cmd.Context(), args[0])
			if err = errors.Join(err, source.close()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the store was copied to %s\n", dir)
			return nil
		},
	}
	o.flags(cmd)
	return cmd
}
