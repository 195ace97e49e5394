package admin

import (
	"os"
	"strings"
	"testing"
)

// O8: SECURITY.md names each thing that whoever reaches the listener can have done.
func TestSecurityNamesOrders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range Actions() {
		command := strings.ReplaceAll(act.Name, "/", " ")
		if !strings.Contains(string(text), "`pmg "+command) && !strings.Contains(string(text), "`POST "+Base+"/"+act.Name+"`") {
			t.Errorf("SECURITY.md does not tell of %s", act.Name)
		}
	}
	if !strings.Contains(string(text), "`pmg queue show ID --text`") {
		t.Error("SECURITY.md does not tell who sees texts")
	}
}
