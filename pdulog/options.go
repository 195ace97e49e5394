package pdulog

import (
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
)

// Options are the options of pdu logs. The zero value of a field switches its feature off.
// The usual values are the defaults of package config.
type Options struct {
	logfile.Options
	Waiting int64         // bytes of lines that may wait in memory for a slow disk; 0: 64 MiB, which is also the most
	TextKey []byte        // without Text: the key of the hash that stands for a text; empty: none does
	Text    bool          // message texts are written; false: only their lengths
	Flush   time.Duration // longest time that a line waits in memory before it is written

	Log zerolog.Logger // receives the log's own errors
}
