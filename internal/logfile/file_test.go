package logfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"
)

// A file without a half line is not truncated. After a file was truncated to 0, closing it
// takes ext4 50 ms for 100 MB, while the caller waits.
func TestNothingToCut(t *testing.T) {
	for _, content := range []string{"", "whole\n"} {
		path := filepath.Join(t.TempDir(), "x.log")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := cutHalfLine(untouchable{f, t}); err != nil {
			t.Error(err)
		}
		f.Close()
	}
}

type untouchable struct {
	*os.File
	t *testing.T
}

func (f untouchable) Truncate(size int64) error {
	f.t.Errorf("truncated to %d", size)
	return nil
}

// However large the disk is, not more than 1 GiB must stay free.
func TestRetentionOnLargeDisk(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "clients-20000101T000000.000000.log.zst")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := NewDir(dir, "log", Options{MinFree: 10})
	free := mostFree
	d.Space = func(string) (int64, int64, error) { return free, 252 << 30, nil }
	f := d.File("clients", zerolog.Nop(), nil)
	if err := f.remove(); err != nil || !exists(old) {
		t.Errorf("1 GiB of 252 is free, and a file is removed; error %v", err)
	}
	free--
	if err := f.remove(); err != nil || exists(old) {
		t.Errorf("less is free, and nothing is removed; error %v", err)
	}
}

func TestDiskSpace(t *testing.T) {
	free, size, err := diskSpace(t.TempDir())
	if err != nil || free < 0 || size < free || size < 1<<20 {
		t.Errorf("%d of %d bytes are free, error %v", free, size, err)
	}
	if _, _, err := diskSpace(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that does not exist has space")
	}
}
