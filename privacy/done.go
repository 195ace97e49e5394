package privacy

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readDone returns what was removed from which files. What cannot be read was not removed, and is removed once more.
func readDone(dir string) map[string]string {
	done := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, doneName))
	if err != nil {
		return done
	}
	for line := range strings.Lines(string(b)) {
		if name, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			done[name] = what
		}
	}
	return done
}

// writeDone writes it, whole or not at all.
func writeDone(dir string, done map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(done)) {
		fmt.Fprintf(&b, "%s %s\n", name, done[name])
	}
	path := filepath.Join(dir, doneName)
	tmp, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(b.String())
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
