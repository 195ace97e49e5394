package access

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// maxSocketDir is the maximum length of a socket's directory: on some systems the name of a socket has at most 104 octets, and
// the socket is first created under a longer name.
const maxSocketDir = 85

// A socket removes its file when it is closed.
type socket struct {
	net.Listener
	path string
}

// Listen listens on a unix socket that only its owner can open. It replaces the socket of a dead process. It renames the
// socket after setting its mode, so that no other user can ever open it.
func Listen(path string) (net.Listener, error) {
	if len(filepath.Dir(path)) > maxSocketDir {
		return nil, fmt.Errorf(
			"the directory of %s is longer than a socket allows, which is %d octets: name another", path, maxSocketDir,
		)
	}
	if err := checkFree(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	first := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: first, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(first, 0o600); err == nil {
		err = os.Rename(first, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path}, nil
}

// checkFree returns an error if a file has the name, unless the file is the socket of a dead process.
func checkFree(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists, and is not a socket: name another file, or move it away", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("another process listens on %s: stop it, or name another socket", path)
	}
	return nil
}

// Close removes the file before it closes the listener: later the file may belong to another process.
func (s *socket) Close() error { return errors.Join(os.Remove(s.path), s.Listener.Close()) }
