package main

import (
	"fmt"
	"time"

	"pmg/cmd/pmg/member"
	"pmg/config"
	"pmg/config/managed"
	"pmg/store"
)

// sharedFiles returns the managed files that the nodes of a cluster share, nil for a gateway without a cluster.
func (s *server) sharedFiles() managed.Shared {
	if s.member == nil {
		return nil
	}
	k := s.gateway.Keeper
	return member.SharedFiles(k.Index, func(add func(*store.Batch)) error {
		k.Batches.Write(add)
		done := make(chan error, 1)
		go func() { done <- k.Batches.Sync() }()
		select {
		case err := <-done:
			return err
		case <-s.member.Done():
			return s.member.Lost()
		case <-time.After(shareWait):
			return fmt.Errorf("the servers of NATS have not answered for %s: see pmg cluster status, and try again", shareWait)
		}
	})
}

// shareWait is how long a change of managed files waits for the servers, while the gateway takes no signal.
const shareWait = 10 * time.Second

// shareEdited stores for the other nodes of a cluster what was edited by hand in managed.dir.
func (s *server) shareEdited(cfg *config.Config) error {
	if s.member == nil || cfg.Managed.Dir == "" {
		return nil
	}
	d := managed.Open(cfg.Managed.Dir, s.sharedFiles())
	lock, err := d.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	changed, err := d.Give()
	if changed > 0 {
		s.log.Info().Int("files", changed).Msg("files of managed.dir that were edited are stored for the other nodes")
	}
	return err
}
