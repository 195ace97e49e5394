// Package history has the commands about the history of managed files: they show and revert changes.
//
// Start reading with Commands.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/console"
)

// A Load loads a configuration, with some contents instead of those of managed files.
type Load func(file string, instead map[string][]byte) (*config.Config, error)

// A command is the common part of the commands.
type command struct {
	ask.Gateway
	load Load
	file string
	c    *config.Config
}

// Commands returns the commands.
func Commands(load Load) []*cobra.Command {
	return []*cobra.Command{newHistory(load), newDiff(load), newRevert(load)}
}

// open loads the configuration, and returns its directory of managed files.
func (o *command) open() (*managed.Dir, error) {
	var err error
	if o.c, err = o.load(o.file, nil); err != nil {
		return nil, err
	}
	if o.c.Managed.Dir == "" {
		return nil, fmt.Errorf("there is no history: %s sets no managed.dir", o.file)
	}
	return managed.Open(o.c.Managed.Dir, nil), nil
}

func newHistory(load Load) *cobra.Command {
	o, most := command{load: load}, 20
	cmd := &cobra.Command{
		Use:   "history [file]",
		Short: "List the changes of managed files, the last one first",
		Long: `Lists the changes of the files in managed.dir, which are made by HTTP, by the operators' pages and by pmg
config revert: the number, the time, the file, who has made it and why. It reads the directory,
whether a gateway runs or not.`,
		Example: "  pmg config history\n  pmg config history accounts/acme.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := o.open()
			if err != nil {
				return err
			}
			all, err := d.History(strings.Join(args, ""), 0, most)
			if err != nil {
				return err
			}
			rows := [][]string{{"change", "time", "file", "what", "by", "comment"}}
			for _, c := range all {
				what := "made"
				if c.Existed {
					what = "changed"
				}
				rows = append(rows, []string{fmt.Sprint(c.Number), c.Time.Format(time.DateTime), c.File, what, c.By, c.Comment})
			}
			return console.Table(cmd.OutOrStdout(), rows)
		},
	}
	ask.Flag(cmd, &o.file)
	cmd.Flags().IntVarP(&most, "number", "n", most, "the most `changes` that are listed")
	return cmd
}

func newDiff(load Load) *cobra.Command {
	o := command{load: load}
	cmd := &cobra.Command{
		Use:   "diff [change]",
		Short: "Print what it would change to take a change of a managed file back",
		Long: `Prints what pmg config revert would change, in the lines that a reload prints, and changes nothing. Without a
number that is about the last change.`,
		Example: "  pmg config diff 42",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.revert(cmd, args, true) },
	}
	ask.Flag(cmd, &o.file)
	o.Gateway.Flags(cmd)
	return cmd
}

func newRevert(load Load) *cobra.Command {
	o := command{load: load}
	cmd := &cobra.Command{
		Use:   "revert change",
		Short: "Make a managed file what it was before a change",
		Long: `Makes a file of managed.dir what it was before a change, and prints what that has changed. A gateway that runs checks
that and puts it in force; if none runs, the command checks it and writes the file. It is a change itself,
so it can be taken back in the same way.`,
		Example: "  pmg config history\n  pmg config revert 42",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.revert(cmd, args, false) },
	}
	ask.Flag(cmd, &o.file)
	o.Gateway.Flags(cmd)
	return cmd
}

// revert reverts a change: by the running gateway, or otherwise here.
func (o *command) revert(cmd *cobra.Command, args []string, dry bool) error {
	d, err := o.open()
	if err != nil {
		return err
	}
	number := 0
	if len(args) > 0 {
		if number, err = strconv.Atoi(args[0]); err != nil {
			return fmt.Errorf("cannot revert: a change has a number, not %q", args[0])
		}
	} else if last, err := d.History("", 0, 1); err != nil || len(last) == 0 {
		return errors.Join(errors.New("cannot revert: nothing was changed"), err)
	} else {
		number = last[0].Number
	}
	result, asked, err := o.ask(cmd, number, dry)
	if err == nil && !asked && o.c.Cluster.Node != "" && !dry {
		err = errors.New("cannot revert: no gateway answers here, and in a cluster the node that owns the work makes changes")
	}
	if err == nil && !asked {
		result, err = o.do(d, number, dry)
	}
	if err != nil {
		return err
	}
	return tell(cmd.OutOrStdout(), result, asked, dry)
}

// ask asks the gateway, and reports false if none answers.
func (o *command) ask(cmd *cobra.Command, number int, dry bool) (r editor.Result, asked bool, err error) {
	if o.Address == "" && o.Find(o.c, o.file) != nil {
		return r, false, nil
	}
	path := fmt.Sprintf("%s/changes/%d/revert?dry_run=%t", admin.Base, number, dry)
	answer, err := o.Request(cmd.Context(), time.Minute, http.MethodPost, path)
	if err != nil {
		return r, false, nil // no gateway runs
	}
	if answer.Code != http.StatusOK && answer.Code != http.StatusCreated {
		return r, true, refusal(answer.Body)
	}
	if err := json.Unmarshal(answer.Body, &r); err != nil {
		return r, true, fmt.Errorf("cannot read the gateway's answer: %w", err)
	}
	return r, true, nil
}

// refusal returns the reason of the gateway's refusal, with the problems that the change would cause.
func refusal(body []byte) error {
	var p struct {
		Detail   string
		Problems []struct {
			Option, Detail, File string
			Line                 int
		}
	}
	if json.Unmarshal(body, &p) != nil || p.Detail == "" {
		return errors.New(strings.TrimSpace(string(body)))
	}
	r := editor.Refusal{Text: p.Detail}
	for _, one := range p.Problems {
		r.Problems = append(r.Problems, document.Problem{
			File: one.File, Line: one.Line, Column: 1, Path: one.Option, Message: one.Detail,
		})
	}
	return &r
}

// do reverts a change in the files, without a gateway.
func (o *command) do(d *managed.Dir, number int, dry bool) (editor.Result, error) {
	r, err := editor.Revert(d, number)
	if err != nil {
		return editor.Result{}, err
	}
	r.Dry, r.By = dry, "pmg config"
	if u, err := user.Current(); err == nil {
		r.By = u.Username + " (pmg config)"
	}
	e := editor.Editor{
		Dir: d, Load: func(instead map[string][]byte) (*config.Config, error) { return o.load(o.file, instead) },
	}
	return e.Do(r)
}

func tell(w io.Writer, r editor.Result, asked, dry bool) error {
	for _, line := range r.Changes {
		fmt.Fprintln(w, line)
	}
	end := ""
	switch {
	case dry && len(r.Changes) == 0:
		end = "nothing would change"
	case dry:
		return nil
	case r.Number == 0:
		end = "nothing has changed: it is so already"
	case asked:
		end = fmt.Sprintf("in force, as change %d", r.Number)
	default:
		end = fmt.Sprintf("written, as change %d; no gateway answers, so the next start or reload takes it", r.Number)
	}
	_, err := fmt.Fprintln(w, end)
	return err
}
