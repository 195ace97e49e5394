package passhash

import (
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// The first hash was made by the reference implementation: argon2 somesalt -id -t 4 -m 12 -p 4 -l 24.
func TestMatches(t *testing.T) {
	t.Parallel()
	cheap, err := bcrypt.GenerateFromPassword([]byte("password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{
		"$argon2id$v=19$m=4096,t=4,p=4$c29tZXNhbHQ$FF25czqfTuQ+3zPFCb6WuTTVBaTvszxa",
		New([]byte("password")),
		string(cheap),
	} {
		if !Is(hash) || Check(hash) != nil {
			t.Errorf("%s is no hash: %v", hash, Check(hash))
		}
		if !Matches([]byte(hash), []byte("password")) {
			t.Errorf("%s is not that of the password", hash)
		}
		for _, wrong := range []string{"", "Password", "password\x00"} {
			if Matches([]byte(hash), []byte(wrong)) {
				t.Errorf("%s is that of %q", hash, wrong)
			}
		}
	}
}

// A password has another hash each time.
func TestNewHasSalt(t *testing.T) {
	t.Parallel()
	if a, b := New([]byte("x")), New([]byte("x")); a == b || !strings.HasPrefix(a, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%s and %s", a, b)
	}
}

// A hash that takes too much to check, or is malformed, is refused, and no password is its.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	const salt, sum = "c29tZXNhbHQ", "RdescudvJCsgt3ub+b1SCMyUVVE3cNoB"
	for hash, want := range map[string]string{
		"$argon2id$v=19$m=65537,t=1,p=1$" + salt + "$" + sum:                 "takes too much",
		"$argon2id$v=19$m=4294967295,t=1,p=1$" + salt + "$" + sum:            "takes too much",
		"$argon2id$v=19$m=9999999999,t=1,p=1$" + salt + "$" + sum:            "takes too much",
		"$argon2id$v=19$m=64,t=11,p=1$" + salt + "$" + sum:                   "takes too much",
		"$argon2id$v=19$m=64,t=1,p=5$" + salt + "$" + sum:                    "takes too much",
		"$argon2id$v=19$m=64,t=1,p=257$" + salt + "$" + sum:                  "takes too much",
		"$argon2id$v=19$m=64,t=0,p=1$" + salt + "$" + sum:                    "must be at least 1",
		"$argon2id$v=19$m=64,t=1,p=0$" + salt + "$" + sum:                    "must be at least 1",
		"$argon2id$v=19$m=15,t=1,p=2$" + salt + "$" + sum:                    "8 x p",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "$aaaa":                      "sum 16",
		"$argon2id$v=19$m=64,t=1,p=1$aaaa$" + sum:                            "salt must be 8",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "aa$" + sum:                  "",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "$" + sum + "a":              "",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "$" + strings.Repeat(sum, 3): "sum 16",
		"$argon2id$v=16$m=64,t=1,p=1$" + salt + "$" + sum:                    "is not valid",
		"$argon2id$m=64,t=1,p=1$" + salt + "$" + sum:                         "is not valid",
		"$argon2i$v=19$m=64,t=1,p=1$" + salt + "$" + sum:                     "is not valid",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "$" + sum + "$":              "is not valid",
		"$argon2id$v=19$m=64,t=1,p=1$" + salt:                                "is not valid",
		"$argon2id$v=19$m=-1,t=1,p=1$" + salt + "$" + sum:                    "is not valid",
		"$argon2id$v=19$m=99999999999999999999,t=1,p=1$" + salt + "$" + sum:  "is not valid",
		"$argon2":    "is not valid",
		"$2y$10$abc": "bcrypt",
		"$2a$31$abcdefghijklmnopqrstuuKvqIyxOgcBOn54i3MsM4xCeZ7bXeJyW": "cost 31",
	} {
		if !Is(hash) {
			t.Errorf("%s does not begin like a hash", hash)
		}
		err := Check(hash)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", hash, err, want)
		}
		if strings.HasPrefix(hash, "$argon2") && Matches([]byte(hash), []byte("password")) {
			t.Errorf("%s is a password's", hash)
		}
	}
	for _, plain := range []string{"", "secret", "$1$x", "argon2id", "$"} {
		if Is(plain) {
			t.Errorf("%q begins like a hash", plain)
		}
	}
}
