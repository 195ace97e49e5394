package ask

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The environment comes first, then the file here, then that of the package.
func TestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, system, absent := filepath.Join(dir, "here"), filepath.Join(dir, "system"), filepath.Join(dir, "absent")
	if err := errors.Join(os.WriteFile(here, nil, 0o600), os.WriteFile(system, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ named, here, system, want string }{
		{"named", here, system, "named"}, {"", here, system, here}, {"", absent, system, system}, {"", absent, absent + "2", absent}, {"", here, absent, here},
	} {
		if got := first(c.named, c.here, c.system); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Where there is none, the error says where one was looked for, and is still that of a file.
func TestExplain(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := ExplainError(fs.ErrNotExist, Here); !IsNone(err) || !errors.Is(err, fs.ErrNotExist) ||
		err.Error() != "no configuration: ./pmg.yaml and /etc/pmg/pmg.yaml do not exist; use -c FILE" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		err  error
		file string
	}{{fs.ErrPermission, Here}, {fs.ErrNotExist, "other.yaml"}, {nil, Here}} {
		if err := ExplainError(c.err, c.file); !errors.Is(err, c.err) || IsNone(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
