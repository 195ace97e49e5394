package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/gateway"
)

// logLines appends lines to the pdu log of the connector clients, which nothing else writes.
func logLines(t *testing.T, g *gateway.Gateway, pdus ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(g.Node.Config().PDULog.Dir, "clients.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for _, pdu := range pdus {
		fmt.Fprintf(&b, "2026-11-20T19:05:22.469391Z clients/3 < %s\n", pdu)
	}
	if _, err := f.WriteString(b.String()); err != nil {
		t.Fatal(err)
	}
}

const hostilePDU = `submit_sm seq=1 source_addr="<b>x" destination_addr=46700 short_message="<script>secret" id=1a1fb0c12c230d41 account="<b>\"x"`

// audited returns the lines of the audit log that name an action.
func audited(t *testing.T, g *gateway.Gateway, act string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(g.Node.Config().Admin.Audit)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, fmt.Sprintf(`"act":%q`, act)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Texts are seen by nobody but those who ask for them, may operate, and are in the audit log with that; nobody else finds a line
// by its text. Filters are in the URL; one that cannot be used is named.
func TestPDULog(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	browsers := map[string]*http.Client{config.LookScope: visitor(t, base, config.LookScope), config.OperateScope: visitor(t, base, config.OperateScope)}
	logLines(t, g, hostilePDU, `submit_sm_resp seq=1 status=0x58(ESME_RTHROTTLED)`, `deliver_sm seq=2 source_addr=99`)
	for _, c := range []struct {
		scope, query, want, not string
		code                    int
	}{
		{config.LookScope, "", "short_message=*14", "secret", 200},
		{config.LookScope, "&find=46700", "seq=1 source", "deliver_sm seq", 200},
		{config.LookScope, "&find=secret", "", "seq=1 source", 200},
		{config.LookScope, "&texts=1", "this is not allowed", "secret", 403},
		{config.OperateScope, "", "short_message=*14", "script&gt;secret", 200},
		{config.OperateScope, "&find=secret", "", "seq=1 source", 200},
		{config.OperateScope, "&texts=1&find=secret", "&lt;script&gt;secret", "deliver_sm seq", 200},
		{config.OperateScope, "&texts=1", "deliver_sm seq", "<script>secret", 200},
		{config.LookScope, "&command=submit_*", "submit_sm seq=1", "deliver_sm seq", 200},
		{config.LookScope, "&direction=out", "", "deliver_sm seq", 200},
		{config.LookScope, "&status=ESME_RTHROTTLED", "submit_sm_resp seq=1", "deliver_sm seq", 200},
		{config.LookScope, "&status=ESME_RNONE", "the protocol has no ESME_RNONE", "deliver_sm seq", 200},
		{config.LookScope, "&find=(", "cannot be looked for", "deliver_sm seq", 200},
		{config.LookScope, "&command=[", "cannot be looked for", "deliver_sm seq", 200},
		{config.LookScope, "&direction=x", "cannot be looked for", "deliver_sm seq", 200},
		{config.LookScope, "&find=" + strings.Repeat("a", mostPattern+1), "cannot be looked for", "deliver_sm seq", 200},
	} {
		code, body, _ := ask(t, browsers[c.scope], "GET", base+"/ui/pdulog?connector=clients"+c.query, nil)
		if code != c.code || !strings.Contains(body, c.want) || strings.Contains(body, c.not) || strings.Contains(body, "<b>") || strings.Contains(body, "<script>") {
			t.Errorf("%s %s: %d %s", c.scope, c.query, code, body)
		}
	}
	look := browsers[config.LookScope]
	for path, want := range map[string]int{"?connector=../../etc/passwd": 400, "?connector=clients&texts=1": 403, "?connector=clients&find=(": 400} {
		if code, body, _ := ask(t, look, "GET", base+"/ui/stream/pdulog"+path, nil); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if _, body, _ := ask(t, look, "GET", base+"/ui/pdulog?connector=../clients", nil); !strings.Contains(body, "no connector of this name") || strings.Contains(body, "data-stream") {
		t.Error(body)
	}
	lines := audited(t, g, "pdulog/texts")
	if len(lines) != 4 || strings.Count(strings.Join(lines, ""), `"result":"ok"`) != 2 || strings.Count(strings.Join(lines, ""), "not allowed to user look") != 2 {
		t.Errorf("%q", lines)
	}
}

// openLog opens a stream of the pdu log, and returns what reads its next event; false: the stream has ended.
func openLog(t *testing.T, c *http.Client, base, query string) (code int, next func() (logEvent, bool)) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/ui/stream/pdulog?connector=clients"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	return a.StatusCode, func() (v logEvent, ok bool) {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					t.Fatal(err)
				}
				return v, true
			}
		}
		return v, false
	}
}

// A stream begins with the last lines, goes on with those that are written, says how many it has left out, and ends when its user
// may not see the texts any more that it shows. The look at texts is in the audit log while it lasts.
func TestFollow(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	logLines(t, g, hostilePDU)
	_, next := openLog(t, visitor(t, base, config.OperateScope), base, "&texts=1")
	if v, ok := next(); !ok || !v.First || len(v.Lines) != 1 || !strings.Contains(v.Lines[0].PDU, "<script>secret") || v.Lines[0].Session != "clients/3" || v.Lines[0].Way != "received" {
		t.Fatalf("%+v", v)
	}
	if lines := audited(t, g, "pdulog/texts"); len(lines) != 1 || !strings.Contains(lines[0], "user operate") {
		t.Errorf("%q", lines)
	}
	const more = 3 * mostLines
	var pdus []string
	for i := range more {
		pdus = append(pdus, fmt.Sprintf("enquire_link seq=%d", i))
	}
	logLines(t, g, pdus...)
	shown, out, last := 0, 0, ""
	for shown+out < more {
		v, ok := next()
		if !ok || v.First || len(v.Lines) > mostLines {
			t.Fatalf("%+v", v)
		}
		shown, out, last = shown+len(v.Lines), out+v.LeftOut, v.Lines[len(v.Lines)-1].PDU
	}
	if shown+out != more || out == 0 || last != pdus[more-1] {
		t.Errorf("%d shown, %d left out, the last one is %s", shown, out, last)
	}
	cfg := *g.Node.Config()
	cfg.Admin.Users = append([]config.User(nil), cfg.Admin.Users...)
	for i := range cfg.Admin.Users {
		cfg.Admin.Users[i].Scope = config.LookScope
	}
	g.Node.SetConfig(&cfg)
	logLines(t, g, hostilePDU)
	for v, ok := next(); ok; v, ok = next() {
		logLines(t, g, fmt.Sprintf("enquire_link seq=%d", len(v.Lines)))
	}
}

// As many streams are served as there are places, and one more is refused as that.
func TestFollowers(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	logLines(t, g, hostilePDU)
	c := visitor(t, base, config.LookScope)
	for i := range mostFollowers + 1 {
		code, next := openLog(t, c, base, "")
		if i == mostFollowers {
			if code != http.StatusServiceUnavailable {
				t.Errorf("%d", code)
			}
			break
		}
		if v, ok := next(); !ok || strings.Contains(v.Lines[0].PDU, "secret") {
			t.Errorf("%d %+v", code, v)
		}
	}
}
