package account

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"pmg/config"
)

// A keyed account has a key.
type keyed struct {
	account *Account
	key     *config.Key
	expires time.Time // zero: never
}

// hashOfKey returns the hash of a key as the configuration has it. Keys are random, so that nobody finds one by the
// time that a comparison takes.
func hashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (t *Table) addKeys(a *Account, keys []config.Key) {
	for i := range keys {
		t.keys[keys[i].Hash] = keyed{a, &keys[i], keys[i].ExpiresAt()}
	}
}

// AdmitKey decides about a request that has a key in the place of a name and a password; l has the rest. The account and
// the key are nil unless the result is OK.
func (t *Table) AdmitKey(l Login, key string, now time.Time) (*Account, *config.Key, Result) {
	k, ok := t.keys[hashOfKey(key)]
	if !ok || !k.expires.IsZero() && !now.Before(k.expires) {
		return nil, nil, WrongKey
	}
	if !isIn(l.Addr, k.key.Networks) {
		return nil, nil, WrongNetwork
	}
	l.SystemID = []byte(k.account.SystemID)
	a, result := t.Admit(l, Right)
	if result != OK {
		return nil, nil, result
	}
	return a, k.key, OK
}
