package keep

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// BackUp writes a consistent copy of the gateway's store into a directory that does not
// exist. Whoever reaches the admin listener may ask for it, so it goes nowhere where the gateway
// writes something else.
func (k *Keeper) BackUp(dir string) error {
	if err := k.checkBackup(dir); err != nil {
		return fmt.Errorf("cannot back up the store: %w", err)
	}
	if err := k.Committer.Sync(); err != nil {
		return fmt.Errorf("cannot back up the store: %w", err)
	}
	return k.Store.Backup(dir)
}

// checkBackup returns why no copy is made in a directory.
func (k *Keeper) checkBackup(dir string) error {
	if strings.ContainsFunc(dir, unicode.IsControl) {
		return fmt.Errorf("the directory %q has a control character in its name: name another", dir)
	}
	cfg := k.Config()
	for _, used := range []struct{ option, dir string }{
		{"store.dir", cfg.Store.Dir}, {"pdulog.dir", cfg.PDULog.Dir}, {"events.dir", cfg.Events.Dir},
	} {
		if used.dir != "" && isIn(dir, used.dir) {
			return fmt.Errorf("%s lies in %s, which is %s: name another directory", dir, used.option, used.dir)
		}
	}
	if b := cfg.Store.Backups; b != "" && (!isIn(dir, b) || realPath(dir) == realPath(b)) {
		return fmt.Errorf("%s does not lie in store.backups, which is %s: name a new directory there", dir, b)
	}
	return nil
}

// isIn reports whether a path is that of a directory or lies in it.
func isIn(path, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath returns a path from the root on, without links as far as it exists.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for rest := ""; ; path = filepath.Dir(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
			return filepath.Join(cmp.Or(real, path), rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
	}
}
