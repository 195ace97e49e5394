package web

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/config"
)

// storyID is the message of start's gateway that the pdu log knows.
const storyID = "00000000000000a1"

// logStory writes a pdu log of five minutes ago with a message whose values would be markup if they were not written as text.
func logStory(t *testing.T, dir string) {
	t.Helper()
	at := time.Now().UTC().Add(-5 * time.Minute)
	var b strings.Builder
	for i, line := range []string{
		`clients/1 < submit_sm seq=1 source_addr="<b>x" destination_addr=46700000002 short_message="<script>secret" account="<b>\"x"`,
		`clients/1 > submit_sm_resp seq=1 status=0 message_id=` + storyID + ` account="<b>\"x"`,
		`operator/2 > submit_sm seq=5 source_addr="<b>x" destination_addr=46700000002 short_message="<script>secret" id=` + storyID + ` account="<b>\"x"`,
		`operator/2 < submit_sm_resp seq=5 status=0x58(ESME_RTHROTTLED) id=` + storyID + ` account="<b>\"x"`,
		`operator/2 > submit_sm seq=6 source_addr="<b>x" destination_addr=46700000002 short_message="<script>secret" id=` + storyID + ` account="<b>\"x"`,
		`operator/2 < submit_sm_resp seq=6 status=0 message_id="<i>7" id=` + storyID + ` account="<b>\"x"`,
		`operator/2 < deliver_sm seq=7 source_addr=46700000002 short_message="id:<i>7 stat:<b> text:<script>secret"`,
	} {
		fmt.Fprintf(&b, "%s %s\n", at.Add(time.Duration(i)*time.Second).Format("2006-01-02T15:04:05.000000Z"), line)
	}
	if err := os.WriteFile(filepath.Join(dir, "old.log"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A search leads to the story of a message, with its steps and PDUs. Texts are lengths but for those who may operate and ask for them;
// the audit log has each look, and which had texts. Nothing that a peer has written is markup.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base, audit := "http://"+s.Addr(), s.Gateway().Node.Config().Admin.Audit
	for _, scope := range []string{config.LookScope, config.OperateScope} {
		c := visitor(t, base, scope)
		if _, body, _ := ask(t, c, "GET", base+"/ui/messages", nil); !strings.Contains(body, `name="q"`) || strings.Contains(body, "data-stream") {
			t.Error(body)
		}
		for _, q := range []string{"46700000002", "0700000002&account=%3Cb%3E%22x", storyID, "%3Ci%3E7"} {
			code, body, _ := ask(t, c, "GET", base+"/ui/messages?q="+q, nil)
			link := regexp.MustCompile(`href="(/ui/messages/` + storyID + `\?since=[^"]*)"`).FindStringSubmatch(body)
			if code != 200 || link == nil || !strings.Contains(body, "Taken by operator ") || strings.Contains(body, "<b>") || strings.Contains(body, "secret") {
				t.Fatalf("%s: %d %s", q, code, body)
			}
			path := base + html.UnescapeString(link[1])
			code, body, _ = ask(t, c, "GET", path, nil)
			for _, want := range []string{"accepted from &lt;b&gt;&#34;x", "operator did not take it", "allowed message limits exceeded", "taken by operator", "&lt;i&gt;7", "<strong>Taken by operator ", `href="#pdu-3"`, `id="pdu-6"`, "short_message=*14", "[14 characters]"} {
				if !strings.Contains(body, want) {
					t.Errorf("%s: no %s: %s", path, want, body)
				}
			}
			if code != 200 || strings.Contains(body, "secret") || strings.Contains(body, "<b>") || strings.Contains(body, "<i>") || strings.Contains(body, "octets") || strings.Contains(body, "Show texts") != (scope == config.OperateScope) {
				t.Errorf("%s: %d %s", scope, code, body)
			}
			code, body, _ = ask(t, c, "GET", path+"&text=1", nil)
			if scope == config.LookScope && (code != http.StatusForbidden || strings.Contains(body, "secret") || !strings.Contains(body, "that needs scope operate")) ||
				scope == config.OperateScope && (code != 200 || !strings.Contains(body, "<td class=\"text\">&lt;script&gt;secret</td>") || !strings.Contains(body, "<details><summary>octets</summary>000000") || strings.Contains(body, "<script>s")) {
				t.Errorf("%s: %d %s", scope, code, body)
			}
		}
		for path, want := range map[string]int{
			"/ui/messages?q=46700000002&since=yesterday": 400, "/ui/messages?q=46700000002&until=1h": 200, "/ui/messages/00000000000000a2": 404, "/ui/messages/%3Cb%3E": 404,
			"/ui/messages/" + storyID + "?until=1h": 404, "/ui/stream/messages?q=1": 404, "/ui/stream/messages/" + storyID: 404,
		} {
			if code, body, _ := ask(t, c, "GET", base+path, nil); code != want || strings.Contains(body, "<b>") || strings.Contains(body, storyID+"</a>") {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	}
	b, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{`"act":"messages"`: 2 * 6, `"act":"messages/` + storyID + `"`: 2 * 5, `"act":"messages/` + storyID + ` with texts"`: 2 * 4} {
		n := 0
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, what) && (strings.Contains(line, `"result":"ok"`) || strings.Contains(line, `"result":"4`)) {
				n++
			}
		}
		if n != want {
			t.Errorf("%d lines, not %d, with %s:\n%s", n, want, what, b)
		}
	}
	if strings.Contains(string(b), "secret") {
		t.Errorf("a text is in %s", b)
	}
}

// The latest messages are shown without a search, fifty of them, and the link to those before them keeps what was searched for.
func TestMessagePages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	var b strings.Builder
	for i := range 150 {
		at := time.Now().UTC().Add(time.Duration(i-200) * time.Second).Format("2006-01-02T15:04:05.000000Z")
		fmt.Fprintf(&b, "%s clients/1 < submit_sm seq=%d destination_addr=46700000009 account=acme\n%s clients/1 > submit_sm_resp seq=%d status=0 message_id=%016x account=acme\n", at, i, at, i, 0xff0000+i)
	}
	if err := os.WriteFile(filepath.Join(s.Gateway().Node.Config().PDULog.Dir, "many.log"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := visitor(t, base, config.LookScope)
	earlier := regexp.MustCompile(`<a href="([^"]*)" rel="next">`)
	for _, query := range []string{"?q=%2B46700000009&since=2h", "?account=acme"} {
		path := base + "/ui/messages" + query
		for last := 149; last > 0; last -= 50 {
			_, body, _ := ask(t, c, "GET", path, nil)
			if n := strings.Count(body, ">Accepted "); n != 50 || !strings.Contains(body, fmt.Sprintf("%016x", 0xff0000+last)) || strings.Contains(body, fmt.Sprintf("%016x", 0xff0000+last-50)) {
				t.Fatalf("%s: %d rows: %s", path, n, body)
			}
			link := earlier.FindStringSubmatch(body)
			if (link != nil) != (last > 50) {
				t.Fatalf("%s: %v", path, link)
			}
			if link != nil {
				path = base + html.UnescapeString(link[1])
			}
		}
	}
}
