// Package seal encrypts and decrypts the messages that a store writes.
//
// # Start reading
//
// Sealer.
package seal

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"golang.org/x/crypto/chacha20poly1305"
)

// A Sealer encrypts values. Each value has a random nonce of 24 octets, so that no nonce is used
// twice, and is bound to its id. A Sealer is safe for concurrent use. A nil Sealer encrypts
// nothing.
type Sealer struct{ keys []key } // the first key encrypts new values

type key struct {
	name [4]byte // stands in front of the values that the key has encrypted
	aead cipher.AEAD
}

// New returns a Sealer that encrypts with the first key and decrypts with all keys. Each key has 32
// octets. Without keys the result is nil.
func New(keys [][]byte) (*Sealer, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	s := &Sealer{}
	for _, octets := range keys {
		aead, err := chacha20poly1305.NewX(octets)
		if err != nil {
			return nil, err
		}
		one := key{aead: aead}
		sum := sha256.Sum256(append([]byte("pmg store key "), octets...))
		copy(one.name[:], sum[:])
		s.keys = append(s.keys, one)
	}
	return s, nil
}

// mark is the first octet of an encrypted value. An unencrypted value begins with its version,
// which is a low number.
const mark = 0xE5

const head = 1 + 4 + chacha20poly1305.NonceSizeX

// Overhead is by how many octets an encrypted value is larger than the value.
const Overhead = head + chacha20poly1305.Overhead

// Is reports whether a value is encrypted.
func Is(value []byte) bool { return len(value) >= head && value[0] == mark }

// Append encrypts a value that belongs to an id, and appends the result.
func (s *Sealer) Append(to []byte, id uint64, value []byte) []byte {
	k := &s.keys[0]
	var nonce [chacha20poly1305.NonceSizeX]byte
	_, _ = rand.Read(nonce[:]) // rand.Read never fails
	to = append(append(append(to, mark), k.name[:]...), nonce[:]...)
	return k.aead.Seal(to, nonce[:], value, binary.BigEndian.AppendUint64(nil, id))
}

// IsOfFirst reports whether a value is encrypted with the first key.
func (s *Sealer) IsOfFirst(value []byte) bool {
	return Is(value) && bytes.Equal(NameOf(value), s.keys[0].name[:])
}

// NameOf returns the name of the key with which a value is encrypted.
func NameOf(value []byte) []byte { return value[1:5] }

// Keys returns the number of keys.
func (s *Sealer) Keys() int {
	if s == nil {
		return 0
	}
	return len(s.keys)
}

// The errors of Open.
var (
	ErrKey     = errors.New("it is encrypted with another key")
	ErrDamaged = errors.New("it cannot be decrypted, because it was changed")
)

// Open decrypts a value that belongs to an id. It returns an unencrypted value unchanged.
func (s *Sealer) Open(id uint64, value []byte) ([]byte, error) {
	if !Is(value) {
		return value, nil
	}
	if s == nil {
		return nil, ErrKey
	}
	for i := range s.keys {
		k := &s.keys[i]
		if !bytes.Equal(k.name[:], value[1:5]) {
			continue
		}
		plain, err := k.aead.Open(nil, value[5:head], value[head:], binary.BigEndian.AppendUint64(nil, id))
		if err != nil {
			return nil, ErrDamaged
		}
		return plain, nil
	}
	return nil, ErrKey
}
