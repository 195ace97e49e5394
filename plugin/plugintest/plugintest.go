// Package plugintest has plugins for tests: a service and a program that decide, or misbehave.
//
// # Start reading
//
// Decide, which all of them use, then Service.
package plugintest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"pmg/plugin"
)

// Message returns a message that depends on n.
func Message(n int) *plugin.Message {
	return &plugin.Message{
		Hook: plugin.Accept, Account: "shop", Connector: "in", From: "PMG", FromTON: 5, To: fmt.Sprint(46700000000 + n), ToTON: 1,
		Text: "<åäö> & \"\n\"", Alphabet: "gsm7",
	}
}

// Decide returns the verdict about a message. It refuses recipients that end with 7. Otherwise it puts the recipient
// before the text, and adds a tag.
func Decide(m *plugin.Message) plugin.Verdict {
	if strings.HasSuffix(m.To, "7") {
		return plugin.Verdict{Do: plugin.Refuse, Status: "throttled", Why: "seven"}
	}
	text := m.To + " " + m.Text
	return plugin.Verdict{Text: &text, Tags: []string{"a:1"}}
}

// Describe returns a verdict as a text.
func Describe(v plugin.Verdict) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Service answers questions as Decide does.
func Service(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Messages []*plugin.Message `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	verdicts := make([]plugin.Verdict, len(question.Messages))
	for i, m := range question.Messages {
		verdicts[i] = Decide(m)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"verdicts": verdicts})
}
