package httpcall

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The prefixes of secrets and keys of Standard Webhooks. Base64 follows.
const (
	secretPrefix = "whsec_" // shared with the receiver: signatures v1
	keyPrefix    = "whsk_"  // private key of Ed25519: signatures v1a
	publicPrefix = "whpk_"  // prefix of the public key, which the receiver has
)

// NewSecret returns a secret that both sides know.
func NewSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// NewKey returns a private key, whose public key PublicKey returns.
func NewKey() string {
	b := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(b) // never fails
	return keyPrefix + base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(b))
}

// PublicKey returns the public key of a private one, in the form for receivers.
func PublicKey(key string) (string, error) {
	s, err := readSecret(key)
	if err != nil || s.private == nil {
		return "", errors.New("is no private key: it must begin with " + keyPrefix)
	}
	return publicPrefix + base64.StdEncoding.EncodeToString(s.private.Public().(ed25519.PublicKey)), nil
}

// CheckSecret returns the error of an invalid secret or private key.
func CheckSecret(text string) error {
	_, err := readSecret(text)
	return err
}

// A secret is a shared secret, or a private key.
type secret struct {
	shared  []byte
	private ed25519.PrivateKey
}

// readSecret reads a secret. The error does not contain the secret.
func readSecret(text string) (s secret, err error) {
	digits, isShared := strings.CutPrefix(text, secretPrefix)
	digits, isKey := strings.CutPrefix(digits, keyPrefix)
	b, err := base64.StdEncoding.DecodeString(digits)
	switch {
	case isShared == isKey || err != nil:
		return s, errors.New("must be base64 behind whsec_ or whsk_")
	case isShared && len(b) >= 24 && len(b) <= 64:
		return secret{shared: b}, nil
	case isShared:
		return s, errors.New("must be base64 of 24 to 64 octets behind whsec_")
	case len(b) == ed25519.SeedSize:
		return secret{private: ed25519.NewKeyFromSeed(b)}, nil
	case len(b) == ed25519.PrivateKeySize:
		return secret{private: b}, nil
	}
	return s, errors.New("must be base64 of a key of Ed25519, 32 or 64 octets, behind whsk_")
}

// Sign returns the headers by which a receiver knows that a call is ours (Standard Webhooks 1.0.0): a
// signature by each secret, of which there are two while they are exchanged. id is the id of the event, which
// is the same for each attempt; at is the time of the attempt.
func Sign(secrets []string, id string, at time.Time, body []byte) ([][2]string, error) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	content := append([]byte(id+"."+timestamp+"."), body...)
	signatures := make([]string, len(secrets))
	for i, text := range secrets {
		s, err := readSecret(text)
		if err != nil {
			return nil, err
		}
		signatures[i] = s.sign(content)
	}
	headers := [][2]string{{"webhook-id", id}, {"webhook-timestamp", timestamp}}
	if len(signatures) > 0 {
		headers = append(headers, [2]string{"webhook-signature", strings.Join(signatures, " ")})
	}
	return headers, nil
}

func (s *secret) sign(content []byte) string {
	if s.private != nil {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, content))
	}
	h := hmac.New(sha256.New, s.shared)
	h.Write(content)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
