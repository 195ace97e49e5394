// Package traces finds words that must not be in files, in every form in which files may have them.
//
// Start reading with Find.
package traces

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// forms returns the forms that a word may have in a file.
func forms(word string) []string {
	wide := strings.Join(strings.Split(word, ""), "\x00")
	return []string{
		word, wide, strings.ReplaceAll(wide, "\x00", `\x00`), hex.EncodeToString([]byte(word)), hex.EncodeToString([]byte(wide)),
	}
}

// Find returns the files below a directory that contain words: plain, compressed, in hexadecimal digits or as UCS-2. Words
// within other, a longer word that is allowed, do not count.
func Find(t testing.TB, dir, other string, words ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "MANIFEST-") { // see docs/privacy.md
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if strings.HasSuffix(path, ".zst") && err == nil {
			z, _ := zstd.NewReader(nil)
			b, err = z.DecodeAll(b, nil)
			z.Close()
		}
		for _, form := range forms(other) {
			if other == "" {
				break
			}
			b = bytes.ReplaceAll(b, []byte(form), nil)
		}
		for _, word := range words {
			for _, form := range forms(word) {
				if at := bytes.Index(b, []byte(form)); at >= 0 {
					found = append(found, fmt.Sprintf("%s has %s: %q", path, word, b[max(0, at-200):min(len(b), at+100)]))
					break
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
