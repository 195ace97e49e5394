package editor

import (
	"reflect"
	"strings"
	"testing"
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
