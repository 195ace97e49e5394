package config

import (
	"strings"
	"testing"
)

// URLs that are never called, whichever client names them, are reported where the configuration
// allows them.
func TestCallbackPorts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{"http://127.0.0.1:81/": true, "http://127.0.0.1:80/": false, "https://h.example.net/": false, "http://h.example.net:1024/x": false, "10.0.0.0/8": false} {
		text := "accounts: [{system_id: shop, password: secret, callback_urls: [\"" + url + "\"]}]\nconnectors:\n" +
			"  - {name: api, direction: in, protocol: http, address: \"127.0.0.1:8080\"}\n" +
			"  - {name: operator, direction: out, address: \"127.0.0.1:1\", system_id: x}\nroutes: [{to: operator}]\n"
		_, warnings, err := Parse([]byte(text), Options{Protocols: []string{"smpp", "http"}})
		found := false
		for _, w := range warnings {
			found = found || strings.Contains(w.String(), "callback_urls[0] has no effect") && strings.Contains(w.String(), "not 81")
		}
		if err != nil || found != want {
			t.Errorf("%s: %v, %v", url, warnings, err)
		}
	}
}
