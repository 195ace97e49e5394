package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkDir refuses a directory without a store that holds other files, or a part of a store,
// because pebble would make a new store there and remove the files that look like its own.
func checkDir(fs vfs.FS, dir string) error {
	desc, err := pebble.Peek(dir, fs)
	if err != nil || desc.Exists {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isForeign(name) {
			return fmt.Errorf(
				"the directory holds %s and no store: give store.dir a directory of its own, which may be missing", name,
			)
		}
		if isTable(name) {
			return errPart(name)
		}
	}
	text, err := readFile(fs, fs.PathJoin(dir, sealName))
	if err != nil {
		return nil // there is none
	}
	sealed, _ := parseSeal(text)
	for _, log := range sealed.logs {
		if slices.Contains(names, log.name) {
			return errPart(log.name)
		}
	}
	return nil
}

// lockName is the file that pebble locks.
const lockName = "LOCK"

// errPart is the error about a directory with a part of a store. A store that a power cut has hit
// while it was made has neither tables nor a log that was synced.
func errPart(name string) error {
	return fmt.Errorf(
		"the directory holds %s of a store whose manifest or marker is missing: restore all files of the store, or move "+
			"these away to begin a new one",
		name,
	)
}

func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// isForeign reports whether a file is neither of a store nor usual in the root of a file system.
func isForeign(name string) bool {
	switch name {
	case lockName, "CURRENT", sealName, sealName + ".new", ballastName, "outcomes", "lost+found":
		return false
	}
	for _, prefix := range []string{".", "MANIFEST-", "OPTIONS-", "marker.", "temporary."} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !isLog(name) && !isTable(name) && !strings.HasSuffix(name, ".dbtmp")
}
