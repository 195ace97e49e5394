package account

import (
	"time"

	"pmg/config"
	"pmg/internal/token"
)

type keyed struct {
	account *Account
	key     *config.Key
	expires time.Time // zero: the key never expires
}

func (t *Table) addKeys(a *Account, keys []config.Key) {
	for i := range keys {
		t.keys[keys[i].Hash] = keyed{a, &keys[i], keys[i].ExpiresAt()}
	}
}

// AdmitKey decides about a request that has an API key instead of a name and a password. l holds
// the other data of the login. The account and the key are nil unless the result is OK.
func (t *Table) AdmitKey(l Login, key string, now time.Time) (*Account, *config.Key, Result) {
	k, ok := t.keys[token.Hash(key)] // the duration of this look-up does not help to guess a random key
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
