// Package files has the commands that read or change what a gateway has on disk: pmg forget, pmg stats, and what the loss of a
// part of a store means.
//
// Start reading with Forget, Statistics or CompareLosses.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/config"
	"pmg/gateway/privacy"
	"pmg/internal/console"
	"pmg/protocols"
)

// A ForgetProgram holds the functions of package main that the command forget calls.
type ForgetProgram struct {
	// Gateway adds the flags that select a gateway. find returns how it is asked, or, if none runs, its configuration.
	Gateway func(cmd *cobra.Command) (find func() (ask Ask, stopped *config.Config, err error))
	Driver  func(command string) (protocols.Driver, error)
	JSON    func(out io.Writer, v any) error
}

// Ask sends a request to a gateway that runs, and reads its answer into v.
type Ask func(ctx context.Context, method, path string, v any) error

// Forget returns the command forget.
func Forget(p ForgetProgram) *cobra.Command {
	var dry bool
	var output string
	var find func() (Ask, *config.Config, error)
	cmd := &cobra.Command{
		Use:   "forget NUMBER...",
		Short: "Remove what is kept of a person: messages, notes, pdu logs and events",
		Long: `Removes phone numbers, and the texts of messages from them, to them or that name them, from
what the gateway keeps. Messages that wait are cancelled: their clients are informed as when
an operator deletes them. The store's notes lose the addresses, and its files are written
anew. The lines of pdu logs and events stay, without the number and the text, so that events
keep their numbers, and statistics their sums. docs/privacy.md says what is kept where.

Numbers are international, with the country code. They are found with +, 00 or nothing in
front, and in their national form. Blanks and - . / ( ) make no difference.

A running gateway does it; without one the command does, but for messages that wait. It may
be interrupted, and repeated. --dry-run changes nothing, and reports what would be removed.
The report also says what is left, and why. The exit status is 1 if something could not be
removed.`,
		Example: `  pmg forget --dry-run +46701740605
  pmg forget +46701740605
  pmg forget -o json 46701740605 46701740606`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("cannot print %s: -o takes json alone", strconv.Quote(output))
			}
			numbers, err := privacy.ParseNumbers(args)
			if err != nil {
				return err
			}
			ask, cfg, err := find()
			if err != nil {
				return err
			}
			var report *privacy.Report
			if cfg != nil {
				report, err = forgetStopped(cmd.Context(), cfg, p.Driver, numbers, dry, progress(cmd.ErrOrStderr()))
			} else {
				report, err = forgetRunning(cmd.Context(), ask, numbers, dry, progress(cmd.ErrOrStderr()))
			}
			if err == nil || report != nil {
				err = errors.Join(err, p.print(cmd.OutOrStdout(), report, output))
			}
			return err
		},
	}
	find = p.Gateway(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "remove nothing, and report what would be removed")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `form` of the report: json")
	return cmd
}

// sayEvery is the pause between two lines about the progress.
const sayEvery = 2 * time.Second

// progress returns a function that prints the progress, at intervals.
func progress(out io.Writer) func(string) {
	said := time.Now()
	return func(doing string) {
		if time.Since(said) >= sayEvery {
			said = time.Now()
			fmt.Fprintln(out, console.Plain(doing))
		}
	}
}

// forgetRunning sends the request to a gateway, and asks for its progress until the answer comes.
func forgetRunning(ctx context.Context, ask Ask, of *privacy.Numbers, dry bool, say func(string)) (*privacy.Report, error) {
	query := url.Values{"number": of.All()}
	if dry {
		query.Set("dry_run", "1")
	}
	report, done := new(privacy.Report), make(chan error, 1)
	go func() { done <- ask(ctx, http.MethodPost, admin.Base+"/forget?"+query.Encode(), report) }()
	every := time.NewTicker(sayEvery)
	defer every.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return nil, err
			}
			return report, nil
		case <-every.C:
			var f admin.Forgetting
			if err := ask(ctx, http.MethodGet, admin.Base+"/forgetting", &f); err == nil && f.Doing != "" {
				say(f.Doing)
			}
		}
	}
}

// print prints a report, and returns an error if something could not be removed.
func (p *ForgetProgram) print(out io.Writer, r *privacy.Report, output string) error {
	var err error
	if output == "json" {
		err = p.JSON(out, r)
	} else {
		_, err = io.WriteString(out, plainLines(r.String()))
	}
	for _, one := range r.Left {
		if one.Failed && err == nil {
			err = errors.New("cannot remove all: see what was left, and repeat the command")
		}
	}
	return err
}

// plainLines is console.Plain for some lines.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = console.Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}
