package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/store"
)

// A queueSource is the source of waiting messages: a running gateway, or the store of a stopped gateway.
type queueSource interface {
	list(ctx context.Context, q admin.QueueQuery) (operate.QueuePage, error)
	backup(ctx context.Context, to string) (dir string, err error)
	close() error
}

// storeOptions select a running gateway, or the store of a stopped one.
type storeOptions struct {
	ask.Gateway
	config, dir string
}

func (o *storeOptions) flags(cmd *cobra.Command) {
	o.dirFlags(cmd)
	o.Gateway.Flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("store", "address")
}

// dirFlags adds the flag for the store of a stopped gateway.
func (o *storeOptions) dirFlags(cmd *cobra.Command) {
	ask.Flag(cmd, &o.config)
	cmd.Flags().StringVar(&o.dir, "store", "", "the store of a gateway that is stopped: its `directory`")
}

// find returns the source that the flags name; otherwise the gateway of the configuration, or the configuration's
// store if that gateway does not run.
func (o *storeOptions) find(cmd *cobra.Command) (queueSource, error) {
	if o.Address != "" {
		return runningStore{&o.Gateway}, nil
	}
	if o.dir != "" {
		return openStopped(o.dir, nil)
	}
	cfg, err := o.load()
	if err != nil {
		return nil, err
	}
	if o.Runs(cmd.Context(), statusTimeout, cfg, o.config) {
		return runningStore{&o.Gateway}, nil
	}
	dir, err := storeDir(cfg, o.config)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "no gateway that runs with %s answers, so this reads its store in %s\n", o.config, dir)
	return openStopped(dir, cfg.Store.Keys())
}

func (o *storeOptions) load() (*config.Config, error) {
	cfg, err := loadConfig(io.Discard, o.config)
	if ask.IsNone(err) {
		return nil, fmt.Errorf("%w; or give --address HOST:PORT or --store DIRECTORY", err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the store: %w; --store names its directory", err)
	}
	return cfg, nil
}

// storeDir returns the directory of a configuration's store.
func storeDir(cfg *config.Config, file string) (string, error) {
	if cfg.Store.Engine == config.MemoryStore {
		return "", fmt.Errorf(
			"cannot find the store: %s has store.engine: memory, so there is none when the gateway is stopped", file,
		)
	}
	return cfg.Store.Dir, nil
}

// findDir returns the directory of a stopped gateway's store.
func (o *storeOptions) findDir() (string, error) {
	_, dir, err := o.findConfig()
	return dir, err
}

// findConfig returns the directory of a stopped gateway's store, and the configuration, nil if the flags name the directory.
func (o *storeOptions) findConfig() (*config.Config, string, error) {
	if o.dir != "" {
		return nil, o.dir, checkStoreDir(o.dir)
	}
	cfg, err := o.load()
	if err != nil {
		return nil, "", err
	}
	dir, err := storeDir(cfg, o.config)
	if err == nil {
		err = checkStoreDir(dir)
	}
	return cfg, dir, err
}

// checkStoreDir returns an error if a directory is missing or empty, because opening a store would create one there.
func checkStoreDir(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot find the store: %w; --store names its directory", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("cannot find the store: %s is empty; --store names its directory", dir)
	}
	return nil
}

// explainStore adds a hint to an error of a store.
func explainStore(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; to ask a running gateway, name it with --address", err)
	}
	return err
}

// A stoppedStore is the store of a stopped gateway.
type stoppedStore struct {
	store store.Store
	dir   string
}

func openStopped(dir string, keys [][]byte) (queueSource, error) {
	if err := checkStoreDir(dir); err != nil {
		return nil, err
	}
	s, err := store.Open(dir, store.Options{Keys: keys})
	if err != nil {
		return nil, explainStore(err)
	}
	return &stoppedStore{s, dir}, nil
}

func (s *stoppedStore) list(_ context.Context, q admin.QueueQuery) (operate.QueuePage, error) {
	return operate.ListStored(s.store, q.Selection, q.From, q.Limit)
}

func (s *stoppedStore) backup(_ context.Context, to string) (dir string, err error) {
	if dir, err = filepath.Abs(to); err != nil {
		return "", fmt.Errorf("cannot back up the store: %w", err)
	}
	return dir, s.store.Backup(dir)
}

func (s *stoppedStore) close() error { return s.store.Close() }

// findRunning returns the running gateway, for requests that need one.
func (o *storeOptions) findRunning(cmd *cobra.Command) (running runningStore, err error) {
	source, err := o.find(cmd)
	if err != nil {
		return running, err
	}
	running, ok := source.(runningStore)
	if !ok {
		return running, errors.Join(
			fmt.Errorf("cannot ask a gateway that is stopped: start it for %q", cmd.CommandPath()), source.close(),
		)
	}
	return running, nil
}

// A runningStore is the store of a running gateway.
type runningStore struct{ gateway *ask.Gateway }

func (s runningStore) list(ctx context.Context, q admin.QueueQuery) (p operate.QueuePage, err error) {
	return p, askAdmin(ctx, s.gateway, http.MethodGet, admin.Base+"/queue?"+q.Values().Encode(), &p)
}

func (s runningStore) change(ctx context.Context, q admin.QueueQuery, c operate.QueueChange) (p operate.QueuePage, err error) {
	v := q.Values()
	if c.To != "" {
		v.Set("to", c.To)
	}
	if c.DryRun {
		v.Set("dry_run", "1")
	}
	return p, askAdmin(ctx, s.gateway, http.MethodPost, admin.Base+"/queue/"+c.What+"?"+v.Encode(), &p)
}

func (s runningStore) backup(ctx context.Context, to string) (string, error) {
	var done admin.BackedUp
	err := s.gateway.JSON(
		ctx, backupTimeout, http.MethodPost, admin.Base+"/store/backup?"+url.Values{"name": {to}}.Encode(), &done,
	)
	return done.Directory, err
}

func (s runningStore) close() error { return nil }
