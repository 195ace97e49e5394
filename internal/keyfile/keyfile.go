// Package keyfile reads keys from files.
//
// # Start reading
//
// Read.
package keyfile

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// Octets is how many octets a key has.
const Octets = 32

// longest is how many octets a file may have.
const longest = 4096

// Read reads a key from a file, in hexadecimal or base64. The error describes what to do, and does not contain the key.
func Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w: let the gateway's user read it, or name another", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w: let the gateway's user read it, or name another", err)
	}
	text := strings.TrimSpace(string(b))
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString} {
		if key, err := decode(text); err == nil && len(key) == Octets {
			return key, nil
		}
	}
	return nil, fmt.Errorf(
		"names %s, which must have %d octets in hexadecimal or base64: openssl rand -hex %[2]d makes them", name, Octets,
	)
}
