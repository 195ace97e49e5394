package web

import (
	"net/http"
	"net/url"
	"sync"
	"testing"

	"pmg/config"
)

// Wrong logins that wait until they are looked at keep neither a right one nor the pages away.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	in := visitor(t, base, config.LookScope)
	wrong := visitor(t, base, "")
	var flood sync.WaitGroup
	for range 20 { // more than there are places for requests
		flood.Go(func() {
			code, _, _ := ask(t, wrong, "POST", base+"/ui/login", url.Values{"name": {config.LookScope}, "password": {"x"}})
			if code != http.StatusUnauthorized && code != http.StatusTooManyRequests {
				t.Errorf("a wrong login: %d", code)
			}
		})
	}
	if code, _, _ := ask(t, in, "GET", base+"/ui/accounts", nil); code != http.StatusOK {
		t.Errorf("a page: %d", code)
	}
	flood.Wait()
}
