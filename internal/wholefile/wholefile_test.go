package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file has all that was written, or what it had before.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put := func(text string, fault error) error {
		return Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return errors.Join(err, fault) })
	}
	for _, c := range []struct {
		text  string
		fault error
		want  string
	}{{"first", nil, "first"}, {"half", errors.New("full"), "first"}, {"second", nil, "second"}} {
		if err := put(c.text, c.fault); !errors.Is(err, c.fault) {
			t.Errorf("%s: %v", c.text, err)
		}
		if b, err := os.ReadFile(path); string(b) != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.text, b, err)
		}
	}
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	path = filepath.Join(dir, "none", "file")
	if err := errors.Join(put("text", nil), SyncDir(filepath.Dir(path))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
