package member

import (
	"fmt"

	"pmg/config"
	"pmg/config/managed"
	"pmg/store"
	"pmg/store/files"
)

// TakeFiles makes this node's managed.dir equal to what the nodes have in common, before the gateway starts. The first owner of a
// cluster stores what its directory has.
func (m *Member) TakeFiles(cfg *config.Config) error {
	if cfg.Managed.Dir == "" {
		return nil
	}
	changed, given, err := takeFiles(cfg.Managed.Dir, m.node.Store())
	if err != nil {
		err = fmt.Errorf("cannot make managed.dir equal to that of the other nodes: %w", err)
		m.closeUnused(err)
		return err
	}
	if changed > 0 {
		m.log.Info().Int("files", changed).Bool("first", given).
			Msg("managed.dir has what the nodes have in common; replaced files stay beside it, ending with .before")
	}
	return nil
}

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

// takeFiles makes a directory equal to the files in a store, or the store to those of the directory if it never had any.
func takeFiles(dir string, s store.Store) (changed int, given bool, err error) {
	f := files.Open(s, func(add func(*store.Batch)) error {
		var b store.Batch
		add(&b)
		return s.Commit(&b)
	})
	d := managed.Open(dir, common{f})
	lock, err := d.Lock()
	if err != nil {
		return 0, false, err
	}
	defer lock.Close()
	any, err := f.Any()
	switch {
	case err != nil:
	case any:
		changed, err = d.Take()
	default:
		changed, err = d.Give()
	}
	return changed, !any, err
}
