package keep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/gateway/roomtest"
	"pmg/store"
)

// A copy of the store is made in store.backups, with the modes of the store, and nowhere where the gateway writes
// something else. The request gives a name and no path.
func TestBackUpWhere(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	s, err := store.Open(in("data"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := roomtest.New(t, roomtest.Operator(""))
	g.Keeper.Open(s, func(store.Position, error) {})
	try := func(backups, name, want string) {
		t.Helper()
		cfg := *g.Node.Config()
		cfg.Store.Dir, cfg.PDULog.Dir, cfg.Events.Dir, cfg.Stats.Dir, cfg.Store.Backups = in("data"), in("pdulog"), "", in("stats"), backups
		g.Node.SetConfig(&cfg)
		dir, err := g.Keeper.BackUp(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && dir != filepath.Join(backups, name) {
			t.Errorf("%q in %q: %s, %v, not %q", name, backups, dir, err, want)
		}
	}
	try("", "monday", "the configuration has no store.backups")
	for _, name := range []string{"", ".", "..", "../copy", "a/b", "/tmp/copy", "a\\b", ".hidden", "two\nlines", strings.Repeat("a", 65)} {
		try(in("backups"), name, "a copy has a name of letters")
	}
	try(in("data"), "copy", "lies in store.dir")
	try(in("pdulog/a"), "copy", "lies in pdulog.dir")
	try(in(""), "stats", "lies in stats.dir") // the copy would be the directory
	try(in("stats"), "copy", "lies in stats.dir")
	try(in(""), "data2", "") // beside one of a name that begins alike
	try(in("..backups"), strings.Repeat("a", 64), "")
	if err := os.Symlink(in("data"), in("link")); err != nil {
		t.Fatal(err)
	}
	try(in("link"), "copy", "lies in store.dir")
	try(in("backups"), "monday", "")
	try(in("backups"), "monday", "exists already")
	for _, to := range []string{in("nowhere"), in("data")} {
		if err := os.Symlink(to, in("backups/link")); err != nil {
			t.Fatal(err)
		}
		try(in("backups"), "link", "exists already")
		_ = os.Remove(in("backups/link"))
	}
	for _, dir := range []string{"backups", "backups/monday"} {
		if info, err := os.Stat(in(dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
	if err := os.Chmod(in("backups"), 0o777); err != nil {
		t.Fatal(err)
	}
	try(in("backups"), "tuesday", "every user of the machine may write")
	if err := g.Keeper.Close(); err != nil {
		t.Error(err)
	}
}
