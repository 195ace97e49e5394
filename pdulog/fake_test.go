package pdulog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/logfile"
	"pmg/protocols"
)

// A fakePDU is its own printed form. hidden is the form without texts.
type fakePDU struct {
	shown, hidden string
	step          protocols.LoginStep
	text          bool
}

func (p *fakePDU) Command() int                   { return 0 }
func (p *fakePDU) Status() uint32                 { return 0 }
func (p *fakePDU) Sequence() uint32               { return 0 }
func (p *fakePDU) Reset()                         { *p = fakePDU{} }
func (p *fakePDU) AppendWire(b []byte) []byte     { return append(b, p.shown...) }
func (p *fakePDU) MessageID() []byte              { return nil }
func (p *fakePDU) Text() (protocols.Text, bool)   { return protocols.Text{}, p.text }
func (p *fakePDU) LoginStep() protocols.LoginStep { return p.step }
func (p *fakePDU) IsAnswer() bool                 { return false }

func (p *fakePDU) AppendLog(b []byte, text bool) []byte {
	if !text && p.hidden != "" {
		return append(b, p.hidden...)
	}
	return append(b, p.shown...)
}

// fakeDriver reads what fakePDU printed.
type fakeDriver struct{ protocols.Driver }

func (fakeDriver) NewPDU() protocols.PDU { return new(fakePDU) }
func (fakeDriver) ParseLog(p protocols.PDU, line []byte) error {
	if !strings.HasPrefix(string(line), "submit_sm") {
		return fmt.Errorf("no such command")
	}
	p.(*fakePDU).shown = string(line)
	return nil
}

// submit returns the PDU of the n-th line of a test.
func submit(n int) *fakePDU { return &fakePDU{shown: fmt.Sprintf("submit_sm seq=%d", n)} }

// numbers returns the sequences of entries, to compare with what was written.
func numbers(from, to int) []int {
	var all []int
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func sequence(t *testing.T, e *Entry) int {
	t.Helper()
	n, ok := e.Sequence()
	if !ok {
		t.Errorf("no sequence in %q", e.Line)
	}
	return int(n)
}

// readAll returns the sequences of the lines that Read visits.
func readAll(t *testing.T, dir string, q Query) []int {
	t.Helper()
	var got []int
	skipped, err := Read(context.Background(), dir, q, func(e *Entry) error {
		got = append(got, sequence(t, e))
		return nil
	})
	if err != nil || skipped != 0 {
		t.Fatalf("Read: skipped %d, error %v", skipped, err)
	}
	return got
}

func wantNumbers(t *testing.T, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("read %d lines %v\nwant %d lines %v", len(got), got, len(want), want)
	}
}

// A disk is a file system of limited size for the files of a test.
type disk struct {
	room       int64 // bytes that still fit
	noTruncate bool
}

func (d *disk) open(path string) (logfile.OSFile, error) {
	f, err := logfile.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return &diskFile{f.(*os.File), d}, nil
}

type diskFile struct {
	*os.File
	disk *disk
}

func (f *diskFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b[:min(int64(len(b)), f.disk.room)])
	f.disk.room -= int64(n)
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	if f.disk.noTruncate {
		return syscall.EIO
	}
	return f.File.Truncate(size)
}

func mustOpen(t testing.TB, dir, connector string, o Options) *File {
	t.Helper()
	f, err := NewDir(dir, o).Open(connector)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// openOn opens a log on another disk.
func openOn(t testing.TB, dir string, o Options, open func(path string) (logfile.OSFile, error)) *File {
	t.Helper()
	d := NewDir(dir, o)
	d.logs.Open = open
	f, err := d.Open("clients")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// flush hands the waiting lines to the writer and returns when these are handled.
func flush(f *File, now int64) {
	f.Flush(now)
	done := make(chan error, 1)
	if _, ok := f.w.Load().put(chunk{done: done}, true); ok {
		<-done
	}
}

func mustClose(t testing.TB, f *File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UnixNano()
}
