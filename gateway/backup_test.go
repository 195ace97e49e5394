package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/store"
)

// A copy of the store is made where the gateway writes nothing else, and where store.backups says.
func TestBackUpWhere(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	s, err := store.Open(in("data"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, _, _ := start(t, "")
	cfg := *g.Config()
	cfg.Store.Dir, cfg.PDULog.Dir, cfg.Events.Dir = in("data"), in("pdulog"), ""
	g.SetConfig(&cfg)
	if err := g.Keep(s, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("data"), in("link")); err != nil {
		t.Fatal(err)
	}
	try := func(dir, want string) {
		t.Helper()
		err := g.BackUp(dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", dir, err, want)
		}
	}
	try(in("data"), "lies in store.dir")
	try(in("data/copy"), "lies in store.dir")
	try(in("other/../data/000099.sst"), "lies in store.dir")
	try(in("link/copy"), "lies in store.dir")
	try(in("pdulog/a/b"), "lies in pdulog.dir")
	try(in("two\nlines"), "control character")
	try(in("data-copy"), "")
	try(in("..copy"), "")
	backups := cfg
	backups.Store.Backups = in("backups")
	g.SetConfig(&backups)
	try(in("elsewhere"), "does not lie in store.backups")
	try(in("backups"), "does not lie in store.backups")
	try(in("backups/../copy"), "does not lie in store.backups")
	try(in("backups/monday"), "")
	try(in("backups/monday"), "exist")
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
