package passhash

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"golang.org/x/crypto/argon2"
)

// An argon2id is a hash with its parameters.
//
//	$argon2id$v=19$m=19456,t=2,p=1$salt$sum      salt and sum in base64 without padding
type argon2id struct {
	memory  uint32 // KiB
	time    uint32 // passes over the memory
	threads uint8
	salt    []byte
	sum     []byte
}

// Limits of a hash's parameters: about half a second of one core, and a usual amount of memory for each core.
const (
	maxMemory  = 64 << 10 // KiB
	maxTime    = 10
	maxThreads = 4
	maxOctets  = 64 // octets of the salt, and of the sum
)

var argon2idForm = regexp.MustCompile(`^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$`)

// New returns a new argon2id hash of a password. It takes 19 MiB and about 30 ms to make or compare: the second of the choices
// that OWASP recommends (2026).
func New(password []byte) string {
	h := argon2id{memory: 19 << 10, time: 2, threads: 1, salt: make([]byte, 16), sum: make([]byte, 32)}
	_, _ = rand.Read(h.salt) // never fails
	h.sum = h.of(password)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf(
		"$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads, encode(h.salt), encode(h.sum),
	)
}

// of returns the sum of a password with the salt and the parameters of h.
func (h *argon2id) of(password []byte) []byte {
	return argon2.IDKey(password, h.salt, h.time, h.memory, h.threads, uint32(len(h.sum)))
}

func (h *argon2id) matches(password []byte) bool {
	return subtle.ConstantTimeCompare(h.of(password), h.sum) == 1
}

// parseArgon2id returns the parts of a hash. Its errors are like those of Check.
func parseArgon2id(hash string) (*argon2id, error) {
	parts := argon2idForm.FindStringSubmatch(hash)
	if parts == nil {
		return nil, errors.New(
			"begins like an argon2id hash but is not valid: it must be $argon2id$v=19$m=...,t=...,p=...$salt$hash; make " +
				"one with pmg account hash",
		)
	}
	var numbers [3]uint64
	for i := range numbers {
		numbers[i], _ = strconv.ParseUint(parts[1+i], 10, 64) // the form has only digits, and few enough
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	m, t, p := numbers[0], numbers[1], numbers[2]
	switch {
	case m > maxMemory || t > maxTime || p > maxThreads:
		return nil, fmt.Errorf(
			"is an argon2id hash with m=%d,t=%d,p=%d, which takes too much to check: m (KiB) may be %d, t %d and p %d "+
				"at most; make one with pmg account hash",
			m, t, p, maxMemory, maxTime, maxThreads,
		)
	case t < 1 || p < 1 || m < 8*p:
		return nil, fmt.Errorf(
			"is not a valid argon2id hash: m=%d,t=%d,p=%d; t and p must be at least 1, m 8 x p; make one with pmg account hash",
			m, t, p,
		)
	case saltErr != nil || sumErr != nil || len(salt) < 8 || len(salt) > maxOctets || len(sum) < 16 || len(sum) > maxOctets:
		return nil, fmt.Errorf(
			"is not a valid argon2id hash: its salt must be 8 to %d octets and its sum 16 to %d, in base64 without "+
				"padding; make one with pmg account hash",
			maxOctets, maxOctets,
		)
	}
	return &argon2id{memory: uint32(m), time: uint32(t), threads: uint8(p), salt: salt, sum: sum}, nil
}
