package web

import (
	"strings"
	"testing"

	"pmg/config"
)

// The page asks for an account or an SMSC, and says why there is no statement.
func TestStatementPage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	b := visitor(t, base, config.LookScope)
	for _, q := range []struct {
		query string
		code  int
		has   []string
	}{
		{"", 200, []string{"Name an account, or an SMSC with costs."}},
		{"?account=%3Cb%3E", 404, []string{"Cannot make the statement: the configuration has no events.dir", `value="&lt;b&gt;"`}},
	} {
		code, body, _ := ask(t, b, "GET", base+"/ui/statement"+q.query, nil)
		for _, text := range q.has {
			if code != q.code || !strings.Contains(body, text) {
				t.Errorf("%s: %d, no %q in %s", q.query, code, text, body)
			}
		}
	}
}
