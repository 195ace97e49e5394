package manage

import (
	"net/http"

	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// A newKey is the answer to a request to make a key.
type newKey struct {
	editor.Result
	Key string `json:"key"` // the key, which is shown only in this answer
}

// addKey makes a key of an account from the options in the request: the key's name, and optionally scopes, networks and expires.
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
		return refuse(http.StatusBadRequest, "the gateway makes the key: leave out the hash")
	}
	key := ""
	key, e.Make = editor.AddingKey(name, o)
	return a.do(w, r, e, func(result editor.Result) any {
		if e.Dry {
			return result
		}
		return newKey{result, key}
	})
}

// removeKey revokes a key.
func (a *api) removeKey(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	e, err := request(r, managed.OptionsFile(managed.Accounts, name))
	if err != nil {
		return err
	}
	e.Make = editor.RemovingKey(name, r.PathValue("key"))
	return a.do(w, r, e, nil)
}
