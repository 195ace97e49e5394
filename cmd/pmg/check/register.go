package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

func listTestCommand(load ask.Load) *cobra.Command {
	return onList(load, &cobra.Command{
		Use:   "test NAME NUMBER",
		Short: "Say whether a number is on a list",
		Long: `Says whether a number, or the name of a sender, is on a list of the configuration: in its
file, by a prefix, or by a change beside the file. A running gateway may still have the
earlier entries for about two seconds.`,
		Example: "  pmg list test optouts +46701740605",
		Args:    ask.Exactly(2, "the name of a list and a number"),
	}, func(out io.Writer, l register, name string, all []string) error {
		on, err := l.has(all[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %s list %s\n", quoted(all[0]), isOn(on), name)
		return nil
	})
}

func isOn(on bool) string {
	if on {
		return "is on"
	}
	return "is not on"
}

func listShowCommand(load ask.Load) *cobra.Command {
	return onList(load, &cobra.Command{
		Use:   "show NAME NUMBER",
		Short: "Say whether a number is on a list, and since when",
		Long: `Says whether a number, or the name of a sender, is on a list of the configuration, and what decides
that: its file, a prefix of its file, or a change beside the file. Then follow the changes, the
latest first: time, what has changed, source, who, the message of a mobile, and the reason. A dash
stands for what is not known, such as the time of changes by earlier versions.`,
		Example: "  pmg list show optouts +46701740605",
		Args:    ask.Exactly(2, "the name of a list and a number"),
	}, func(out io.Writer, l register, name string, all []string) error {
		found, err := l.find(all[0])
		if err != nil {
			return err
		}
		by := map[numbers.Place]string{
			numbers.InFile: ", by its file", numbers.ByPrefix: ", by a prefix of its file", numbers.ByChange: ", by a change",
		}
		fmt.Fprintf(out, "%s %s list %s%s\n", quoted(all[0]), isOn(found.On), name, by[found.By])
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for i := range found.History {
			c, at := &found.History[i], ""
			if c.Time != nil {
				at = c.Time.UTC().Format("2006-01-02 15:04:05 UTC")
			}
			for _, cell := range []string{at, c.Change, string(c.Source), c.Who, c.ID} {
				fmt.Fprintf(w, "%s\t", console.Escaped(cmp.Or(cell, "-")))
			}
			fmt.Fprintln(w, console.Escaped(c.Reason))
		}
		return w.Flush()
	})
}

func listExportCommand(load ask.Load) *cobra.Command {
	var removed bool
	cmd := onList(load, &cobra.Command{
		Use:   "export NAME",
		Short: "Write a list with its changes, as CSV",
		Long: `Writes what is on a list of the configuration, by its file and the changes beside it, as CSV: number,
on, since, source, who, id and reason. Rows of the file have the first two. The file of a list can
be made of it. With --all the numbers that changes have removed are in it, too, with no in column on.`,
		Example: "  pmg list export optouts > optouts.csv",
		Args:    ask.Exactly(1, "the name of a list"),
	}, func(out io.Writer, l register, _ string, _ []string) error { return l.export(out, removed) })
	cmd.Flags().BoolVar(&removed, "all", false, "also write the numbers that were removed")
	return cmd
}

func listAddCommand(load ask.Load) *cobra.Command {
	var reason string
	cmd := onList(load, &cobra.Command{
		Use:   "add NAME NUMBER...",
		Short: "Add numbers to a list",
		Long: `Adds numbers, or names of senders, to a list of the configuration. They are written to a
file beside that of the list, with the ending .changes, so they stay when the list's file is
replaced. A running gateway knows them within two seconds. In a cluster the gateway is asked, at the
node that owns the work, and all nodes have them.`,
		Example: "  pmg list add optouts +46701740605 --reason 'asked by letter'",
		Args:    ask.AtLeast(2, "the name of a list and numbers"),
	}, func(out io.Writer, l register, name string, all []string) error {
		n, err := l.change(true, reason, all)
		if err == nil {
			fmt.Fprintf(out, "list %s: %d added, %d were added before\n", name, n, len(all)-n)
		}
		return err
	})
	reasonFlag(cmd, &reason)
	return cmd
}

func listRemoveCommand(load ask.Load) *cobra.Command {
	var reason string
	cmd := onList(load, &cobra.Command{
		Use:   "remove NAME NUMBER...",
		Short: "Remove numbers from a list",
		Long: `Removes numbers, or names of senders, from a list of the configuration, even if its file has
them. They are written to a file beside that of the list, with the ending .changes. A running
gateway knows them within two seconds. In a cluster the gateway is asked, at the node that owns the
work.`,
		Example: "  pmg list remove optouts +46701740605",
		Args:    ask.AtLeast(2, "the name of a list and numbers"),
	}, func(out io.Writer, l register, name string, all []string) error {
		n, err := l.change(false, reason, all)
		if err == nil {
			fmt.Fprintf(out, "list %s: %d removed, %d were not on it\n", name, n, len(all)-n)
		}
		return err
	})
	reasonFlag(cmd, &reason)
	return cmd
}

// reasonFlag adds the flag for the reason of a change.
func reasonFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "a `text` for the history of the number that says why: one line of 200 octets at most")
}

// onList completes a command that uses a list of the configuration, whose name is its first argument.
func onList(
	load ask.Load, cmd *cobra.Command, do func(out io.Writer, l register, name string, all []string) error,
) *cobra.Command {
	var file string
	var g ask.Gateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := load(cmd.ErrOrStderr(), file)
		if err != nil {
			return err
		}
		for i := range c.Lists {
			if c.Lists[i].Name != args[0] {
				continue
			}
			if c.Cluster.Node != "" && g.Address == "" {
				if err := g.Find(c, file); err != nil {
					return err
				}
			}
			if g.Address != "" {
				return do(cmd.OutOrStdout(), remoteList{cmd.Context(), &g, args[0]}, args[0], args[1:])
			}
			l, err := numbers.Open(c.Lists[i].File, false)
			if err != nil {
				return err
			}
			return do(cmd.OutOrStdout(), localList{cmd.Context(), l, args[0]}, args[0], args[1:])
		}
		return fmt.Errorf("cannot find list %s: the section lists of %s does not name it", quoted(args[0]), file)
	}
	ask.Flag(cmd, &file)
	g.Flags(cmd)
	return cmd
}

// A register is a list that a command reads and changes.
type register interface {
	has(address string) (bool, error)
	find(address string) (*admin.Listed, error)
	change(on bool, reason string, addresses []string) (int, error)
	export(out io.Writer, removed bool) error
}

// A localList is a list that is read and changed beside its file, whether a gateway runs or not.
type localList struct {
	ctx  context.Context
	list *numbers.List
	name string
}

func (l localList) has(address string) (bool, error) { return l.list.Has(number.Read(address)), nil }

func (l localList) find(address string) (*admin.Listed, error) {
	found, err := l.list.Look(l.ctx, address)
	return admin.ListedOf(l.name, address, found), err
}

func (l localList) change(on bool, reason string, addresses []string) (int, error) {
	from := numbers.Origin{At: time.Now(), Source: numbers.Command, Reason: reason}
	if u, err := user.Current(); err == nil {
		from.Who = u.Username
	}
	if on {
		return l.list.Add(from, addresses...)
	}
	return l.list.Remove(from, addresses...)
}

func (l localList) export(out io.Writer, removed bool) error {
	return l.list.WriteCSV(l.ctx, out, removed, nil)
}

// Time limits of a gateway's answers.
const (
	askTimeout    = 30 * time.Second
	exportTimeout = 10 * time.Minute
)

// A remoteList is a list of a running gateway.
type remoteList struct {
	ctx     context.Context
	gateway *ask.Gateway
	name    string
}

func (l remoteList) path(rest string) string {
	return admin.Base + "/lists/" + url.PathEscape(l.name) + rest
}

func (l remoteList) has(address string) (bool, error) {
	var on struct{ Lists []string }
	query := url.Values{"number": {address}}
	err := l.gateway.JSON(l.ctx, askTimeout, http.MethodGet, admin.Base+"/listed?"+query.Encode(), &on)
	return slices.Contains(on.Lists, l.name), err
}

func (l remoteList) find(address string) (*admin.Listed, error) {
	found := new(admin.Listed)
	err := l.gateway.JSON(l.ctx, askTimeout, http.MethodGet, l.path("/numbers/"+url.PathEscape(address)), found)
	return found, err
}

func (l remoteList) change(on bool, reason string, addresses []string) (int, error) {
	path := admin.Base + "/lists/remove?"
	if on {
		path = admin.Base + "/lists/add?"
	}
	var done admin.ChangedList
	query := url.Values{"list": {l.name}, "number": addresses}
	if reason != "" {
		query.Set("reason", reason)
	}
	path += query.Encode()
	err := l.gateway.JSON(l.ctx, askTimeout, http.MethodPost, path, &done)
	return done.Changed, err
}

func (l remoteList) export(out io.Writer, removed bool) error {
	path := l.path("/export")
	if removed {
		path += "?all=1"
	}
	answer, err := l.gateway.Granted(l.ctx, exportTimeout, http.MethodGet, path)
	if err == nil {
		_, err = out.Write(answer.Body)
	}
	return err
}
