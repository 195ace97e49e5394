package credentials

import (
	"strings"
	"testing"

	"pmg/admin/access"
	"pmg/config"
)

// What pmg admin token prints is what the configuration takes.
func TestTokenCommand(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	cmd := Admin()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"token", "anna", "--scope", "act"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	token := strings.Split(out.String(), "\n")[1]
	_, row, _ := strings.Cut(out.String(), "admin.tokens:\n")
	c, _, err := config.Parse([]byte("connectors: []\nadmin:\n  tokens:\n  "+row), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if one := c.Admin.Tokens[0]; one.Name != "anna" || one.Scope != config.ActScope || one.Hash != access.Hash(token) {
		t.Errorf("%+v for %s", one, token)
	}
	cmd.SetArgs([]string{"token", "anna", "--scope", "all"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "--scope must be look or act") {
		t.Errorf("got %v", err)
	}
}
