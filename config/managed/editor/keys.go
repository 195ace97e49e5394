package editor

import (
	"net/http"
	"slices"
	"time"

	"pmg/config/managed"
	"pmg/internal/token"
)

// AddingKey returns a new key, and a function that adds the key to the options of an account. o contains the
// key's name, and optionally scopes, networks and expires.
func AddingKey(account string, o Options) (key string, change func(was []byte) ([]byte, error)) {
	key = token.New()
	o["hash"], o["made"] = token.Hash(key), time.Now().UTC().Format(time.DateOnly)
	return key, changingKeys(account, func(keys []any) ([]any, error) { return append(keys, map[string]any(o)), nil })
}

// RemovingKey returns a function that removes a key from the options of an account.
func RemovingKey(account, key string) func(was []byte) ([]byte, error) {
	return changingKeys(account, func(keys []any) ([]any, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(k any) bool {
			one, _ := k.(map[string]any)
			return one["name"] == key
		})
		if len(left) == len(keys) {
			return nil, refuse(http.StatusNotFound, "account %s has no such key", account)
		}
		return left, nil
	})
}

// changingKeys changes only the keys of an account.
func changingKeys(name string, change func([]any) ([]any, error)) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		if was == nil {
			return nil, refuse(http.StatusNotFound, "there is no account %s", name)
		}
		o, err := ReadOptions(was)
		if err != nil {
			return nil, refuse(http.StatusConflict, "%s", err.Error())
		}
		keys, err := change(o.list("keys"))
		if err != nil {
			return nil, err
		}
		if o["keys"] = keys; len(keys) == 0 {
			o["keys"] = nil
		}
		return o.Replacing(managed.Accounts, name)(was)
	}
}
