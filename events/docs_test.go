package events

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/events.md has the line that is written, and describes each of its fields and each state.
func TestDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	e := sample()
	e.Source = []byte("1234")
	var p Printer
	line := string(p.Append(nil, e))
	if !strings.Contains(text, "```json\n"+line+"\n```") {
		t.Errorf("the example is not what is written:\n%s", line)
	}
	e.ToAccount = "other"
	var fields map[string]any
	if err := json.Unmarshal(p.Append(nil, e), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the field %s is not described", name)
		}
	}
	for s := range states {
		if !strings.Contains(text, fmt.Sprintf("| `%v` |", s)) {
			t.Errorf("the state %v is not described", s)
		}
	}
}
