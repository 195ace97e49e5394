package pdulog

import (
	"time"

	"github.com/rs/zerolog"
)

// Options are the options of pdu logs. The zero value of a field switches its feature off.
// The usual values are the defaults of package config.
type Options struct {
	MaxSize     int64         // largest size of a file in bytes
	MaxTotal    int64         // bytes that all files of a connector may take, including the one being written
	RotateEvery time.Duration // a new file is begun at every multiple of this, counted in UTC
	Keep        int           // rotated files to keep, compressed or not; the oldest are removed
	KeepAge     time.Duration // rotated files older than this are removed
	Waiting     int64         // bytes of lines that may wait in memory for a slow disk; 0: 64 MiB, which is also the most
	MinFree     int           // percent of the disk, 1 GiB at most: while less is free, the oldest rotated files are removed
	Compress    Compression   // of rotated files
	Text        bool          // message texts are written; otherwise only their lengths
	Flush       time.Duration // how long a line may wait in memory before it is written

	Log zerolog.Logger // receives the log's own errors
}
