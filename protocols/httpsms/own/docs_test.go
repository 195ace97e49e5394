package own

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
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

// The contract names the states of messages wherever it names some, in any order.
func TestStatesOfContract(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../httpapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract any
	if err := json.Unmarshal(b, &contract); err != nil {
		t.Fatal(err)
	}
	want, found := slices.Sorted(slices.Values(stateWords())), 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				walk(member)
			}
		case []any:
			var words []string
			for _, item := range v {
				walk(item)
				words = append(words, fmt.Sprint(item))
			}
			if slices.Contains(words, Scheduled) && slices.Contains(words, delivered) {
				found++
				if slices.Sort(words); !slices.Equal(words, want) {
					t.Errorf("%q, want %q", words, want)
				}
			}
		}
	}
	if walk(contract); found == 0 {
		t.Error("the contract names no states")
	}
}
