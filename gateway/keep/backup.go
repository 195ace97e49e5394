package keep

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"pmg/config"
	"pmg/internal/wholefile"
)

// BackUp writes a consistent copy of the gateway's store into a new directory of store.backups, and
// returns its path. The request comes over the network, so it contains a name and no path.
func (k *Keeper) BackUp(name string) (dir string, err error) {
	if dir, err = backupDir(k.node.Config(), name); err == nil {
		err = k.Batches.Sync()
	}
	if err != nil {
		return "", fmt.Errorf("cannot back up the store: %w", err)
	}
	return dir, k.store.Backup(dir)
}

var backupName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// backupDir returns the directory for a new copy, or an error if no copy may be made.
func backupDir(cfg *config.Config, name string) (string, error) {
	backups := cfg.Store.Backups
	switch {
	case backups == "":
		return "", errors.New(
			"the configuration has no store.backups, the directory for the copies of a gateway that runs: set it, and reload",
		)
	case !backupName.MatchString(name):
		return "", fmt.Errorf(
			"a gateway that runs makes its copies in store.backups, so a copy has a name of letters, digits, '.', '_' "+
				"and '-', at most 64, and no directory: not %q",
			name,
		)
	}
	if err := wholefile.MakeDir(backups, 0o700); err != nil {
		return "", err
	}
	switch info, err := os.Stat(backups); {
	case err != nil:
		return "", err
	case info.Mode().Perm()&0o002 != 0:
		return "", fmt.Errorf(
			"every user of the machine may write in store.backups, which is %s: take that away (chmod o-w), or name another",
			backups,
		)
	}
	dir := filepath.Join(backups, name)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) { // so a dangling link is not followed
		return "", fmt.Errorf("%s exists already: name another copy", dir)
	}
	for _, used := range []struct{ option, dir string }{
		{"store.dir", cfg.Store.Dir}, {"pdulog.dir", cfg.PDULog.Dir}, {"events.dir", cfg.Events.Dir},
		{"stats.dir", cfg.Stats.Dir},
	} {
		if used.dir != "" && isIn(dir, used.dir) {
			return "", fmt.Errorf("store.backups lies in %s, which is %s: name another directory", used.option, used.dir)
		}
	}
	return dir, nil
}

// isIn reports whether path is dir or lies in dir.
func isIn(path, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath returns the absolute path, with links resolved as far as the path exists.
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
