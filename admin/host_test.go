package admin

import (
	"net/http"
	"testing"
)

// H19: only requests for a host of the gateway's own are served, so that no web page
// can read answers by pointing its own host name at the gateway.
func TestHost(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	for host, want := range map[string]int{
		"":                       200, // the client's default: 127.0.0.1 with the port
		"localhost":              200,
		"LocalHost.:2780":        200,
		"127.0.0.1":              200,
		"127.8.9.10:80":          200,
		"[::1]:2780":             200,
		"gateway.example":        200, // admin.hosts
		"gateway.example:443":    200,
		"evil.example":           421,
		"evil.example:2780":      421,
		"gateway.example.evil":   421,
		"localhost.evil.example": 421,
		"192.0.2.1":              421,
		"[2001:db8::1]:2780":     421,
	} {
		for _, path := range []string{"/healthz", "/admin/v1/status", "/metrics"} {
			q, err := http.NewRequest(http.MethodGet, r.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if host != "" {
				q.Host = host
			}
			answer, err := client().Do(q)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s for host %q: %d, want %d", path, host, answer.StatusCode, want)
			}
		}
	}
}

// The host of admin.address is served, unless it stands for every address.
func TestHostNames(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"Admin.Example:2780": "admin.example",
		"[2001:DB8::1]:2780": "2001:db8::1",
		"192.0.2.1:2780":     "192.0.2.1",
		":2780":              "",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("host of %s: %q, want %q", address, got, want)
		}
	}
}
