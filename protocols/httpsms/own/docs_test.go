package own

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/http.md names every problem, with its status, and every state.
func TestDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		if row := fmt.Sprintf("| `%s` | %d |", k.Name, k.Status); !strings.Contains(string(b), row) {
			t.Errorf("docs/http.md lacks %s", row)
		}
	}
	for _, member := range []string{"from", "to", "text", "binary", "encoding", "udh", "message_class", "priority", "protocol_id", "send_at", "validity", "expires_at", "receipt", "client_reference", "deduplicate", "callback_url", "max_parts"} {
		if !strings.Contains(string(b), "`"+member+"`") {
			t.Errorf("docs/http.md lacks the member %s", member)
		}
		if _, p := ReadMessage([]byte(`{"`+member+`":{}}`), noon); p == nil || strings.Contains(fmt.Sprint(p.Errors), "unknown-field") {
			t.Errorf("messages have no member %s", member)
		}
	}
}
