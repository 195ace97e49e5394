package server

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"pmg/connector/account"
	"pmg/httpapi/apitest"
)

// A login counts for its name and its password, for its accounts, and for a while. Not parallel, because allocations are counted.
func TestLogin(t *testing.T) {
	one, other, a := &account.Table{}, &account.Table{}, &account.Account{}
	l := newCheckedLogin(one, a, "acme", "s3cret")
	for name, c := range map[string]struct {
		in             *account.Table
		name, password string
		over, want     bool
	}{
		"the same":         {one, "acme", "s3cret", false, true},
		"another password": {one, "acme", "s3crets", false, false},
		"another name":     {one, "acmes", "s3cret", false, false},
		"another border":   {one, "acmes", "3cret", false, false},
		"no password":      {one, "acme", "", false, false},
		"a reload":         {other, "acme", "s3cret", false, false},
		"later":            {one, "acme", "s3cret", true, false},
	} {
		now := *l
		if c.over {
			now.until = time.Now()
		}
		if got := now.accountOf(c.in, c.name, c.password); (got == a) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var none *checkedLogin
	if none.accountOf(one, "acme", "s3cret") != nil {
		t.Error("no login has an account")
	}
	if n := testing.AllocsPerRun(100, func() { l.accountOf(one, "acme", "s3cret") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// On one connection, each request is let in by its own password. An account whose password was changed is let in by the new one
// alone.
func TestLoginsOnConnection(t *testing.T) {
	t.Parallel()
	const both = oneShop + ", {system_id: other, password: word}"
	r := newRig(t, "", both)
	p := r.dial("127.0.0.1")
	ask := func(name, password string, want bool) {
		t.Helper()
		p.ask("GET /ask", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password))+"\r\n", "")
		if want {
			p.want(202, name+" 127.0.0.1 ")
		} else {
			p.want(401, "")
		}
	}
	ask("shop", "secret", true)
	ask("shop", "secret", true)
	ask("shop", "word", false)
	ask("shop", "secret", true)
	ask("other", "word", true)
	ask("shop", "secret", true)
	r.Reload(apitest.YAML(strings.Replace(both, "secret", "new", 1), "", "", ""))
	ask("shop", "secret", false)
	ask("shop", "new", true)
}
