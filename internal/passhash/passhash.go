// Package passhash compares passwords with their hashes, of bcrypt and of argon2id.
//
// # Start reading
//
// passhash.go, then argon2id.go.
package passhash

import (
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// Is reports whether a password begins like a hash. Check reports whether it is one.
func Is(password string) bool {
	return strings.HasPrefix(password, "$2") || strings.HasPrefix(password, "$argon2")
}

// maxCost is the highest cost of a bcrypt hash. Each step doubles the time: cost
// 10 takes about 50 ms of CPU, cost 14 about 1 s (2026).
const maxCost = 14

// Check returns an error unless hash is valid, and Matches takes about a second or less for it. The text of the error follows
// the name of an option.
func Check(hash string) error {
	if strings.HasPrefix(hash, "$argon2") {
		_, err := parseArgon2id(hash)
		return err
	}
	cost, err := bcrypt.Cost([]byte(hash))
	switch {
	case err != nil:
		return fmt.Errorf("begins like a bcrypt hash but is not valid: %w; make one with pmg account hash", err)
	case cost > maxCost:
		return fmt.Errorf(
			"is a bcrypt hash of cost %d, which takes too long to check: make one of cost %d or less (htpasswd -nB -C "+
				"10), or with pmg account hash",
			cost, maxCost,
		)
	}
	return nil
}

// Matches reports whether hash is the hash of password. It returns false if Check returns an error for hash.
func Matches(hash, password []byte) bool {
	if !strings.HasPrefix(string(hash), "$argon2") {
		return bcrypt.CompareHashAndPassword(hash, password) == nil
	}
	h, err := parseArgon2id(string(hash))
	return err == nil && h.matches(password)
}
