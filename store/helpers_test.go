package store

import (
	"fmt"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/sms"
)

// textOf returns the id and the text of a message, and the reason in its state.
func textOf(e *Entry) (string, error) {
	var m sms.Message
	if err := Decode(e.Record, &m, 0); err != nil {
		return "", err
	}
	text := fmt.Sprint(e.ID, " ", string(m.Text()))
	if e.State == nil {
		return text, nil
	}
	s, err := DecodeState(e.State)
	return fmt.Sprintf("%s (%s)", text, s.Reason), err
}

func readFile(fs vfs.FS, path string) (string, error) {
	f, err := fs.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func writeFile(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// setEntry writes an entry into a table, behind the journal's back.
func setEntry(t *testing.T, s *durable, key, value []byte) {
	t.Helper()
	if err := s.db.Set(key, value, pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
}
