// Package token makes random secrets of programs, for operators (admin.tokens) and for clients of HTTP (keys), and the
// hashes that the configuration has of them. It reads the header Authorization (RFC 9110 §11.4), in which they come.
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

// New returns a random token of 256 bits. A token has a prefix, by which people and scanners for secrets know it.
func New() string {
	b := make([]byte, sha256.Size)
	_, _ = rand.Read(b) // rand.Read ends the program rather than fail
	return "pmg_" + base64.RawURLEncoding.EncodeToString(b)
}

// Hash returns what the configuration has of a token. A token is random, so one round of a fast hash is enough.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

var hashForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsHash reports whether a text has the form of a hash.
func IsHash(text string) bool { return hashForm.MatchString(text) }
