// Package editor changes managed files: checks the configuration that a change results in, shows the
// difference that a reload would make, writes the file, and starts the reload. A change that the check
// refuses is not written, and one that cannot be put in force is taken back.
//
// # Start reading
//
// Editor.Do, then options.go (JSON as files have it) and keys.go.
package editor
