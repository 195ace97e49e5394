package server

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// Plugins are asked about each connection's first request of an account, and the refusal is that of a wrong password. A login
// by a key is asked about, too.
func TestLoginPlugin(t *testing.T) {
	t.Parallel()
	keyed := fmt.Sprintf(
		`{system_id: shop, password: secret, keys: [{name: till, hash: "sha256:%x"}]}, {system_id: other, password: secret}`,
		sha256.Sum256([]byte("pmg_one")),
	)
	const other, key = "Authorization: Basic b3RoZXI6c2VjcmV0\r\n", "Authorization: Bearer pmg_one\r\n"
	r := newRig(t, "", keyed, `
plugins: [{name: place, on_failure: refuse, rules: [{if: 'address == "127.0.0.2" or protocol != "http" or bind != "transmitter"', do: refuse, why: "not there"}]}]
hooks: [{at: login, plugin: place}]
`)
	asked := func(want int64) {
		t.Helper()
		if s := r.Gateway.Hooks.Status(); s[0].Asked != want || s[0].Failed != 0 {
			t.Errorf("%+v, want %d asked", s[0], want)
		}
	}
	p := r.dial("127.0.0.1")
	for range 3 {
		p.ask("GET /ask", shop, "")
		p.want(202, "shop 127.0.0.1 ")
	}
	asked(1)
	p.ask("GET /ask", other, "")
	p.want(202, "other 127.0.0.1 ")
	asked(2)
	for _, header := range []string{shop, key} {
		p = r.dial("127.0.0.2")
		p.ask("GET /ask", header, "")
		p.want(401, "")
	}
	asked(4)
	if text := r.Log.String(); !strings.Contains(text, "login refused: a plugin refuses it: place: not there") {
		t.Error(text)
	}
}
