package access

import (
	"crypto/subtle"

	"pmg/config"
	"pmg/internal/token"
)

// find returns the row of a token, nil if no row matches. The duration does not depend on the token.
func find(tokens []config.Token, text string) (found *config.Token) {
	hash := []byte(token.Hash(text))
	for i := range tokens {
		if subtle.ConstantTimeCompare(hash, []byte(tokens[i].Hash)) == 1 {
			found = &tokens[i]
		}
	}
	return found
}
