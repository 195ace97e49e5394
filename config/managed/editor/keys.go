package editor

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pmg/config/managed"
	"pmg/internal/token"
)

// AddingKey returns a new key, and a function that adds the key to the options of an account. o contains the
// key's name, and optionally scopes, networks and expires.
func AddingKey(account string, o Options) (key string, change func(was []byte) ([]byte, error)) {
	key = token.New()
	o["hash"], o["made"] = token.Hash(key), time.Now().UTC().Format(time.DateOnly)
	return key, changing("keys", account, func(keys []any) ([]any, error) { return append(keys, map[string]any(o)), nil })
}

// RemovingKey returns a function that removes a key from the options of an account.
func RemovingKey(account, key string) func(was []byte) ([]byte, error) {
	return removing("keys", "key", account, key)
}

// removing returns a function that removes the entry with a name from an option of an account. what is an entry in the singular.
func removing(option, what, account, name string) func(was []byte) ([]byte, error) {
	return changing(option, account, func(all []any) ([]any, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(one any) bool { return nameOf(one) == name })
		if len(left) == len(all) {
			return nil, refuse(http.StatusNotFound, "account %s has no such %s", account, what)
		}
		return left, nil
	})
}

// SettingTemplate returns a function that adds a template to the options of an account, or changes its text.
func SettingTemplate(account, name, text string) func(was []byte) ([]byte, error) {
	return changing("templates", account, func(all []any) ([]any, error) {
		one := map[string]any{"name": name, "text": text}
		all = slices.Clone(all)
		if i := slices.IndexFunc(all, func(t any) bool { return nameOf(t) == name }); i >= 0 {
			all[i] = one
			return all, nil
		}
		return append(all, one), nil
	})
}

// RemovingTemplate returns a function that removes a template from the options of an account.
func RemovingTemplate(account, name string) func(was []byte) ([]byte, error) {
	return removing("templates", "template", account, name)
}

// SettingUser returns a function that adds a user to the options of an account, or changes one. An empty password or scope of a
// user who exists stays what it is.
func SettingUser(account, user, password, scope string) func(was []byte) ([]byte, error) {
	return changing("users", account, func(users []any) ([]any, error) {
		one := map[string]any{"name": user}
		i := slices.IndexFunc(users, func(u any) bool { return nameOf(u) == user })
		if i >= 0 {
			one = maps.Clone(users[i].(map[string]any))
			users = slices.Clone(users)
			users[i] = one
		} else {
			users = append(slices.Clone(users), any(one))
		}
		if password != "" {
			one["password"] = password
			delete(one, "password_once")
		}
		if scope != "" {
			one["scope"] = scope
		}
		if one["password"] == nil {
			return nil, refuse(http.StatusUnprocessableEntity, "a new user needs a password")
		}
		return users, nil
	})
}

// ResettingPassword returns a function that gives a user a password, which the user must change after the next login.
func ResettingPassword(account, user, password string) func(was []byte) ([]byte, error) {
	return changingUser(account, user, func(one map[string]any) error {
		one["password"], one["password_once"] = password, true
		return nil
	})
}

// ReplacingPassword returns a function that gives a user another password, which the user has chosen. It is refused if the hash
// of the present one is not was.
func ReplacingPassword(account, user, was, password string) func(was []byte) ([]byte, error) {
	return changingUser(account, user, func(one map[string]any) error {
		if one["password"] != was {
			return refuse(http.StatusConflict, "user %s of account %s has another password meanwhile", user, account)
		}
		one["password"] = password
		delete(one, "password_once")
		return nil
	})
}

// SettingMail returns a function that sets the address of a user for mail; "" removes it.
func SettingMail(account, user, address string) func(was []byte) ([]byte, error) {
	return changingUser(account, user, func(one map[string]any) error {
		if one["mail"] = address; address == "" {
			delete(one, "mail")
		}
		return nil
	})
}

// SettingFactor returns a function that sets the second factor of a user, with the hashes of recovery codes. An empty
// secret removes both.
func SettingFactor(account, user, secret string, hashes []string) func(was []byte) ([]byte, error) {
	return changingUser(account, user, func(one map[string]any) error {
		one["totp_secret"], one["recovery_codes"] = nil, nil
		if secret != "" {
			one["totp_secret"], one["recovery_codes"] = secret, strings.Join(hashes, " ")
		}
		return nil
	})
}

// UsingCode returns a function that removes a recovery code of a user, and is refused if the user has no such code.
func UsingCode(account, user, hash string) func(was []byte) ([]byte, error) {
	return changingUser(account, user, func(one map[string]any) error {
		text, _ := one["recovery_codes"].(string)
		codes := strings.Fields(text)
		left := slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return code == hash })
		if len(left) == len(codes) {
			return refuse(http.StatusNotFound, "user %s of account %s has no such code", user, account)
		}
		if one["recovery_codes"] = any(strings.Join(left, " ")); len(left) == 0 {
			one["recovery_codes"] = nil
		}
		return nil
	})
}

// changingUser changes one user of an account, who must exist. An option that it sets to nil goes.
func changingUser(account, user string, change func(one map[string]any) error) func(was []byte) ([]byte, error) {
	return changing("users", account, func(users []any) ([]any, error) {
		i := slices.IndexFunc(users, func(u any) bool { return nameOf(u) == user })
		if i < 0 {
			return nil, refuse(http.StatusNotFound, "account %s has no such user", account)
		}
		one := maps.Clone(users[i].(map[string]any))
		users = slices.Clone(users)
		users[i] = one
		return users, change(one)
	})
}

// RemovingUser returns a function that removes a user from the options of an account.
func RemovingUser(account, user string) func(was []byte) ([]byte, error) {
	return removing("users", "user", account, user)
}

// nameOf returns the name of a key, a user or a template.
func nameOf(entry any) string {
	one, _ := entry.(map[string]any)
	name, _ := one["name"].(string)
	return name
}

// changing changes one option of an account, which is a list.
func changing(option, name string, change func([]any) ([]any, error)) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		if was == nil {
			return nil, refuse(http.StatusNotFound, "there is no account %s", name)
		}
		o, err := ReadOptions(was)
		if err != nil {
			return nil, refuse(http.StatusConflict, "%s", err.Error())
		}
		all, err := change(o.list(option))
		if err != nil {
			return nil, err
		}
		if o[option] = all; len(all) == 0 {
			o[option] = nil
		}
		return o.Replacing(managed.Accounts, name)(was)
	}
}
