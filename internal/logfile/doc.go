// Package logfile writes the files of a log that only grows, and takes care of the rotated
// ones.
//
//	<name>.log                             being written, whole lines only
//	<name>-20261120T000000.031337.log      rotated at that time, waits to be compressed
//	<name>-20261119T000000.004711.log.zst  rotated and compressed
//
// The package that owns the log defines lines, holds lines while a disk fails, and decides when to try again.
//
// # Start reading
//
// file.go (the file being written), retain.go (rotated files: limits, compressing), names.go.
package logfile
