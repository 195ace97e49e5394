// Package issuer runs servers of OpenID Connect for tests, which others wrote (mockoidc).
//
// # Start reading
//
// issuer.go (Run, Secrets, User).
package issuer

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
)

// Run starts a server behind handlers until the end of the test.
func Run(t testing.TB, before ...func(http.Handler) http.Handler) *mockoidc.MockOIDC {
	t.Helper()
	m, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range before {
		if err := m.AddMiddleware(one); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(l, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// A User is somebody whose token is not as it should be.
type User struct {
	mockoidc.MockUser
	Change func(*mockoidc.IDTokenClaims)
}

// Claims implements mockoidc.User.
func (u *User) Claims(scopes []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	u.Change(base)
	return u.MockUser.Claims(scopes, base)
}

// Secrets stand before a server, which then takes secrets in the ways that it names, and each code once.
type Secrets struct {
	Says  []string // as token_endpoint_auth_methods_supported; nil: it says nothing
	Takes string   // one of those alone; "": all of them

	mu    sync.Mutex
	codes map[string]int
}

// Codes returns how often each code was sent.
func (i *Secrets) Codes() map[string]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.codes
}

// Serve stands before the server of mockoidc, which takes secrets in forms alone.
func (i *Secrets) Serve(next http.Handler) http.Handler {
	i.codes = map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case mockoidc.DiscoveryEndpoint:
			i.describe(w, r, next)
		case mockoidc.TokenEndpoint:
			i.redeem(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (i *Secrets) describe(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	says := map[string]any{}
	_ = json.Unmarshal(answer.Body.Bytes(), &says)
	if says["token_endpoint_auth_methods_supported"] = i.Says; i.Says == nil {
		delete(says, "token_endpoint_auth_methods_supported")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(says)
}

func (i *Secrets) redeem(w http.ResponseWriter, r *http.Request, next http.Handler) {
	_ = r.ParseForm()
	i.mu.Lock()
	i.codes[r.Form.Get("code")]++
	used := i.codes[r.Form.Get("code")]
	i.mu.Unlock()
	way := "client_secret_post"
	if id, secret, ok := r.BasicAuth(); ok {
		way = "client_secret_basic"
		r.Form.Set("client_id", id)
		r.Form.Set("client_secret", secret)
	}
	if used > 1 || i.Takes != "" && way != i.Takes || i.Says != nil && !slices.Contains(i.Says, way) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
		return
	}
	next.ServeHTTP(w, r)
}
