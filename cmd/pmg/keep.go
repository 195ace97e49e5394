package main

import (
	"context"
	"fmt"

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
	s, err := store.Open(cfg.Store.Dir, store.Options{Log: log, Ballast: int64(cfg.Store.Ballast)})
	if err != nil {
		return fmt.Errorf("cannot open store: %w", err)
	}
	outcomes, err := store.OpenOutcomes(cfg.Store.Dir)
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
