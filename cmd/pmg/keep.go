package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/store"
)

// keep opens the store that the configuration asks for, and has the gateway keep
// messages in it.
func keep(g *gateway.Gateway, cfg *config.Config, log zerolog.Logger) error {
	if cfg.Store.Engine == config.MemoryStore {
		log.Info().Msg("messages that wait are kept in memory only: they are lost when the gateway stops; store.engine: pebble keeps them")
		return g.Keep(store.NewMemory(), nil)
	}
	dir, err := filepath.Abs(cfg.Store.Dir) // so that an error names the directory, wherever pmg was started
	if err != nil {
		return fmt.Errorf("cannot find store.dir: %w", err)
	}
	s, err := store.Open(dir, store.Options{Log: log, Ballast: int64(cfg.Store.Ballast)})
	if err != nil {
		return err
	}
	log.Info().Str("dir", dir).Msg("store opened: messages that wait are kept there")
	outcomes, err := store.OpenOutcomes(dir)
	if err != nil {
		log.Warn().Err(err).Msg("messages that end shortly before the gateway is killed are sent again")
	}
	return g.Keep(s, outcomes)
}

// recover begins to give the messages of earlier runs to their queues.
func (s *server) recover() {
	var ctx context.Context
	ctx, s.stopRecovery = context.WithCancel(context.Background())
	s.recovery.Go(func() { s.gateway.Recover(ctx, s.engine) })
}
