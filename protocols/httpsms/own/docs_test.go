package own

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// docs/http.md names every problem, with its status, and every member of a message.
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
		if _, p := new(Reader).Message([]byte(`{"`+member+`":{}}`), noon); p == nil || strings.Contains(fmt.Sprint(p.Errors), "unknown-field") {
			t.Errorf("messages have no member %s", member)
		}
	}
}

// readContract reads the contract.
func readContract(t *testing.T, contract any) {
	t.Helper()
	b, err := os.ReadFile("../../../httpapi/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, contract); err != nil {
		t.Fatal(err)
	}
}

// The contract names every type of event that there is, and no other: of those that are fetched, and of calls of webhooks.
func TestEventsOfContract(t *testing.T) {
	t.Parallel()
	types := map[string]bool{TypeOf(&httpsms.Event{Message: &sms.Message{}}): true}
	for s := range sms.State(sms.StateCount) {
		for _, r := range []sms.Report{{State: s}, {State: s, Untaken: true}} {
			types[TypeOf(&httpsms.Event{Report: &r})] = true
			types[TypeOf(&httpsms.Event{Report: &r, Taken: true})] = true
		}
	}
	var contract struct {
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Schema struct {
							Ref string `json:"$ref"`
						}
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties struct{ Type struct{ Enum []string } }
			}
		}
	}
	readContract(t, &contract)
	enum := func(schema string) []string { return contract.Components.Schemas[schema].Properties.Type.Enum }
	if want, got := slices.Sorted(maps.Keys(types)), slices.Sorted(slices.Values(enum("Event"))); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	types[TestType], types[batchType], types[lowType] = true, true, true
	if want, got := slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(contract.Webhooks)); !slices.Equal(got, want) {
		t.Errorf("webhooks: %q, want %q", got, want)
	}
	for name, w := range contract.Webhooks {
		schema := strings.TrimPrefix(w.Post.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")
		if !slices.Contains(enum(schema), name) {
			t.Errorf("%s has the schema %s, whose types are %q", name, schema, enum(schema))
		}
		for _, other := range enum(schema) {
			if _, ok := contract.Webhooks[other]; !ok {
				t.Errorf("%s has the type %s, which is no webhook", schema, other)
			}
		}
	}
}

// The contract names the states of messages wherever it names some, in any order.
func TestStatesOfContract(t *testing.T) {
	t.Parallel()
	var contract any
	readContract(t, &contract)
	want, found := slices.Sorted(slices.Values(States())), 0
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
