package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"pmg/sms"
)

// docs/events.md shows the line that is written, and describes each of its fields and each state.
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
	e.ToAccount, e.ClientID, e.Tags = "other", 1, []byte("vip held:a")
	e.Network, _ = sms.ReadNetwork("24001")
	e.Charge = Charge{45_000, 30_000, 2}
	e.Delivery = &Delivery{Client: 1, State: sms.StateDelivered, Error: []byte("1"), Network: 1}
	var fields map[string]any
	if err := json.Unmarshal(p.Append(nil, e), &fields); err != nil {
		t.Fatal(err)
	}
	var refund, low map[string]any
	for m, into := range map[*BalanceEvent]*map[string]any{{ID: 7, Account: "a", Refund: 1, At: 1}: &refund, {Account: "a", At: 1}: &low} {
		if err := json.Unmarshal(p.AppendBalance(nil, m), into); err != nil {
			t.Fatal(err)
		}
		maps.Copy(fields, *into)
		if kind := (*into)["kind"]; !strings.Contains(text, fmt.Sprintf("| `%v` |", kind)) {
			t.Errorf("the kind %v is not described", kind)
		}
	}
	var orphan map[string]any
	e.Delivery = &Delivery{Peer: []byte("1")}
	if err := json.Unmarshal(p.Append(nil, e), &orphan); err != nil {
		t.Fatal(err)
	}
	maps.Copy(fields, orphan)
	for name := range fields {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the field %s is not described", name)
		}
	}
	for _, s := range sms.States() {
		if !strings.Contains(text, "`"+s.String()+"`") {
			t.Errorf("the delivery %v is not described", s)
		}
	}
	for s := range states {
		if !strings.Contains(text, fmt.Sprintf("| `%v` |", s)) {
			t.Errorf("the state %v is not described", s)
		}
	}
}
