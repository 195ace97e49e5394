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

// A common is the files in a store as those of managed.dir.
type common struct{ in *files.Files }

// Common returns the files in a store as those that the nodes have in common. write writes changes, and returns when they are on
// disk.
func Common(index store.Index, write func(add func(*store.Batch)) error) managed.Common {
	return common{files.Open(index, write)}
}

// Put implements managed.Common.
func (c common) Put(all ...managed.File) error {
	some := make([]files.File, len(all))
	for i, f := range all {
		some[i] = files.File(f)
	}
	return c.in.Put(some...)
}

// Each implements managed.Common.
func (c common) Each(pass func(managed.File) error) error {
	return c.in.Each(func(f files.File) error { return pass(managed.File(f)) })
}

// Get implements managed.Common.
func (c common) Get(name string) ([]byte, error) { return c.in.Get(name) }

// TakeFiles makes this node's managed.dir equal to what the nodes have in common, before the gateway starts. The first owner of a
// cluster stores what its directory has.
func (m *Member) TakeFiles(cfg *config.Config) error {
	if cfg.Managed.Dir == "" {
		return nil
	}
	t := taker{dir: cfg.Managed.Dir, store: m.node.Store(), gives: true}
	done := make(chan error, 1)
	go func() { done <- t.take() }() // which may wait for the servers
	var err error
	select {
	case err = <-done:
	case <-m.node.Done():
		err = m.node.Err()
	}
	if err != nil {
		err = fmt.Errorf("cannot make managed.dir equal to that of the other nodes: %w", err)
		m.closeUnused(err)
		return err
	}
	if t.changed > 0 {
		m.log.Info().Int("files", t.changed).
			Msg("managed.dir has what the nodes have in common; replaced files stay beside it, ending with .before")
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
	d := managed.Open(t.dir, common{f})
	lock, err := d.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	names, known, err := []string(nil), false, error(nil)
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

// follow makes managed.dir equal to what the nodes have in common while this node stands by, until ctx ends. So the node can be
// started again with what the other nodes have.
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
			w.Log.Error().Err(err).Msg("cannot make managed.dir equal to that of the other nodes")
		}
	}
}
