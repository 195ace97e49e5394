package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/cmd/pmg/member"
	"pmg/config"
	"pmg/internal/daemon"
	"pmg/internal/sock"
	"pmg/stages"
)

func newServeCommand() *cobra.Command {
	var file string
	var f reader
	cmd := &cobra.Command{
		Use:        "serve",
		SuggestFor: []string{"run", "start"},
		Short:      "Run the gateway",
		Long: `Runs the gateway until a signal stops it.

SIGTERM or an interrupt drains it: it accepts no more clients, waits for the answers
under way and logs out every session, for limits.drain_timeout at most. Messages that
wait stay in the store, and the next start sends them; with store.engine: memory they
are sent first. A second signal ends it immediately.

SIGHUP reads the configuration again, as pmg reload does, and begins new pdu log files.
Options that pmg config describe marks with "reload" take effect, and connectors are
added and removed; the sessions of other connectors stay open. A configuration that
cannot be used, or that would remove most connectors, accounts or routes, changes
nothing and is reported in the log.

Listening sockets from systemd (LISTEN_FDS) are used by the connectors with the same name
(FileDescriptorName); the one named admin is used for admin.address. So no connection is
refused during a restart.

With the section cluster the gateway stands by until this node owns the work, and hands
the work over when it is stopped (docs/cluster.md). A node that does not own the work any
more ends with status 75.

The exit status is 70 when the gateway failed and could not go on: the log has the
reason at level error, and a supervisor should start pmg again. It is 75 when the store
failed, for example because its disk reports errors: all confirmed messages are in the
store, and a supervisor should start pmg again, which continues with them.
It is also 75 when a gateway was stopped by a signal and, eight seconds after
limits.drain_timeout, still waits for a disk that does not answer: all confirmed messages
are in the store. And it is 75 when a gateway without a durable store (store.engine:
memory) stopped after a signal, but had accepted messages that were not sent in time or
were scheduled for later: the log has their number.`,
		Example: "  pmg config init && pmg serve\n  pmg serve -c /etc/pmg/pmg.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.load(cmd.ErrOrStderr(), file, nil)
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%w; \"pmg config init -c %s\" writes a starter file", err, file)
			}
			if err != nil {
				return err
			}
			if file, err = filepath.Abs(file); err != nil {
				return fmt.Errorf("cannot find configuration: %w", err)
			}
			return serve(cfg, file, &f)
		},
	}
	ask.Flag(cmd, &file)
	allowFlag(cmd, &f.allow)
	return cmd
}

func serve(cfg *config.Config, file string, f *reader) error {
	log := newLogger(os.Stdout, cfg)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	opened := handedOver(cfg, log)
	err := become(cfg, file, log, opened)
	if err != nil {
		return err
	}
	if cfg.Cluster.Node == "" {
		_, err := work(cfg, file, f, log, signals, opened, nil)
		return err
	}
	w := &member.Standby{
		Config: cfg, Log: log, Signals: signals, Opened: opened, Version: version,
		Load: func() (*config.Config, error) { return f.load(logWriter{log}, file, nil) },
	}
	m, err := w.Wait()
	if errors.Is(err, member.ErrStopped) {
		log.Info().Msg("stopped")
		return nil
	}
	if err != nil {
		return exitError{err, exitTemporary}
	}
	if err := m.TakeFiles(w.Config); err != nil {
		return exitError{err, exitTemporary}
	}
	if cfg = w.Config; cfg.Managed.Dir != "" {
		if cfg, err = w.Load(); err != nil {
			return exitError{errors.Join(err, m.Close()), exitTemporary}
		}
	}
	next, err := work(cfg, file, f, log, signals, opened, m)
	if err == nil || errors.Is(err, errMoved) {
		m.HandOver(next)
	}
	return errors.Join(err, m.Close())
}

// errMoved is the error of a process whose work was moved to another node, by an operator or for cluster.hand_over_after. A
// supervisor starts the process again, as a standby.
var errMoved = errors.New("the work was moved to another node: start this one again")

// lost ends the gateway of a node that does not own the work any more, like a kill: it sends nothing more, and
// unstored changes are void.
func (s *server) lost() error {
	why := s.member.Lost()
	s.log.Error().Err(why).Msg("another node may own the work now; ending the process, which a supervisor starts again")
	return exitError{why, exitTemporary}
}

// work runs the gateway until shutdown. m is nil for a gateway without a cluster; otherwise work returns the node
// that takes over.
func work(
	cfg *config.Config, file string, f *reader, log zerolog.Logger, signals <-chan os.Signal, opened stages.Listeners,
	m *member.Member,
) (next string, err error) {
	s, err := startServerOn(cfg, log, opened, m)
	if errors.Is(err, fs.ErrPermission) && cfg.User != "" {
		return "", fmt.Errorf("%w: the gateway runs as user %s (user), to whom this must belong: chown", err, cfg.User)
	}
	if err != nil {
		return "", err
	}
	s.files = f
	m.SetDown(s.gateway.Unreached)
	s.manager = daemon.NewManager(os.Getenv, os.Getpid())
	debug.SetMemoryLimit(cfg.Limits.MemoryLimit())
	log.Info().Str("version", version).Str("config", file).Int("pid", os.Getpid()).Msg("serving")
	defer log.Info().Msg("stopped")
	watched, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	go s.watch(watched)
	if err := s.run(signals, file); err != nil {
		return "", err
	}
	log.Info().Stringer("at_most", s.gateway.Node.Config().Limits.DrainTimeout).Msg(
		"stopping; interrupt again to end immediately",
	)
	ctx, cancel := context.WithTimeout(context.Background(), s.gateway.Node.Config().Limits.DrainTimeout)
	defer cancel()
	go func() {
		for sig := range signals {
			if sig != syscall.SIGHUP {
				cancel()
			}
		}
	}()
	if err := s.end(ctx, nil); err != nil {
		return "", err
	}
	if s.next != nil {
		return *s.next, exitError{errMoved, exitTemporary}
	}
	return "", s.givenUp()
}

// handedOver returns the sockets that the service manager has passed to this process, by connector. Child processes
// do not inherit them.
func handedOver(cfg *config.Config, log zerolog.Logger) stages.Listeners {
	handed, problems := sock.TakeHanded(os.Getenv, os.Getpid())
	for _, err := range problems {
		log.Error().Msg(err.Error())
	}
	for _, name := range []string{"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name)
	}
	opened := stages.Listeners{}
	use := func(name, as string, addresses ...string) {
		sockets := handed[name]
		delete(handed, name)
		if len(sockets) == 0 {
			return
		}
		opened[as] = sockets
		for _, address := range addresses {
			if !slices.ContainsFunc(sockets, func(s sock.Listening) bool { return s.Is(address) }) {
				log.Warn().Str("name", name).Str("address", address).
					Msg(
						"nothing listens on this address of the configuration: the sockets of that name from the service " +
							"manager have other addresses",
					)
			}
		}
	}
	if cfg.Admin.Address != "" {
		use("admin", member.AdminSocket, cfg.Admin.Address)
	}
	for i := range cfg.Connectors {
		if c := &cfg.Connectors[i]; c.Listens() {
			use(c.Name, c.Name, c.AllAddresses()...)
		}
	}
	for name, sockets := range handed {
		log.Warn().Str("name", name).Msg(
			"a socket from the service manager is not used, and is closed: its name (FileDescriptorName) must be that of a " +
				"connector that listens, or admin if admin.address is set",
		)
		for _, s := range sockets {
			_ = unix.Close(s.FD)
		}
	}
	return opened
}

// become changes the user of the process to the one in the configuration. Before that, root opens the remaining sockets.
func become(cfg *config.Config, file string, log zerolog.Logger, opened stages.Listeners) error {
	if cfg.User == "" {
		if os.Geteuid() == 0 {
			log.Warn().Msg("the gateway runs as root, which is not necessary: set the option user, or User in its unit")
		}
		return nil
	}
	for i := range cfg.Connectors {
		c := &cfg.Connectors[i]
		if !c.Listens() || opened[c.Name] != nil {
			continue
		}
		for _, address := range c.AllAddresses() {
			s, err := sock.Listen(address)
			if err != nil {
				return fmt.Errorf("cannot start connector %s: %w", c.Name, err)
			}
			opened[c.Name] = append(opened[c.Name], s)
		}
	}
	if err := daemon.DropPrivileges(cfg.User); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf(
			"cannot read configuration: %w: user %s (user) must be able to, for reloads: chgrp and chmod g+r", err, cfg.User,
		)
	}
	return f.Close()
}

// watch notifies the service manager until ctx is done: that the gateway is ready, when the messages of earlier runs
// are queued; and that it works, unless a stage hangs.
func (s *server) watch(ctx context.Context) {
	go func() {
		if s.recovery.Wait(); !s.gateway.Node.Draining() {
			s.tell(s.manager.Ready)
		}
	}()
	progress := admin.NewProgress()
	s.tell(func() error {
		return s.manager.Watch(ctx, func() bool {
			stalled := progress.Stalled(s.engine.Counters().Stages)
			for _, stage := range stalled {
				s.log.Error().Msg(stage + "; the service manager may end the gateway")
			}
			return len(stalled) == 0
		})
	})
}

// tell notifies the service manager.
func (s *server) tell(what func() error) {
	if err := what(); err != nil {
		s.log.Warn().Err(err).Msg("cannot notify the service manager")
	}
}

// run reloads the configuration at each SIGHUP until another signal arrives. If the engine or the store fails, run
// ends the gateway without draining it, because messages can perhaps not be sent or confirmed, and returns the error
// for the exit status.
func (s *server) run(signals <-chan os.Signal, file string) error {
	for {
		select {
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				return nil
			}
			s.gateway.ReopenLogs()
			_, _ = s.reloadFile(file, reloadRequest{}) // reloadFile logs its error
		case r := <-s.reloads:
			r.answer <- s.carryOut(file, r)
		case err := <-s.engine.Failed():
			s.log.Error().Err(err).Msg("the gateway cannot go on; ending")
			return s.end(context.Background(), exitError{fmt.Errorf("cannot go on: %w", err), exitSoftware})
		case err := <-s.failed:
			if s.member.Lost() != nil {
				return s.lost()
			}
			return s.end(context.Background(), storeError(err))
		case next := <-s.member.Asked():
			s.next = &next
			return nil
		case <-s.member.Done():
			return s.lost()
		}
	}
}

// storeFailed ends the process, because the store has failed.
func (s *server) storeFailed(err error) {
	s.gateway.Keeper.StoreFailed(err)
	s.failed <- err
}

// storeError returns the exit error for a failed store.
func storeError(err error) error {
	return exitError{fmt.Errorf("cannot go on: the store has failed: %w", err), exitTemporary}
}

// endTimeout is the time limit for ending a gateway that has failed, or whose drain has timed out. Its disk may hang.
const endTimeout = 8 * time.Second

// end stops the gateway, and returns the exit error. It drains until ctx is done, unless there is a failure or the
// store fails meanwhile. After endTimeout it does not wait any more.
func (s *server) end(ctx context.Context, failure error) error {
	s.tell(s.manager.Stopping)
	ctx, hurry := context.WithCancel(ctx)
	defer hurry()
	ended := make(chan error, 1)
	go func() { ended <- s.stop(ctx) }()
	if failure != nil {
		hurry()
	}
	hurried, timeout := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-ended:
			if failure == nil {
				return err
			}
			if err != nil {
				s.log.Error().Err(err).Msg("cannot end cleanly")
			}
			_ = s.givenUp() // logs the number of messages; failure decides the exit status
			return failure
		case <-s.member.Done():
			return s.lost()
		case err := <-s.failed:
			if s.member.Lost() != nil {
				return s.lost()
			}
			failure = storeError(err)
			hurry()
		case <-hurried:
			hurried, timeout = nil, time.After(endTimeout)
		case <-timeout:
			s.log.Error().Stringer("after", endTimeout).Msg("cannot end cleanly: the gateway does not stop; ending the process")
			if failure == nil {
				failure = s.unended()
			}
			return failure
		}
	}
}

// unended returns the exit error of a gateway that was stopped and does not end.
func (s *server) unended() error {
	err := errors.New(
		"cannot end cleanly: something does not answer, perhaps a disk; look at the disks of store.dir, events.dir and " +
			"pdulog.dir",
	)
	if s.gateway.Keeper.Durable() {
		err = fmt.Errorf("%w. Messages that were confirmed and not sent are in the store; the next start sends them", err)
	}
	return exitError{err, exitTemporary}
}

// logWriter writes the warnings of the start to the log.
type logWriter struct{ log zerolog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Warn().Msg(string(b))
	return len(b), nil
}
