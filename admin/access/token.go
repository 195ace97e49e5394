package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"

	"pmg/config"
)

// NewToken returns a random token of 256 bits. A token has a prefix, by which people and scanners for secrets know it.
func NewToken() string {
	b := make([]byte, sha256.Size)
	_, _ = rand.Read(b) // it ends the program rather than fail
	return "pmg_" + base64.RawURLEncoding.EncodeToString(b)
}

// Hash returns what the configuration has of a token. A token is random, so one round of a fast hash is enough.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// find returns the row of a token, nil if there is none. The time it takes does not depend on the token.
func find(tokens []config.Token, token string) (found *config.Token) {
	hash := []byte(Hash(token))
	for i := range tokens {
		if subtle.ConstantTimeCompare(hash, []byte(tokens[i].Hash)) == 1 {
			found = &tokens[i]
		}
	}
	return found
}
