package httpsink

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A key is what webhooks are signed with (Standard Webhooks): a secret, or a public key.
type key struct {
	secret []byte
	public ed25519.PublicKey
}

// readKey reads a key. An empty text is none.
func readKey(text string) (*key, error) {
	if text == "" {
		return nil, nil
	}
	digits, isSecret := strings.CutPrefix(text, "whsec_")
	digits, isPublic := strings.CutPrefix(digits, "whpk_")
	b, err := base64.StdEncoding.DecodeString(digits)
	switch {
	case isSecret == isPublic || err != nil:
		return nil, errors.New("must be base64 behind whsec_ or whpk_")
	case isSecret && len(b) > 0:
		return &key{secret: b}, nil
	case isPublic && len(b) == ed25519.PublicKeySize:
		return &key{public: b}, nil
	}
	return nil, errors.New("must have octets of a secret, or the 32 octets of a public key")
}

const (
	clocksDiffer  = 5 * time.Minute // most
	maxSignatures = 10
)

// signed reports whether a call has a signature by the key, and a time that is not long ago.
func (k *key) signed(h http.Header, body []byte, now time.Time) bool {
	id, timestamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || now.Sub(time.Unix(at, 0)).Abs() > clocksDiffer {
		return false
	}
	content := append([]byte(id+"."+timestamp+"."), body...)
	for n, one := range strings.Fields(h.Get("Webhook-Signature")) {
		version, digits, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(digits)
		switch {
		case n >= maxSignatures:
			return false
		case err != nil:
		case version == "v1" && k.secret != nil:
			m := hmac.New(sha256.New, k.secret)
			m.Write(content)
			if hmac.Equal(m.Sum(nil), signature) {
				return true
			}
		case version == "v1a" && k.public != nil:
			if ed25519.Verify(k.public, content, signature) {
				return true
			}
		}
	}
	return false
}
