package pdulog

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Options is how a pdu log is kept. The zero value of each switches it off; what
// most want stands in package config.
type Options struct {
	MaxSize     int64         // bytes after which a new file is begun
	RotateEvery time.Duration // a new file is begun at every multiple of this, counted in UTC
	Keep        int           // rotated files to keep; the oldest are removed
	KeepAge     time.Duration // rotated files older than this are removed
	Compress    bool          // rotated files are compressed
	Text        bool          // message texts are written; otherwise their lengths
	Flush       time.Duration // how long a line may wait in memory; 0: every batch is written at once

	Log  zerolog.Logger // is told when writing fails and when it works again
	Turn *sync.Mutex    // shared by the files of a gateway so that only one compresses at a time
}
