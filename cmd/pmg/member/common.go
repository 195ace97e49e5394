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

// takeFiles makes a directory equal to the files in a store, or the store to those of the directory if it never had any.
func takeFiles(dir string, s store.Store) (changed int, given bool, err error) {
	f := files.Open(s, func(add func(*store.Batch)) error {
		var b store.Batch
		add(&b)
		return s.Commit(&b)
	})
	d := managed.Open(dir, f)
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
