package customers

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pmg/internal/passhash"
)

// hashOf runs pmg account hash with a standard input that is no terminal.
func hashOf(input string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := Account()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"hash"}, args...))
	err := cmd.Execute()
	return strings.TrimSpace(out.String()), err
}

// The hash of a password from standard input is the password's, without the line end; a password
// that no client can send is refused, and so is one that others could see.
func TestAccountHash(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"s3cret", "s3cret\n", "s3cret\r\n"} {
		hash, err := hashOf(input)
		if err != nil || passhash.Check(hash) != nil || !passhash.Matches([]byte(hash), []byte("s3cret")) {
			t.Errorf("%q: %v, %s", input, err, hash)
		}
	}
	for input, want := range map[string]string{
		"": "empty", "\n": "empty", "a\nb\n": "several lines", "a\x00": "zero octet", strings.Repeat("x", 256): "longer than 255 octets",
		strings.Repeat("x", 1<<20): "longer than 255 octets",
	} {
		if hash, err := hashOf(input); err == nil || !strings.Contains(err.Error(), want) || hash != "" {
			t.Errorf("%.20q: %v, %s", input, err, hash)
		}
	}
	if hash, err := hashOf("s3cret", "s3cret"); err == nil || strings.Contains(err.Error(), "s3cret") || hash != "" {
		t.Errorf("a password as an argument: %v, %s", err, hash)
	}
}

// At a terminal a password is typed twice.
func TestTypedPassword(t *testing.T) {
	t.Parallel()
	typed := func(lines ...string) ([]byte, string, error) {
		var out bytes.Buffer
		password, err := typedPassword(&out, func() ([]byte, error) {
			if len(lines) == 0 {
				return nil, errors.New("closed")
			}
			line := lines[0]
			lines = lines[1:]
			return []byte(line), nil
		})
		return password, out.String(), err
	}
	if password, out, err := typed("a", "a"); err != nil || string(password) != "a" || out != "Password: \nThe same again: \n" {
		t.Errorf("%q, %v, %q", password, err, out)
	}
	for _, lines := range [][]string{{"a", "b"}, {"", ""}, {"a"}, {}} {
		if password, _, err := typed(lines...); err == nil {
			t.Errorf("%q: %q", lines, password)
		}
	}
}
