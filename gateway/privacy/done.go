package privacy

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pmg/internal/wholefile"
)

// readDone returns which removals were made in which files. Unreadable entries are ignored, so
// those removals are repeated.
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

// writeDone writes the file atomically.
func writeDone(dir string, done map[string]string) error {
	return wholefile.Replace(filepath.Join(dir, doneName), func(w io.Writer) error {
		for _, name := range slices.Sorted(maps.Keys(done)) {
			if _, err := fmt.Fprintf(w, "%s %s\n", name, done[name]); err != nil {
				return err
			}
		}
		return nil
	})
}
