package access

import (
	"net"
	"os"
	"path/filepath"
	"pmg/internal/testkit/testutil"
	"strings"
	"testing"
)

// A socket can be opened by its owner alone, replaces that of a process that has died, leaves that of one
// that lives, and is gone when it is closed.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := testutil.ShortDir(t)
	path := filepath.Join(dir, "admin.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another process listens on "+path) {
		t.Errorf("a second one: %v", err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, ".s*")); len(names) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("behind the end: %v", err)
	}
}

// What is no socket is not removed, and a name that is too long is refused as that.
func TestListenFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "admin.sock")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "is not a socket",
		"/" + strings.Repeat("long/", 20) + "admin.sock": "longer than a socket allows",
		file + "/admin.sock":                             "not a directory",
	} {
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", path, err, want)
		}
	}
}
