package config

import (
	"fmt"
	"strings"
	"testing"
)

// What is wrong with a key is reported, without showing the key.
func TestKeys(t *testing.T) {
	t.Parallel()
	hash := "sha256:" + strings.Repeat("0", 64)
	for rows, want := range map[string]string{
		`{name: a, hash: "` + hash + `", scopes: [send], networks: [192.0.2.1], expires: 2099-12-31}`: "",
		`{name: a, hash: pmg_secret}`:                                                                "keys[a].hash must be sha256:",
		`{name: a b, hash: "` + hash + `"}`:                                                          "keys[0].name must be letters",
		`{name: a, hash: "` + hash + `"}, {name: b, hash: "` + hash + `"}`:                           "keys[b].hash is that of another key",
		`{name: a, hash: "` + hash + `"}, {name: a, hash: "sha256:` + strings.Repeat("1", 64) + `"}`: "is already used",
		`{name: a, hash: "` + hash + `", expires: tomorrow}`:                                         "keys[a].expires must be a day",
		`{name: a, hash: "` + hash + `", made: tomorrow}`:                                            "keys[a].made must be a day",
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

// What is wrong with a user of an account is reported, without what stands in the place of a hash.
func TestUsers(t *testing.T) {
	t.Parallel()
	const hash = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$IkNNYB8bGtvzcmOzJAtXJA"
	one := `{name: ann, password: "` + hash + `"}`
	for rows, want := range map[string]string{
		one + `, {name: bob, password: "` + hash + `", scope: manage}`: "",
		one + ", " + one:                                        "is already used",
		`{name: ann, password: secret}`:                         "users[ann].password must be a hash, as pmg account hash prints it",
		`{name: ann, password: "$2y$20$secret"}`:                "users[ann].password must be a hash",
		`{name: ann}`:                                           "users[ann] must have password",
		`{name: "a b", password: "` + hash + `"}`:               "users[0].name must be letters",
		`{name: ann, password: "` + hash + `", scope: operate}`: "must be look, send or manage",
		`{name: ann, password: "` + hash + `", totp_secret: B72LHOP3XAZU2YSCLLIM2JXNBMZUGOVW, recovery_codes: "sha256:` + strings.Repeat("0", 64) + `"}`: "",
		`{name: ann, password: "` + hash + `", totp_secret: B72LHOP3secret}`:                                                                             "users[ann].totp_secret must be 16 octets or more in base32",
		`{name: ann, password: "` + hash + `", totp_secret: B72LHOP3}`:                                                                                   "users[ann].totp_secret must be 16 octets or more in base32",
		`{name: ann, password: "` + hash + `", recovery_codes: "secret secret"}`:                                                                         "users[ann].recovery_codes must be 10 hashes at most",
		strings.Repeat(one+", ", 101): "users must have 100 entries at most, not 101",
	} {
		c, warnings, err := Parse([]byte("connectors: []\naccounts: [{system_id: a, password: b, users: ["+rows+"]}]"), Options{})
		switch {
		case want == "" && (err != nil || !strings.Contains(fmt.Sprint(warnings), "users cannot log in") || c.Accounts[0].Logins.Users[0].Scope != LookScope):
			t.Errorf("%s: %v", rows, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), "totp_secret", ""), "secret")):
			t.Errorf("%s: %v, want %s", rows, err, want)
		}
	}
}

// Pages whose passwords can be read on the way have a warning.
func TestPortal(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]int{
		`address: "127.0.0.1:1"`: 0, `address: "0.0.0.0:1"`: 1, `address: "gateway.example:1"`: 1, `address: ":1"`: 1,
		`address: "192.0.2.1:1", proxies: 192.0.2.2`: 0, `addresses: ["127.0.0.1:1", "192.0.2.1:1"]`: 1,
	} {
		_, warnings, err := Parse([]byte("accounts: [{system_id: a, password: b}]\nconnectors: [{name: api, direction: in, protocol: http, portal: true, "+options+"}]"), Options{})
		n := 0
		for _, w := range warnings {
			if strings.Contains(w.Path, "portal") {
				n++
			}
		}
		if err != nil || n != want {
			t.Errorf("%s: %v, %v", options, err, warnings)
		}
	}
}
