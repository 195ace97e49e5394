package web

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

// Somebody who may operate looks up a number, adds it with a reason, and removes it; the history names the user and the message of a
// mobile. Those who may only look see the same without forms. What cannot be read is said.
func TestRegisterPage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	operator, looker := visitor(t, base, config.OperateScope), visitor(t, base, config.LookScope)
	shows := func(c *http.Client, path string, code int, has ...string) string {
		t.Helper()
		got, body, _ := ask(t, c, "GET", base+path, nil)
		for _, text := range has {
			if got != code || !strings.Contains(body, text) {
				t.Errorf("%s: %d, no %q in %s", path, got, text, body)
			}
		}
		return body
	}
	act := func(c *http.Client, act string, code int, reason string) {
		t.Helper()
		form := url.Values{"list": {"optouts"}, "number": {"+46731234567"}, "reason": {reason}, "back": {"/ui/lists/optouts?number=%2B46731234567"}}
		if got, body, _ := ask(t, c, "POST", base+"/ui/act/lists/"+act, form); got != code {
			t.Errorf("%s: %d %s", act, got, body)
		}
	}
	const path, one = "/ui/lists/optouts", "/ui/lists/optouts?number=%2B46731234567"
	shows(looker, "/ui/lists", 200, `href="/ui/lists/optouts"`, `data-k="e.optouts">2<`, `data-k="a.optouts">2<`)
	shows(looker, path, 200, `<a href="/ui/messages/`+storyID+`?since=2026-11-30T09:04:04Z">`, "user &lt;b&gt;", "&lt;script&gt;", `<a href="?number=46701740605">`, "Entries in the file: 2. Numbers beside it: 2 on the list, 0 not on it.", "/admin/v1/lists/optouts/export")
	shows(looker, path+"?number=46709", 200, "It is on the list, by its file.", "never changed beside the file")
	shows(looker, path+"?number=46899", 200, "It is on the list, by a prefix of its file.")
	shows(looker, path+"?number=46701740605", 200, "It is on the list, by a change.", "2026-11-30 09:14:03", "<td>removed</td><td>page</td>")
	shows(looker, path+"?number=4670174o605", 422, "a letter among the digits", "Latest changes")
	shows(looker, path+"?number="+strings.Repeat("1", 5000), 422, "longer than 20 characters")
	shows(looker, "/ui/lists/none", 404, "the configuration has no list of this name")
	if body := shows(looker, one, 200, "It is not on the list."); strings.Contains(body, "/ui/act/lists/") {
		t.Errorf("a form for those who may only look: %s", body)
	}
	act(looker, "add", 403, "x")
	shows(operator, one, 200, `action="/ui/act/lists/add"`, `aria-label="Add &#43;46731234567 to optouts"`)
	act(operator, "add", 303, `"quoted" <b> letter`)
	shows(operator, one, 200, "The number is on the list now.", "It is on the list, by a change.", `action="/ui/act/lists/remove"`, "<td>added</td><td>page</td><td>user operate</td>", "&#34;quoted&#34; &lt;b&gt; letter")
	act(operator, "add", 303, "")
	shows(operator, one, 200, "The number was on the list before.")
	act(operator, "remove", 303, "back again")
	shows(operator, one, 200, "The number is not on the list any more.", "not on the list: a change has removed it", "back again")
	act(operator, "remove", 303, "a\nb")
	shows(operator, one, 200, "a reason is one line")
	shows(looker, "/admin/v1/lists/optouts/export", 200, "number,on,", "46701740605,yes,2026-11-30T09:14:04Z,stop,operator,"+storyID)
	audit, err := os.ReadFile(s.Gateway().Node.Config().Admin.Audit)
	if text := string(audit); err != nil || strings.Contains(text, "46731234567") || !strings.Contains(text, `"act":"lists/optouts/number"`) || !strings.Contains(text, "back again") {
		t.Errorf("%s, %v", text, err)
	}
}

// In a real browser a number is looked up, added and removed by the keyboard, on a page that fits on a telephone.
func TestRegisterInBrowser(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	base, _ := start(t)
	run := b.Do
	run(chromedp.Navigate(base + "/ui/lists"))
	b.LogIn(config.OperateScope, password)
	run(chromedp.WaitVisible(`//h1[text()="Lists"]`))
	lookAt(t, b, "lists")
	run(chrome.Click(`//a[text()="optouts"]`), chromedp.WaitVisible(`//h1[text()="List optouts"]`))
	lookAt(t, b, "lists-name")
	run(chromedp.SendKeys(`input[name=number]`, "+46731234567\r"), chromedp.WaitVisible(`//h2[text()="+46731234567"]`))
	run(chromedp.SendKeys(`input[name=reason]`, "asked by letter\r"), chromedp.WaitVisible(`//td[text()="asked by letter"]`), chromedp.WaitVisible(`//button[text()="Remove"]`))
	lookAt(t, b, "lists-number")
	run(chromedp.SendKeys(`input[name=reason]`, "back again\r"), chromedp.WaitVisible(`//td[text()="back again"]`), chromedp.WaitVisible(`//button[text()="Add"]`))
	b.Silent()
}
