package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A seal notes up to which octet the manifest and the latest logs of the store were synced. Pebble
// takes a file for complete where it ends, and the last ones also where they cannot be read any
// further, because that is how a power cut leaves them, so without the seal it does not notice
// damage near their ends, forgets tables, and removes them.
//
// The file is not synced: a seal that is older than it could be is only weaker. It holds
//
//	<manifest> <octets> <log> <octets> … <checksum>
type seal struct {
	manifest extent
	logs     []extent // at most maxSealed, the latest last
}

// maxSealed is more than pebble has logs that it still needs.
const maxSealed = 16

// An extent is how much of a file was synced.
type extent struct {
	name string // without its directory; none if nothing of such a file was synced
	size int64
}

const none = "-"

const sealName = "seal"

func (s seal) String() string {
	text := fmt.Sprintf("%s %d", s.manifest.name, s.manifest.size)
	for _, log := range s.logs {
		text += fmt.Sprintf(" %s %d", log.name, log.size)
	}
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// parseSeal reads what String returns. A file that a power cut has left half written is no seal.
func parseSeal(text string) (seal, bool) {
	var all []extent
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i += 2 {
		size, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return seal{}, false
		}
		all = append(all, extent{fields[i], size})
	}
	if len(all) == 0 {
		return seal{}, false
	}
	s := seal{all[0], all[1:]}
	return s, s.String() == text
}

// synced notes how much of a log was synced.
func (s *seal) synced(log extent) {
	if i := slices.IndexFunc(s.logs, func(other extent) bool { return other.name == log.name }); i >= 0 {
		s.logs[i].size = log.size
		return
	}
	s.logs = append(s.logs, log)
	if len(s.logs) > maxSealed {
		s.logs = slices.Delete(s.logs, 0, 1)
	}
}

// A sealer follows what is synced, and writes it down. Its mutex guards what follows it.
type sealer struct {
	fs  vfs.FS
	dir string

	mu      sync.Mutex
	now     seal
	written string
}

func newSealer(fs vfs.FS, dir string) *sealer {
	unknown := seal{manifest: extent{name: none}}
	return &sealer{fs: fs, dir: dir, now: unknown, written: unknown.String()}
}

// seals reports whether the seal has how much of a file was synced.
func seals(name string) bool {
	return isLog(name) || isManifest(name)
}

// synced is called when a file was synced behind so many octets. The manifest changes seldom,
// so its seal is written immediately.
func (s *sealer) synced(name string, size int64) {
	e := extent{filepath.Base(name), size}
	if isLog(name) {
		s.mu.Lock()
		s.now.synced(e)
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	s.now.manifest = e
	s.mu.Unlock()
	_ = s.write() // Tidy tries again, and says what is wrong
}

// write writes the seal if it has changed, in one piece.
func (s *sealer) write() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.now.String()
	if text == s.written {
		return nil
	}
	path := s.fs.PathJoin(s.dir, sealName)
	f, err := s.fs.Create(path+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.fs.Rename(path+".new", path)
	}
	if err == nil {
		s.written = text
	}
	return err
}

// checkSeal compares the store with its seal, before pebble opens it.
func checkSeal(fs vfs.FS, dir string) error {
	text, err := readFile(fs, fs.PathJoin(dir, sealName))
	if err != nil {
		return nil // an older store, or one that a power cut has hit soon after it was made
	}
	s, ok := parseSeal(text)
	if !ok {
		return nil
	}
	desc, err := pebble.Peek(dir, fs)
	if err != nil {
		return err
	}
	if desc.Exists && fs.PathBase(desc.ManifestFilename) == s.manifest.name {
		if err := checkExtent(fs, dir, s.manifest); err != nil {
			return err
		}
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, log := range s.logs {
		if !slices.Contains(names, log.name) { // what it held is in tables
			continue
		}
		if err := checkExtent(fs, dir, log); err != nil {
			return err
		}
	}
	return nil
}

// checkExtent reads the records of a file up to where it was synced.
func checkExtent(fs vfs.FS, dir string, e extent) error {
	path := fs.PathJoin(dir, e.name)
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < e.size {
		return fmt.Errorf("%s has only %d octets of the %d that were synced", path, info.Size(), e.size)
	}
	var number uint64 // is part of each record of a log
	if digits, ok := strings.CutSuffix(e.name, ".log"); ok {
		if number, err = strconv.ParseUint(digits, 10, 64); err != nil {
			return fmt.Errorf("cannot read the number in the name of %s: %w", path, err)
		}
	}
	records := newReader(record.NewReader, io.LimitReader(f, e.size), number)
	for err == nil {
		var r io.Reader
		if r, err = records.Next(); err == nil {
			_, err = io.Copy(io.Discard, r)
		}
	}
	if err != io.EOF || records.Offset() < e.size-trailer {
		return fmt.Errorf("%s cannot be read beyond octet %d of the %d that were synced: %w", path, records.Offset(), e.size, err)
	}
	return nil
}

// trailer is the length of what stands behind the last record of a log that is complete.
const trailer = 11

// newReader calls record.NewReader, because its second parameter's type has no name here.
func newReader[N ~uint64](make func(io.Reader, N) *record.Reader, r io.Reader, number uint64) *record.Reader {
	return make(r, N(number))
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
