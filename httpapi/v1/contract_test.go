package v1

import (
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/apicheck"
)

func readContract(t *testing.T) *apicheck.Contract {
	t.Helper()
	c, err := apicheck.Read(openapi)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// check checks an answer of the API. One that refuses a path of no request is a problem all the same.
func check(t *testing.T, c *apicheck.Contract, method, path string, r apitest.Reply) {
	t.Helper()
	if !strings.HasPrefix(path, "/v1/") {
		return
	}
	kind := r.Header.Get("Content-Type")
	if c.Has(method, path) {
		if why := c.Wrong(method, path, r.Status, kind, r.Body); why != "" {
			t.Errorf("%s %s: %s", method, path, why)
		}
	} else if r.Status >= 400 && kind != "application/problem+json" {
		t.Errorf("%s %s: an answer of type %s", method, path, kind)
	}
}
