package logfile

import (
	"os"
	"slices"
	"sync"
)

// Logs remembers the content of the files that were walked through, so that the next walk reads only what is new. The
// zero value remembers nothing yet. It is safe for concurrent use.
type Logs struct {
	mu    sync.Mutex
	files []scanned // files, the most recently used first
}

// mostNoted is how many octets of filters are remembered.
const mostScanned = 64 << 20

// A scanned is the cached content of a file.
type scanned struct {
	file   os.FileInfo
	blocks []Block
}

// known returns the cached blocks of a file, nil if none are cached. Only a plain file grows.
func (l *Logs) known(file os.FileInfo, packed bool) []Block {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.files, func(n scanned) bool { return os.SameFile(n.file, file) })
	if i < 0 {
		return nil
	}
	n := l.files[i]
	l.files = slices.Delete(l.files, i, i+1)
	// the file was emptied, or it is another file that has taken its place
	grown, isLater := file.Size()-n.file.Size(), !file.ModTime().Equal(n.file.ModTime())
	if grown < 0 || grown > 0 && packed || grown == 0 && isLater {
		return nil
	}
	l.files = slices.Insert(l.files, 0, n)
	return n.blocks
}

// remember remembers the blocks of a file.
func (l *Logs) remember(file os.FileInfo, blocks []Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = slices.DeleteFunc(l.files, func(n scanned) bool { return os.SameFile(n.file, file) })
	l.files = slices.Insert(l.files, 0, scanned{file, blocks})
	octets := 0
	for i, n := range l.files {
		for b := range n.blocks {
			octets += len(n.blocks[b].filter)
		}
		if octets > mostScanned {
			l.files = slices.Delete(l.files, i, len(l.files))
			return
		}
	}
}
