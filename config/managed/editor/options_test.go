package editor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pmg/config/managed"
	"pmg/internal/passhash"
	"pmg/internal/token"
)

// What is written of options is read again as it was, whatever their names and values are.
func TestOptionsAgain(t *testing.T) {
	t.Parallel()
	text := `{"system_id": "acme", "password": "a\"b\\c é<>: # {", "rate": 50, "numbers": ["0046", "yes", "1e3", "~", ""], "on": true,
		"keys": [{"name": "crm", "scopes": ["send"], "of": {"a: b": [], "x": "\n- y"}}], "odd: \nkey": "null", "quick": false}`
	o, err := ParseOptions(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	written := o.yaml()
	got, err := ReadOptions(written)
	if err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%v: %#v\nis not %#v\n%s", err, got, o, written)
	}
	if !strings.HasPrefix(string(written), "system_id: \"acme\"\n") {
		t.Errorf("the name is not first:\n%s", written)
	}
}

// Secrets that are masked or not given stay, null removes one, and a password is stored as a hash that the same one leaves.
func TestReplacing(t *testing.T) {
	t.Parallel()
	write := func(was []byte, text string) []byte {
		t.Helper()
		o, err := ParseOptions(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		data, err := o.Replacing("accounts", "acme")(was)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first := write(nil, `{"password": "s3cret", "webhook_key": "whsec_a", "rate": 1}`)
	o, err := ReadOptions(first)
	if hash, _ := o["password"].(string); err != nil || !strings.HasPrefix(hash, "$argon2id$") || o["webhook_key"] != "whsec_a" {
		t.Fatalf("%v: %s", err, first)
	}
	for _, text := range []string{
		`{"password": "s3cret", "webhook_key": "***", "rate": 1}`, `{"password": "***", "rate": 1}`, `{"rate": 1, "webhook_key": "whsec_a"}`,
	} {
		if again := write(first, text); string(again) != string(first) {
			t.Errorf("%s: %s, not %s", text, again, first)
		}
	}
	if o, _ = ReadOptions(write(first, `{"webhook_key": null, "password": "other"}`)); o["webhook_key"] != nil || o["password"] == "other" || o["rate"] != nil {
		t.Errorf("%v", o)
	}
	if masked := o.Mask(); masked["password"] != Masked {
		t.Errorf("%v", masked)
	}
	for _, text := range []string{`{"password": "${ENV:HOME}"}`, `{"rewrite": [{"a": ["${FILE:/etc/passwd}"]}]}`} {
		o, _ := ParseOptions(strings.NewReader(text))
		if _, err := o.Replacing("accounts", "acme")(nil); err == nil || !strings.Contains(err.Error(), "reference") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "[]", "{} {}", "null", "{"} {
		if _, err := ParseOptions(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// The secret of a server for logins is shown masked, stays while its section stays, and goes with it, or as null.
func TestSecretOfSection(t *testing.T) {
	t.Parallel()
	was := []byte("system_id: acme\npassword: x\noidc: {issuer: \"https://login.example.net\", client_id: pmg, client_secret: SECRET, look: [a]}\n")
	for text, want := range map[string]any{
		`{"oidc": {"issuer": "https://login.example.net", "client_id": "pmg", "look": ["b"]}}`: "SECRET",
		`{"oidc": {"client_id": "pmg", "client_secret": "***"}}`:                               "SECRET",
		`{"oidc": {"client_id": "pmg", "client_secret": "OTHER"}}`:                             "OTHER",
		`{"oidc": {"client_id": "pmg", "client_secret": null}}`:                                nil,
		`{"oidc": null}`: nil,
	} {
		o, err := ParseOptions(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []func([]byte) ([]byte, error){o.Replacing(managed.Accounts, "acme"), o.Merging(managed.Accounts, "acme")} {
			after, err := change(was)
			if err != nil {
				t.Fatal(err)
			}
			now, err := ReadOptions(after)
			if err != nil {
				t.Fatal(err)
			}
			if in, key := now.at("oidc.client_secret"); in[key] != want {
				t.Errorf("%s: %s", text, after)
			}
			if shown := fmt.Sprint(now.Mask()); strings.Contains(shown, "SECRET") || strings.Contains(shown, "OTHER") {
				t.Error(shown)
			}
		}
	}
}

// The second factor of a user is shown masked, and stays with its user unless it is null; recovery codes go with it.
func TestSecondFactors(t *testing.T) {
	t.Parallel()
	const hash = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$IkNNYB8bGtvzcmOzJAtXJA"
	was := []byte("system_id: acme\npassword: x\nusers: [{name: ann, password: \"" + hash + "\", totp_secret: SECRET, recovery_codes: \"one two\"}]\n")
	for _, c := range []struct {
		users         string
		secret, codes any
	}{
		{`{"name": "ann", "scope": "send"}`, "SECRET", "one two"}, {`{"name": "ann", "totp_secret": "***", "recovery_codes": "***"}`, "SECRET", "one two"},
		{`{"name": "ann", "totp_secret": null}`, nil, nil}, {`{"name": "ann", "recovery_codes": null}`, "SECRET", nil},
		{`{"name": "bob", "password": "` + hash + `", "totp_secret": "***"}`, nil, nil},
	} {
		o, err := ParseOptions(strings.NewReader(`{"users": [` + c.users + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func([]byte) ([]byte, error){"PUT": o.Replacing(managed.Accounts, "acme"), "PATCH": o.Merging(managed.Accounts, "acme")} {
			after, err := change(was)
			if err != nil {
				t.Fatal(err)
			}
			now, err := ReadOptions(after)
			if err != nil {
				t.Fatal(err)
			}
			u := now.list("users")[0].(map[string]any)
			if u["totp_secret"] != c.secret || u["recovery_codes"] != c.codes || u["password"] != hash {
				t.Errorf("%s %s: %v", name, c.users, u)
			}
			if shown := fmt.Sprint(now.Mask()); strings.Contains(shown, "SECRET") || strings.Contains(shown, "one") {
				t.Error(shown)
			}
		}
	}
	used, err := UsingCode("acme", "ann", "one")(was)
	if err != nil || strings.Contains(string(used), "one") || !strings.Contains(string(used), "two") {
		t.Errorf("%v %s", err, used)
	}
	if _, err := UsingCode("acme", "ann", "one")(used); err == nil {
		t.Error("a recovery code is used twice")
	}
	if last, err := UsingCode("acme", "ann", "two")(used); err != nil || strings.Contains(string(last), "recovery_codes") || !strings.Contains(string(last), "SECRET") {
		t.Errorf("%v %s", err, last)
	}
	if _, err := SettingFactor("acme", "bob", "S", nil)(was); err == nil {
		t.Error("somebody has a second factor who is no user")
	}
}

// Passwords of users are stored as hashes and shown masked, stay with their users, and go with them.
func TestUsers(t *testing.T) {
	t.Parallel()
	write := func(was []byte, text string) (data []byte, users []any) {
		t.Helper()
		o, err := ParseOptions(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		given, _ := json.Marshal(o)
		if data, err = o.Replacing("accounts", "acme")(was); err != nil {
			t.Fatal(err)
		}
		if now, _ := json.Marshal(o); string(now) != string(given) {
			t.Errorf("what was given has changed: %s, not %s", now, given)
		}
		if o, err = ReadOptions(data); err != nil {
			t.Fatal(err)
		}
		return data, o.list("users")
	}
	password := func(users []any, i int) string {
		text, _ := users[i].(map[string]any)["password"].(string)
		return text
	}
	first, users := write(nil, `{"password": "x", "users": [{"name": "ann", "password": "s3cret"}, {"name": "123", "password": "other", "scope": "send"}]}`)
	ann, number := password(users, 0), password(users, 1)
	if !passhash.Matches([]byte(ann), []byte("s3cret")) || !passhash.Matches([]byte(number), []byte("other")) {
		t.Fatalf("%s", first)
	}
	for _, text := range []string{
		`{"users": [{"name": "ann", "password": "s3cret"}, {"name": "123", "password": "***", "scope": "send"}]}`,
		`{"users": [{"name": "ann", "password": "***"}, {"name": "123", "scope": "send"}]}`,
	} {
		if again, _ := write(first, text); string(again) != string(first) {
			t.Errorf("%s: %s, not %s", text, again, first)
		}
	}
	_, users = write(first, `{"users": [{"name": "123", "password": "***"}, {"name": "new", "password": "***"}, {"name": "ann", "password": "changed"}]}`)
	if password(users, 0) != number || password(users, 1) != "" || !passhash.Matches([]byte(password(users, 2)), []byte("changed")) {
		t.Errorf("%v", users)
	}
	if _, users = write(first, `{"rate": 1}`); len(users) != 2 || password(users, 0) != ann {
		t.Errorf("%v", users)
	}
	if _, users = write(first, `{"rate": 1, "users": null}`); users != nil {
		t.Errorf("%v", users)
	}
	if _, users = write(first, `{"users": {"name": "one", "password": "plain"}}`); !strings.HasPrefix(password(users, 0), "$argon2id$") {
		t.Errorf("%v", users)
	}
	for _, text := range []string{`users: [{name: ann, password: hidden}]`, `users: {name: ann, password: hidden}`, `users: [[1], {name: [2], password: [hidden]}]`} {
		o, err := ReadOptions([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if shown, _ := json.Marshal(o.Mask()); strings.Contains(string(shown), "hidden") {
			t.Errorf("%s", shown)
		}
	}
	many := strings.Repeat(`{"name": "a", "password": "plain"},`, 101)
	o, _ := ParseOptions(strings.NewReader(`{"users": [` + strings.TrimSuffix(many, ",") + `]}`))
	if data, err := o.Replacing("accounts", "acme")(nil); err != nil || strings.Contains(string(data), "argon2id") {
		t.Errorf("more users than there may be are hashed: %v", err)
	}
}

// changed returns what a change makes of a file.
func changed(t *testing.T, was string, change func([]byte) ([]byte, error)) string {
	t.Helper()
	var before []byte
	if was != "" {
		before = []byte(was)
	}
	data, err := change(before)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// refused checks that a change is refused with a status and words.
func refused(t *testing.T, was string, change func([]byte) ([]byte, error), status int, words string) {
	t.Helper()
	var before []byte
	if was != "" {
		before = []byte(was)
	}
	data, err := change(before)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Status != status || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %q, %v, want %d with %q", was, data, err, status, words)
	}
}

func parsed(t *testing.T, text string) Options {
	t.Helper()
	o, err := ParseOptions(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A patch changes what it names: null removes an option, options of an option are merged, and a list is replaced.
func TestMerging(t *testing.T) {
	t.Parallel()
	const was = `system_id: "acme"` + "\n" + `password: "$2a$10$x"` + "\n" + `numbers: ["1","2"]` + "\n" + `rate: 5` + "\n" + `share: {"a":1,"b":{"c":2,"d":3}}` + "\n"
	o := parsed(t, `{"rate": null, "numbers": ["3"], "share": {"a": null, "b": {"c": 4}, "e": {"f": null, "g": 5}}, "window": {"h": 6}, "password": "***"}`)
	want := `system_id: "acme"` + "\n" + `numbers: ["3"]` + "\n" + `password: "$2a$10$x"` + "\n" + `share: {"b":{"c":4,"d":3},"e":{"g":5}}` + "\n" + `window: {"h":6}` + "\n"
	if got := changed(t, was, o.Merging("accounts", "acme")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	refused(t, "", o.Merging("accounts", "acme"), 404, "there is no acme below accounts")
	refused(t, "a: [", o.Merging("accounts", "acme"), 409, "must be mended by hand")
	refused(t, "- 1", o.Merging("accounts", "acme"), 409, "it has no options")
	refused(t, "a: 1\n---\nb: 2", o.Replacing("accounts", "acme"), 409, "not one document")
}

// An object has its name, and a route, which has none, only what is given.
func TestNames(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"accounts": `system_id: "x"` + "\nrate: 1\n", "lists": `name: "x"` + "\nrate: 1\n", "prices": `name: "x"` + "\nrate: 1\n", "routes": "rate: 1\n",
	} {
		if got := changed(t, "", parsed(t, `{"rate": 1}`).Replacing(kind, "x")); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	for kind, taken := range map[string]bool{"accounts": true, "lists": false, "routes": false} {
		change := parsed(t, `{"file": "/etc/passwd"}`).Replacing(kind, "x")
		if taken { // it is no option of an account, which the check of the configuration says
			changed(t, "", change)
			continue
		}
		refused(t, "", change, 422, "the gateway chooses the file")
	}
}

// A key is added with its hash, known only to its user, and removed by name. The last one leaves none behind.
func TestKeys(t *testing.T) {
	t.Parallel()
	const was = `system_id: "acme"` + "\n" + `password: "$2a$10$x"` + "\n"
	key, add := AddingKey("acme", Options{"name": "crm", "scopes": []any{"send"}})
	with := changed(t, was, add)
	if !strings.Contains(with, `"name":"crm"`) || !strings.Contains(with, `"hash":"`+token.Hash(key)+`"`) || !strings.Contains(with, `"made":"2`) || strings.Contains(with, key) {
		t.Errorf("%s\n%s", key, with)
	}
	_, add = AddingKey("acme", Options{"name": "shop"})
	both := changed(t, with, add)
	if left := changed(t, both, RemovingKey("acme", "shop")); left != with {
		t.Errorf("%s, want %s", left, with)
	}
	if left := changed(t, with, RemovingKey("acme", "crm")); left != was {
		t.Errorf("%s, want %s", left, was)
	}
	refused(t, was, RemovingKey("acme", "crm"), 404, "account acme has no such key")
	refused(t, "", RemovingKey("acme", "crm"), 404, "there is no account acme")
	refused(t, "a: [", RemovingKey("acme", "crm"), 409, "cannot read the file")
	if got := changed(t, both, parsed(t, `{"password": "***", "keys": null}`).Replacing("accounts", "acme")); got != was {
		t.Errorf("%s, want %s", got, was)
	}
}

// An old document restores no key that was revoked since.
func TestWithoutNewKeys(t *testing.T) {
	t.Parallel()
	const one, two = `system_id: "acme"` + "\n" + `keys: [{"hash":"1","name":"crm"}]` + "\n", `{"keys": [{"name": "crm", "hash": "1"}, {"name": "shop", "hash": "2"}]}`
	o := parsed(t, two)
	refused(t, one, o.WithoutNewKeys(o.Replacing("accounts", "acme")), 409, "the account has no key shop now")
	for _, was := range []string{"", changed(t, "", o.Replacing("accounts", "acme"))} {
		if got := changed(t, was, o.WithoutNewKeys(o.Replacing("accounts", "acme"))); !strings.Contains(got, `"shop"`) {
			t.Errorf("%q: %s", was, got)
		}
	}
	refused(t, "a: [", o.WithoutNewKeys(o.Replacing("accounts", "acme")), 409, "must be mended by hand")
}
