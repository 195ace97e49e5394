// Package hooks asks plugins about messages, at the places that the configuration names.
//
// # Start reading
//
// hooks.go (which plugins), question.go (what they see), change.go (what their verdicts change).
package hooks
