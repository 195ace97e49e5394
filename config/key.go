package config

import (
	"fmt"
	"net/netip"
	"time"
)

// SendScope and ReadScope are the scopes of keys.
const (
	SendScope = "send"
	ReadScope = "read"
)

// Key is a secret with which a program uses the API of HTTP in the name of an account.
type Key struct {
	Name     string         `yaml:"name" required:"yes" live:"yes" doc:"Whose it is, for the logs."`
	Hash     string         `yaml:"hash" required:"yes" live:"yes" doc:"sha256: and the hash of the key in hex, as pmg account key prints it. The key itself stands nowhere."`
	Scopes   []string       `yaml:"scopes" enum:"send|read" live:"yes" doc:"What it may be used for: send submits, changes and cancels messages, read asks what became of them, and about the account. Both when empty."`
	Networks []netip.Prefix `yaml:"networks" live:"yes" doc:"Addresses that it may be used from, besides those of the account; any when empty."`
	Expires  string         `yaml:"expires" live:"yes" doc:"The first day on which it is not taken any more, such as 2027-12-31, in UTC. It stays in force when empty."`
}

// ExpiresAt returns when the key is not taken any more, the zero time if that is never.
func (k *Key) ExpiresAt() time.Time {
	t, _ := time.Parse(time.DateOnly, k.Expires) // which checkKeys has seen
	return t
}

// checkKeys checks the keys of an account. seen are the hashes of all accounts.
func checkKeys(d *decoder, a *Account, path string, seen map[string]bool) {
	names := map[string]int{}
	for i := range a.Keys {
		k := &a.Keys[i]
		at := fmt.Sprintf("%s.keys[%d]", path, i)
		d.unique(names, k.Name, path+".keys[%d].name", i)
		if checkHashed(d, at, k.Name, k.Hash, "pmg account key", "key"); k.Hash != "" && seen[k.Hash] {
			d.problem(at+".hash", "is that of another key: each key is of one account, and stands once")
		}
		seen[k.Hash] = true
		if k.Expires == "" {
			continue
		}
		if t, err := time.Parse(time.DateOnly, k.Expires); err != nil {
			d.problem(at+".expires", "must be a day such as 2027-12-31, not %q", k.Expires)
		} else if time.Now().After(t) {
			d.warn(at+".expires", "has passed, so that the key is not taken")
		}
	}
}
