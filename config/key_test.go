package config

import (
	"strings"
	"testing"
)

// What is wrong with a key is reported, without showing the key.
func TestKeys(t *testing.T) {
	t.Parallel()
	hash := "sha256:" + strings.Repeat("0", 64)
	for rows, want := range map[string]string{
		`{name: a, hash: "` + hash + `", scopes: [send], networks: [192.0.2.1], expires: 2099-12-31}`: "",
		`{name: a, hash: pmg_secret}`:                                                                "keys[0].hash must be sha256:",
		`{name: a b, hash: "` + hash + `"}`:                                                          "keys[0].name must be letters",
		`{name: a, hash: "` + hash + `"}, {name: b, hash: "` + hash + `"}`:                           "keys[1].hash is that of another key",
		`{name: a, hash: "` + hash + `"}, {name: a, hash: "sha256:` + strings.Repeat("1", 64) + `"}`: "is already used",
		`{name: a, hash: "` + hash + `", expires: tomorrow}`:                                         "keys[0].expires must be a day",
		`{name: a, hash: "` + hash + `", scopes: [all]}`:                                             "must be send or read",
	} {
		_, _, err := Parse([]byte("connectors: []\naccounts: [{system_id: a, password: b, keys: ["+rows+"]}]"), Options{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", rows, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v, want %s", rows, err, want)
		}
	}
}
