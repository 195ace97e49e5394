package account

import (
	"time"

	"pmg/config"
	"pmg/internal/token"
)

type keyed struct {
	account *Account
	key     *config.Key
	expires time.Time // zero: never
}

func (t *Table) addKeys(a *Account, keys []config.Key) {
	for i := range keys {
		t.keys[keys[i].Hash] = keyed{a, &keys[i], keys[i].ExpiresAt()}
	}
}

// AdmitKey decides about a request that has a key in the place of a name and a password; l has the rest. The account and
// the key are nil unless the result is OK.
func (t *Table) AdmitKey(l Login, key string, now time.Time) (*Account, *config.Key, Result) {
	k, ok := t.keys[token.Hash(key)] // nobody finds a random key by the time that this takes
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
