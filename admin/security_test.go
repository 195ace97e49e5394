package admin

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// O8: SECURITY.md names each thing that whoever reaches the listener can have done.
func TestSecurityNamesOrders(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("server.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	orders := regexp.MustCompile(`"POST /([a-z]+)`).FindAllStringSubmatch(string(source), -1)
	if len(orders) < 6 {
		t.Fatalf("only %d orders", len(orders))
	}
	for _, order := range orders {
		if !strings.Contains(string(text), "`pmg "+order[1]) {
			t.Errorf("SECURITY.md does not tell of pmg %s", order[1])
		}
	}
	if !strings.Contains(string(text), "`pmg queue show ID --text`") {
		t.Error("SECURITY.md does not tell who sees texts")
	}
}
