package editor

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pmg/internal/passhash"
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
