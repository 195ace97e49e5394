package e2e

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// A program uses the API with a key of its account: for what the key is for, from where it may, until it expires or is
// taken out of the configuration. Keys are in no log.
func TestHTTPKeys(t *testing.T) {
	parallel(t)
	row := func(name, more string) string {
		return fmt.Sprintf(`{name: %s, hash: "sha256:%x"%s}`, name, sha256.Sum256([]byte("pmg_"+name)), more)
	}
	site := func(rows ...string) site {
		return site{more: withAPI, accounts: "{system_id: shop, password: s3cret, keys: [" + strings.Join(rows, ", ") + "]}\n{system_id: mo, password: s3cret, bind: [receiver], keys: [" + row("mo", "") + "]}"}
	}
	s := site(row("all", ""), row("send", ", scopes: [send]"), row("read", ", scopes: [read], expires: 2099-12-31"), row("far", ", networks: [192.0.2.0/24]"), row("old", ", expires: 2026-01-01"))
	s.operator = newSMSC(t)
	g := start(t, s)
	a := g.api()
	try := func(name string, submits, asks int) {
		t.Helper()
		a.key = "pmg_" + name
		a.do("POST", "/v1/messages", textBody("46700000001", name)).want(t, submits, "")
		if got := a.do("GET", "/v1/account", "").want(t, asks, ""); asks == 200 && got.text("account") != "shop" {
			t.Errorf("%s is of %s", name, got.text("account"))
		}
	}
	try("all", 202, 200)
	try("send", 202, 403)
	try("read", 403, 200)
	for _, name := range []string{"far", "old", "mo", "unknown", ""} {
		try(name, 401, 401)
	}
	if n := g.log.count("a key was refused"); n == 0 || strings.Contains(g.log.String(), "pmg_") {
		t.Errorf("%d lines tell of refused keys, or keys are in the log", n)
	}
	g.wantLog("api", "key=send")
	next := site(row("send", ""))
	next.operator = s.operator
	if err := g.reload(next); err != nil {
		t.Fatal(err)
	}
	try("all", 401, 401)
	try("send", 202, 200)
}
