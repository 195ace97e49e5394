package smsc

import (
	"os"
	"strings"
	"testing"
)

// docs/http-smsc.md has each field, as it is described here.
func TestDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/http-smsc.md")
	if err != nil {
		t.Fatal(err)
	}
	Fields(func(name, doc string) {
		if row := "- `{" + name + "}`: " + doc + "\n"; !strings.Contains(string(b), row) {
			t.Errorf("docs/http-smsc.md lacks %s", row)
		}
	})
}
