package manage

import (
	"net/http"
	"slices"

	"pmg/internal/token"
	"pmg/managed"
	"pmg/managed/editor"
)

// A newKey is the answer to a request to make a key.
type newKey struct {
	editor.Result
	Key string `json:"key"` // which is shown only now
}

// addKey makes a key of an account, of the options that the request has: its name, and scopes, networks and expires if they
// are to be.
func (a *api) addKey(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	e, err := request(r, managed.OptionsFile(managed.Accounts, name))
	if err != nil {
		return err
	}
	o, err := editor.ParseOptions(r.Body)
	if err != nil {
		return err
	}
	if o["hash"] != nil {
		return refuse(http.StatusBadRequest, "the gateway makes the key, so that there is no hash to give")
	}
	key := ""
	key, e.Make = AddingKey(name, o)
	return a.do(w, r, e, func(result editor.Result) any {
		if e.Dry {
			return result
		}
		return newKey{result, key}
	})
}

// removeKey takes a key back.
func (a *api) removeKey(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	e, err := request(r, managed.OptionsFile(managed.Accounts, name))
	if err != nil {
		return err
	}
	e.Make = RemovingKey(name, r.PathValue("key"))
	return a.do(w, r, e, nil)
}

// AddingKey returns a new key, and what adds it to the options of an account: with o, which has its name, and scopes, networks
// and expires if they are to be.
func AddingKey(account string, o editor.Options) (key string, change func(was []byte) ([]byte, error)) {
	key = token.New()
	o["hash"] = token.Hash(key)
	return key, changingKeys(account, func(keys []any) ([]any, error) { return append(keys, map[string]any(o)), nil })
}

// RemovingKey returns what takes a key from the options of an account.
func RemovingKey(account, key string) func(was []byte) ([]byte, error) {
	return changingKeys(account, func(keys []any) ([]any, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(k any) bool {
			one, _ := k.(map[string]any)
			return one["name"] == key
		})
		if len(left) == len(keys) {
			return nil, refuse(http.StatusNotFound, "account "+account+" has no such key")
		}
		return left, nil
	})
}

// changingKeys changes the keys of an account, and nothing else of it.
func changingKeys(name string, change func([]any) ([]any, error)) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		if was == nil {
			return nil, refuse(http.StatusNotFound, "there is no account "+name)
		}
		o, err := editor.ReadOptions(was)
		if err != nil {
			return nil, refuse(http.StatusConflict, err.Error())
		}
		keys, _ := o["keys"].([]any)
		if keys, err = change(keys); err != nil {
			return nil, err
		}
		if o["keys"] = keys; len(keys) == 0 {
			delete(o, "keys")
		}
		return o.Replacing(managed.Accounts, name)(was)
	}
}
