package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/gateway/keep"
	"pmg/internal/sock"
	"pmg/store"
)

// lockWait is the time to wait for the lock of the store, which a command that copies it may hold while the gateway starts.
const lockWait = 10 * time.Second

// openStore opens the store of the configuration for the gateway. The store of a cluster's node is open already.
func (s *server) openStore(cfg *config.Config) error {
	g, log := s.gateway, s.log
	if cfg.Store.Engine == config.MemoryStore {
		log.Info().Msg(
			"messages that wait are kept in memory only: they are lost when the gateway stops; store.engine: pebble keeps them",
		)
		return g.Keep(store.NewMemory())
	}
	dir, err := filepath.Abs(cfg.Store.Dir) // an absolute path, so that errors name the directory wherever pmg was started
	if err != nil {
		return fmt.Errorf("cannot find store.dir: %w", err)
	}
	g.Keeper.WatchSpace(func() (keep.Space, error) { return spaceOf(dir) })
	if s.member != nil {
		g.Keeper.CheckSpace()
		all, failed := s.member.Store()
		go func() { s.storeFailed(<-failed) }()
		err := g.Keep(all)
		g.Keeper.Unsettled.Watch(g.Keeper.Batches)
		return err
	}
	all, err := store.Open(dir, store.Options{
		Log: log, Ballast: int64(cfg.Store.Ballast), MaxFiles: keep.StoreFiles(sock.DescriptorLimit()), Fatal: s.storeFailed,
		Keys: cfg.Store.Keys(), LockWait: lockWait,
	})
	if err != nil {
		return err
	}
	log.Info().Str("dir", dir).Msg("store opened: messages that wait are kept there")
	g.Keeper.CheckSpace()
	return g.Keep(all)
}

// spaceOf returns the size and the free space of the file system of a directory.
func spaceOf(dir string) (s keep.Space, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return s, fmt.Errorf("cannot look at the file system of %s: %w", dir, err)
	}
	block := int64(st.Bsize)
	return keep.Space{
		Free: int64(st.Bavail) * block, Total: int64(st.Blocks) * block,
		Inodes: int64(st.Ffree), AllInodes: int64(st.Files),
	}, nil
}

// recover starts to queue the messages of earlier runs.
func (s *server) recover() {
	var ctx context.Context
	ctx, s.stopRecovery = context.WithCancel(context.Background())
	engine := s.engine
	s.recovery.Go(func() { s.gateway.Recover(ctx, engine) })
}
