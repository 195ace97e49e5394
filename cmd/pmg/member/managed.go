package member

import (
	"context"
	"fmt"
	"time"

	"pmg/config"
	"pmg/config/managed"
	"pmg/store"
	"pmg/store/files"
)

// sharedFiles are the files in a store as those of managed.dir.
type sharedFiles struct{ in *files.Files }

// SharedFiles returns the files in a store, which all nodes have. write writes changes, and returns when they are on disk.
func SharedFiles(index store.Index, write func(add func(*store.Batch)) error) managed.Shared {
	return sharedFiles{files.Open(index, write)}
}

// Put implements managed.Shared.
func (s sharedFiles) Put(all ...managed.File) error {
	some := make([]files.File, len(all))
	for i, f := range all {
		some[i] = files.File(f)
	}
	return s.in.Put(some...)
}

// Each implements managed.Shared.
func (s sharedFiles) Each(pass func(managed.File) error) error {
	return s.in.Each(func(f files.File) error { return pass(managed.File(f)) })
}

// Get implements managed.Shared.
func (s sharedFiles) Get(name string) ([]byte, error) { return s.in.Get(name) }

// TakeFiles makes this node's managed.dir equal to the files in the store, before the gateway starts. The first owner of a
// cluster stores those of its directory.
func (m *Member) TakeFiles(cfg *config.Config) error {
	if cfg.Managed.Dir == "" {
		return nil
	}
	t := taker{dir: cfg.Managed.Dir, store: m.node.Store(), gives: true}
	done := make(chan error, 1)
	go func() { done <- t.take() }() // it waits for the servers of NATS without a limit
	var err error
	select {
	case err = <-done:
	case <-m.node.Done():
		err = m.node.Err()
	}
	if err != nil {
		err = fmt.Errorf("cannot make managed.dir equal to the files of the cluster: %w", err)
		m.closeUnused(err)
		return err
	}
	if t.changed > 0 {
		m.log.Info().Int("files", t.changed).
			Msg("managed.dir has the files of the cluster; those that were replaced stay beside them, with .before at the end")
	}
	return nil
}

// A taker makes a directory equal to the files in a store.
type taker struct {
	dir     string
	store   store.Store
	gives   bool   // if the store never had files, it gets those of the directory
	last    uint64 // the last change that the directory has; 0: not known
	changed int
}

// take makes the directory equal to the files in the store.
func (t *taker) take() error {
	f := files.Open(t.store, func(add func(*store.Batch)) error {
		var b store.Batch
		add(&b)
		return t.store.Commit(&b)
	})
	last, err := f.Last()
	if err != nil || last == t.last && !t.gives {
		return err
	}
	d := managed.Open(t.dir, sharedFiles{f})
	lock, err := d.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	var names []string
	var known bool
	if t.last > 0 && t.last < last {
		names, known, err = f.Since(t.last, last)
	}
	switch {
	case err != nil:
		return err
	case known:
		t.changed, err = d.TakeOnly(names)
	case last > 0:
		t.changed, err = d.Take()
	case t.gives:
		t.changed, err = d.Give()
	}
	if err == nil {
		t.last = last
	}
	return err
}

// follow makes managed.dir equal to the files in the store each second while this node stands by, until ctx ends. With old files
// the node might not start again, because they do not fit its configuration any more.
func (w *Standby) follow(ctx context.Context, dir string) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	var t *taker
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		n := w.node.Load()
		if n == nil || !n.HasRead() {
			continue
		}
		if t == nil {
			t = &taker{dir: dir, store: n.Store()}
		}
		if err := t.take(); err != nil {
			w.Log.Error().Err(err).Msg("cannot make managed.dir equal to the files of the cluster")
		}
	}
}
