package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/admin/web"
	"pmg/cmd/pmg/ask"
	"pmg/cmd/pmg/whatif"
	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

type reloadOptions struct {
	ask.Gateway
	config string
	force  bool
}

func newReloadCommand() *cobra.Command {
	var o reloadOptions
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make a running gateway read its configuration again",
		Long: `Checks the configuration, and asks the running gateway to read the file again. Prints the
options that changed and those that need a restart. If the configuration cannot be used,
nothing changes and the exit status is 1.

A reload that would remove more than half of the in connectors, of the out connectors
or of the accounts, or all routes, is refused, because the file was probably cut off;
--force allows it. SIGHUP is a reload without --force that also begins new pdu log
files.

With --address and without -c, pmg reload does not check a file first.`,
		Example: "  pmg reload -c /etc/pmg/pmg.yaml\n  pmg reload --address 127.0.0.1:2780 --force",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("address") || cmd.Flags().Changed("config") {
				c, err := loadConfig(cmd.ErrOrStderr(), o.config)
				if err != nil {
					return err
				}
				if o.Address == "" && o.Find(c, o.config) != nil {
					return fmt.Errorf(
						"cannot ask gateway: %s sets no admin.address and no admin.socket, so send SIGHUP to its process instead",
						o.config,
					)
				}
				if o.config, err = filepath.Abs(o.config); err != nil {
					return fmt.Errorf("cannot find configuration: %w", err)
				}
			} else {
				o.config = ""
			}
			return askReload(cmd, o)
		},
	}
	ask.Flag(cmd, &o.config)
	f := cmd.Flags()
	o.Gateway.Flags(cmd)
	f.BoolVar(&o.force, "force", false, "allow any number of connectors, accounts and routes to be removed")
	return cmd
}

// askReload asks a gateway to reload, and prints its answer.
func askReload(cmd *cobra.Command, o reloadOptions) error {
	query := url.Values{"file": {o.config}}
	if o.force {
		query.Set("force", "1")
	}
	answer, err := o.Request(cmd.Context(), 30*time.Second, http.MethodPost, admin.Base+"/reload?"+query.Encode())
	if err != nil {
		return err
	}
	if answer.Code != http.StatusOK {
		return errors.New(strings.TrimSpace(string(answer.Body)))
	}
	var done admin.Reloaded
	if err := json.Unmarshal(answer.Body, &done); err != nil {
		return fmt.Errorf("cannot read the gateway's answer: %w", err)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(done.Report, "\n"))
	return err
}

// A reloadRequest is a request for a reload from the admin listener.
type reloadRequest struct {
	file   string // "": the gateway's configuration
	force  bool
	dry    bool                // dry run: return the changes without making them
	read   bool                // return the configuration of the file; nothing changes
	edit   *editor.Request     // change of a managed file before the reload; nil: no change
	answer chan<- reloadAnswer // buffered for one answer
}

type reloadAnswer struct {
	report string
	edited editor.Result
	read   *config.Config
	err    error
}

// reloadTimeout is the time that a request waits for another reload to finish.
const reloadTimeout = 5 * time.Second

// askReload passes a reload to the goroutine of server.run, so that there is one reload at a time.
func (s *server) askReload(ctx context.Context, file string, force bool) (string, error) {
	a := s.ask(ctx, reloadRequest{file: file, force: force})
	return a.report, a.err
}

// askEdit passes a change of a managed file to the goroutine of server.run.
func (s *server) askEdit(ctx context.Context, r editor.Request) (editor.Result, error) {
	a := s.ask(ctx, reloadRequest{edit: &r})
	return a.edited, a.err
}

// pending returns the changes that a reload would make if it accepted every removal.
func (s *server) pending(ctx context.Context) (string, error) {
	a := s.ask(ctx, reloadRequest{dry: true})
	return a.report, a.err
}

// whatIf tries a configuration on traffic, or that of the file if next is nil. It takes one processor, because the gateway goes
// on.
func (s *server) whatIf(ctx context.Context, next *config.Config, t web.Traffic) (*web.Trial, error) {
	if next == nil {
		a := s.ask(ctx, reloadRequest{read: true})
		if a.err != nil {
			return nil, a.err
		}
		next = a.read
	}
	q := whatif.Question{
		Config: next, Drivers: newDriver, Dirs: []string{s.gateway.Node.Config().Events.Dir}, Account: t.Account, Workers: 1,
		Progress: func(int64) {},
	}
	if q.Dirs[0] == "" {
		return nil, errors.New("the configuration has no events.dir, so that there is nothing to try it on")
	}
	if err := q.During(&t.Days, time.Now()); err != nil {
		return nil, err
	}
	a, err := whatif.Try(ctx, q)
	if err != nil {
		return nil, err
	}
	return &web.Trial{Title: a.Title(), Tables: a.Tables()}, nil
}

func (s *server) ask(ctx context.Context, r reloadRequest) reloadAnswer {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	answer := make(chan reloadAnswer, 1)
	r.answer = answer
	select {
	case s.reloads <- r:
	case <-ctx.Done():
		return reloadAnswer{err: &editor.Refusal{
			Status: http.StatusServiceUnavailable, Text: "cannot reload: the gateway is stopping, or busy with another reload",
		}}
	}
	return <-answer
}

// carryOut reloads, or reports the changes that a reload would make.
func (s *server) carryOut(file string, r reloadRequest) (a reloadAnswer) {
	if r.read {
		a.read, a.err = s.files.load(io.Discard, file, nil)
		return a
	}
	if r.edit == nil {
		a.report, a.err = s.reloadFile(file, r)
		return a
	}
	cfg := s.gateway.Node.Config()
	e := editor.Editor{
		Dir: managed.Open(cfg.Managed.Dir, s.sharedFiles()), Running: s.gateway.Node.Config,
		Load: func(instead map[string][]byte) (*config.Config, error) {
			return s.files.load(io.Discard, file, instead)
		},
		Apply: func(c *config.Config, meant string) error {
			if losses := cfg.Losses(c, meant); len(losses) > 0 {
				return fmt.Errorf(
					"%s has also changed, and a reload would remove %s; run pmg reload --force, and repeat this change", file,
					strings.Join(losses, ", "),
				)
			}
			_, err := s.reload(c)
			return err
		},
	}
	a.edited, a.err = e.Do(*r.edit)
	return a
}

// A reader loads a gateway's configuration repeatedly.
type reader struct {
	allow bool // everybody may be able to read files with passwords
	cache config.Cache
}

// load loads the configuration. instead has contents that replace those of managed files.
func (f *reader) load(warnings io.Writer, file string, instead map[string][]byte) (*config.Config, error) {
	o := asItRuns()
	o.Cache, o.Instead = &f.cache, instead
	return loadPrivate(warnings, file, o, f.allow)
}

// reloadFile loads the configuration again and puts it in force. It returns a text about the changes.
func (s *server) reloadFile(file string, r reloadRequest) (report string, err error) {
	if r.dry {
		return s.compare(file)
	}
	s.tell(s.manager.Reloading)
	defer func() {
		s.tell(s.manager.Ready)
		if err != nil {
			s.log.Error().Err(err).Msg("cannot reload; nothing has changed")
		}
	}()
	if r.file != "" && !sameFile(file, r.file) {
		return "", fmt.Errorf("cannot reload: this gateway reads %s, not %s", file, r.file)
	}
	cfg, err := s.files.load(logWriter{s.log}, file, nil)
	if err != nil {
		return "", fmt.Errorf("cannot reload: %w", err)
	}
	if losses := s.gateway.Node.Config().Losses(cfg, ""); len(losses) > 0 && !r.force {
		return "", fmt.Errorf(
			"cannot reload: %s would remove %s; pmg reload --force allows that", file, strings.Join(losses, ", "),
		)
	}
	if err := s.shareEdited(cfg); err != nil {
		return "", fmt.Errorf("cannot reload: %w", err)
	}
	changes, err := s.reload(cfg)
	if err != nil {
		return "", err
	}
	return reloadReport(file, changes), nil
}

// compare returns a text about the changes that a reload would make.
func (s *server) compare(file string) (string, error) {
	var b strings.Builder
	cfg, err := s.files.load(&b, file, nil)
	if err != nil {
		return "", fmt.Errorf("a reload would fail: %w", err)
	}
	now := s.gateway.Node.Config()
	if losses := now.Losses(cfg, ""); len(losses) > 0 {
		fmt.Fprintf(
			&b, "a reload would be refused, because it would remove %s; pmg reload --force allows that\n",
			strings.Join(losses, ", "),
		)
	}
	changes := now.Diff(cfg)
	for _, c := range changes {
		fmt.Fprintln(&b, c)
	}
	fmt.Fprintf(&b, "options of %s that differ from those in force: %d", file, len(changes))
	return b.String(), nil
}

// sameFile reports whether both names refer to the same file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// reloadReport returns a text about the changes of a reload.
func reloadReport(file string, changes []config.Change) string {
	var b strings.Builder
	restart := 0
	for _, c := range changes {
		fmt.Fprintln(&b, c)
		if !c.Live {
			restart++
		}
	}
	fmt.Fprintf(&b, "reloaded %s; options changed: %d", file, len(changes)-restart)
	if restart > 0 {
		fmt.Fprintf(&b, "; waiting for a restart: %d", restart)
	}
	return b.String()
}
