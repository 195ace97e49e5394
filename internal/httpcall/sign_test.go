package httpcall

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The vector that the libraries of Standard Webhooks have in their tests.
func TestSignVector(t *testing.T) {
	t.Parallel()
	headers, err := Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 999), []byte(`{"test": 2432232314}`))
	const want = "[[webhook-id msg_p5jXN8AQM9LWM0D4loKWxJek] [webhook-timestamp 1614265330] [webhook-signature v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=]]"
	if fmt.Sprint(headers) != want || err != nil {
		t.Errorf("%v, %v", headers, err)
	}
}

// While secrets are exchanged, a receiver with either one takes a call, and one with another does not.
func TestSign(t *testing.T) {
	t.Parallel()
	older, newer, key := NewSecret(), NewSecret(), NewKey()
	body := []byte(`{"type":"message.delivered"}`)
	signed, err := Sign([]string{newer, older, key}, "7", time.Now(), body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for _, h := range signed {
		header.Set(h[0], h[1])
	}
	verify := func(secret string, body []byte) error {
		w, err := webhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		return w.Verify(body, header)
	}
	if err := verify(older, body); err != nil {
		t.Error("the older one:", err)
	}
	if err := verify(newer, body); err != nil {
		t.Error("the newer one:", err)
	}
	if verify(NewSecret(), body) == nil || verify(newer, body[1:]) == nil {
		t.Error("another secret or body is taken")
	}
	public, err := PublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	parts := strings.Split(header.Get("Webhook-Signature"), " ")
	signature, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[2], "v1a,"))
	if content := "7." + header.Get("Webhook-Timestamp") + "." + string(body); len(k) != ed25519.PublicKeySize || !ed25519.Verify(k, []byte(content), signature) {
		t.Errorf("%s is not by %s", parts[2], public)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	octets := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for _, good := range []string{NewSecret(), NewKey(), "whsec_" + octets(24), "whsec_" + octets(64), "whsk_" + octets(32)} {
		if err := CheckSecret(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"": "must be base64 behind", "secret": "must be base64 behind", "whsec_": "24 to 64", "whsec_" + octets(23): "24 to 64", "whsec_" + octets(65): "24 to 64",
		"whsec_not base64": "must be base64 behind", "whsk_" + octets(31): "32 or 64", "whpk_" + octets(32): "must be base64 behind", "whsec_whsk_" + octets(32): "must be base64 behind",
	} {
		err := CheckSecret(bad)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := Sign([]string{NewSecret(), bad}, "7", time.Now(), nil); err == nil {
			t.Errorf("%q signs", bad)
		}
	}
	if _, err := PublicKey(NewSecret()); err == nil {
		t.Error("a shared secret has a public key")
	}
	if h, err := Sign(nil, "7", time.Unix(1, 0), nil); err != nil || fmt.Sprint(h) != "[[webhook-id 7] [webhook-timestamp 1]]" {
		t.Errorf("%v, %v", h, err)
	}
}
