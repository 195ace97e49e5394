package customers

import (
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/token"
)

// What pmg admin token prints is what the configuration takes.
func TestTokenCommand(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	cmd := Admin()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"token", "anna", "--scope", "administer"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	made := strings.Split(out.String(), "\n")[1]
	_, row, _ := strings.Cut(out.String(), "admin.tokens:\n")
	c, _, err := config.Parse([]byte("connectors: []\nadmin:\n  tokens:\n  "+row), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if one := c.Admin.Tokens[0]; one.Name != "anna" || one.Scope != config.AdministerScope || one.Hash != token.Hash(made) {
		t.Errorf("%+v for %s", one, made)
	}
	cmd.SetArgs([]string{"token", "anna", "--scope", "all"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "--scope must be look, operate or administer") {
		t.Errorf("got %v", err)
	}
}

// What pmg account key prints is what the configuration takes.
func TestKeyCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (string, error) {
		var out strings.Builder
		cmd := Account()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"key"}, args...))
		err := cmd.Execute()
		return out.String(), err
	}
	out, err := run("shop", "--scopes", "send,read", "--expires", "2099-12-31")
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Split(out, "\n")[1]
	_, row, _ := strings.Cut(out, "account:\n")
	c, _, err := config.Parse([]byte("connectors: []\naccounts:\n- system_id: a\n  password: b\n  keys:\n  "+row), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Accounts[0].Logins.Keys[0]; k.Name != "shop" || k.Hash != token.Hash(key) || len(k.Scopes) != 2 || k.ExpiresAt().Year() != 2099 {
		t.Errorf("%+v for %s", k, key)
	}
	for want, args := range map[string][]string{"one argument": {}, "--scopes accepts": {"a", "--scopes", "all"}, "must be a day": {"a", "--expires", "soon"}} {
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
