package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
)

// askPlugin runs a command with a message on standard input.
func askPlugin(t *testing.T, message string, args ...string) (string, error) {
	t.Helper()
	b, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	return askPluginOf(t, documents.Blocks(string(b), "yaml")[0], message, args...)
}

// askPluginOf does so with a configuration.
func askPluginOf(t *testing.T, yaml, message string, args ...string) (string, error) {
	t.Helper()
	file := process.WriteConfig(t, yaml)
	var out bytes.Buffer
	cmd := newRootCommand()
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetIn(strings.NewReader(message))
	cmd.SetArgs(append(args, "-c", file))
	err := cmd.Execute()
	return out.String(), err
}

// The command asks about the messages of any hook, with the members that those have, and a verdict that a hook has not is none.
func TestPluginCommandHooks(t *testing.T) {
	t.Parallel()
	informed := make(chan string, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		informed <- string(b)
		_, _ = io.WriteString(w, `{"verdicts": [{}]}`)
	}))
	defer service.Close()
	config := `
accounts: [{system_id: acme, password: secret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:1"}, {name: operator, direction: out, address: "127.0.0.1:2", system_id: pmg}]
routes: [{to: operator}]
plugins:
  - {name: service, on_failure: pass, url: "` + service.URL + `"}
  - name: rules
    on_failure: refuse
    rules:
      - {if: 'hook == "send" and connector == "operator" and part == 2 and parts == 3 and id == "17"', do: delay, for: 1h}
      - {if: 'hook in ["receipt", "login"]', do: delay, for: 1h}
hooks: [{at: send, plugin: rules}, {at: result, plugin: service}]
`
	for _, c := range []struct{ name, message, want string }{
		{"rules", `{"hook": "send", "connector": "operator", "id": "17", "part": 2, "parts": 3}`, `"until": `},
		{"rules", `{"hook": "accept", "connector": "operator", "id": "17", "part": 2, "parts": 3}`, `{}`},
		{"rules", `{"hook": "receipt", "state": "delivered"}`, `"until": `},
		{"rules", `{"hook": "login", "protocol": "smpp"}`, `which is not possible for a login; on_failure is refuse`},
		{"service", `{"hook": "result", "id": "17", "state": "sent", "connector": "operator"}`, `{}`},
		{"rules", `{"hook": "sent"}`, `no hook "sent"; the hooks are: accept, mo, send, result, receipt, login`},
	} {
		out, err := askPluginOf(t, config, c.message, "plugin", "test", c.name)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) || (err != nil) != !strings.HasPrefix(strings.TrimSpace(out), "{") {
			t.Errorf("%s, %s: %s, want %s", c.name, c.message, out, c.want)
		}
	}
	question := testutil.Receive(t, "a question", informed)
	for _, want := range []string{`"hook":"result"`, `"id":"17"`, `"state":"sent"`, `"connector":"operator"`} {
		if !strings.Contains(question, want) {
			t.Errorf("the question lacks %s: %s", want, question)
		}
	}
}

// The command prints the verdict of a plugin, or says why there is none.
func TestPluginCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, want string }{
		{"content", `{"from": "ACME", "to": "46701", "text": "Casino!"}`, `"why": "no games of chance"`},
		{"network", `{"to": "46701"}`, `"net:24001"`},
		{"network", `{"to": "49"}`, `{}`},
		{"nobody", `{}`, `no plugin "nobody"; its plugins are: content, night, network`},
		{"network", `{"too": "49"}`, `unknown field "too"`},
		{"network", ``, "cannot read the message from standard input"},
	} {
		out, err := askPlugin(t, c.message, "plugin", "test", c.name)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) || (err != nil) != !strings.HasPrefix(strings.TrimSpace(out), "{") {
			t.Errorf("%s, %s: %s, want %s", c.name, c.message, out, c.want)
		}
	}
	out, err := askPlugin(t, `{"to": "46701"}`, "plugin", "bench", "network", "--duration", "50ms", "--clients", "4")
	if err != nil || !strings.Contains(out, " a second; 0 failed\n") {
		t.Error(out, err)
	}
	if _, err := askPlugin(t, `{}`, "plugin", "bench", "network", "--clients", "0"); err == nil {
		t.Error("nobody asks")
	}
}
