package server

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"pmg/connector/account"
)

// A checkedLogin is a name and a password that an account had when they were checked. On the same connection they count for
// loginStays, unless the accounts are loaded again: each request has them, and checking them takes longer than
// reading the request. They are kept as a hash with a seed of its own, which no answer shows.
type checkedLogin struct {
	accounts *account.Table
	account  *account.Account
	until    time.Time
	seed     maphash.Seed
	sum      uint64
}

const loginStays = time.Minute

// newCheckedLogin returns the login to an account of a table.
func newCheckedLogin(t *account.Table, a *account.Account, name, password string) *checkedLogin {
	l := &checkedLogin{accounts: t, account: a, until: time.Now().Add(loginStays), seed: maphash.MakeSeed()}
	l.sum = l.sumOf(name, password)
	return l
}

// accountOf returns the account of a name and a password, if they are the login's; otherwise nil. The login may be nil.
func (l *checkedLogin) accountOf(t *account.Table, name, password string) *account.Account {
	if l == nil || l.accounts != t || l.sum != l.sumOf(name, password) || !time.Now().Before(l.until) {
		return nil
	}
	return l.account
}

func (l *checkedLogin) sumOf(name, password string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(name)))
	_, _ = h.Write(size[:]) // never fails
	_, _ = h.WriteString(name)
	_, _ = h.WriteString(password)
	return h.Sum64()
}
