// Package token makes random tokens for programs, of operators (admin.tokens) and of HTTP clients (keys), and passwords of
// clients, and the hashes for the configuration. It parses the header Authorization (RFC 9110 §11.4).
//
// # Start reading
//
// New, Hash, Bearer.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
)

// New returns a random token of 256 bits. It has a prefix, so that people and scanners for secrets recognise it.
func New() string {
	b := make([]byte, sha256.Size)
	_, _ = rand.Read(b) // rand.Read ends the program rather than fail
	return "pmg_" + base64.RawURLEncoding.EncodeToString(b)
}

// Password returns a random password that is not longer than SMPP allows.
func Password() string { return rand.Text()[:8] }

// Hash returns the hash of a token for the configuration. A token is random, so one round of a fast hash is enough.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

var hashForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsHash reports whether a text has the form of a hash.
func IsHash(text string) bool { return hashForm.MatchString(text) }
