package web

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

// inColors shows pages in the colors that somebody prefers: light or dark.
func inColors(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// In a real browser somebody logs in, sees each page, holds a connector, sees that in another page's stream, and
// releases it. Nothing of that is refused by the policy of the pages or fails in a script, and each control has a name.
func TestBrowser(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	base, g := start(t)
	run := b.Do
	run(chromedp.Navigate(base + "/ui/connectors"))
	b.LogIn(config.AdministerScope, password)
	run(chromedp.WaitVisible(`//h1[text()="Connectors"]`))
	for _, p := range new(site).pages() {
		path, heading := pathOf(&p)
		run(chromedp.Navigate(base+path), chromedp.WaitVisible(`//h1[text()='`+heading+`']`))
		if wrong := b.Nameless(); len(wrong) > 0 {
			t.Errorf("%s: controls without a name: %q", path, wrong)
		}
		for _, scheme := range []string{"light", "dark"} {
			run(inColors(scheme))
			if pale := b.Pale(); len(pale) > 0 {
				t.Errorf("%s: texts that are hard to read in %s colors: %q", path, scheme, pale)
			}
		}
	}
	run(chromedp.Navigate(base+"/ui/connectors"), chrome.Click(`button[aria-label="Hold operator"]`), chromedp.WaitVisible(`button[aria-label="Release operator"]`))
	if g.Table.Connector("operator").Hold() == nil {
		t.Error("the connector is not held")
	}
	run(chromedp.Navigate(base+"/ui/"), chromedp.WaitVisible(`[data-k="s.operator"][data-v=held]`))
	g.Table.Connector("operator").SetHold(nil)
	run(chromedp.WaitNotPresent(`[data-k="s.operator"][data-v=held]`)) // without another request for the page
	run(chromedp.Navigate(base+"/ui/connectors"), chrome.Click(`//a[text()="operator"]`), chromedp.WaitVisible(`//h1[text()="Connector operator"]`),
		chrome.Click(`button[aria-label="Hold operator"]`), chromedp.WaitVisible(`button[aria-label="Release operator"]`),
		chromedp.WaitVisible(`//h1[text()="Connector operator"]`), chrome.Click(`button[aria-label="Release operator"]`), chromedp.WaitVisible(`button[aria-label="Hold operator"]`))
	run(chromedp.Navigate(base+"/ui/messages"), chromedp.SendKeys(`input[name=q]`, "46700000002"), chromedp.Submit(`input[name=q]`),
		chromedp.WaitVisible(`//a[text()="`+storyID+`"]`), chrome.Click(`//a[text()="`+storyID+`"]`), chromedp.WaitVisible(`//h1[text()="Message `+storyID+`"]`),
		chromedp.WaitVisible(`//th[text()="operator did not take it"]`), chromedp.WaitVisible(`//td[text()="[14 characters]"]`),
		chrome.Click(`//a[text()="Show texts"]`), chromedp.WaitVisible(`//td[text()="<script>secret"]`),
		chrome.Click(`//tr[@id="pdu-0"]//summary`), chromedp.WaitVisible(`//tr[@id="pdu-0"]//details[@open]`))
	logLines(t, g, hostilePDU)
	row := func(text string) chromedp.Action {
		return chromedp.WaitVisible(`//tbody[@id="log"]//td[contains(text(), "` + text + `")]`)
	}
	run(chromedp.Navigate(base+"/ui/pdulog?connector=clients"), row("short_message=*14"))
	logLines(t, g, `enquire_link seq=1000`)
	run(row("seq=1000"), chrome.Click(`#pause`), chromedp.WaitVisible(`//button[text()="Resume"]`))
	logLines(t, g, `enquire_link seq=1001`)
	run(chrome.Click(`#pause`), row("seq=1001"), chrome.Click(`input[name=texts]`), chrome.Click(`//button[text()="Show"]`), row("<script>secret"))
	run(chromedp.Navigate(base+"/ui/routing"), chromedp.SendKeys(`input[name=to]`, "46700"), chrome.Click(`//button[text()="Explain"]`), chromedp.WaitVisible(`//pre[contains(text(), "<b>{Account")]`),
		chromedp.Navigate(base+"/ui/configuration"), chrome.Click(`//a[text()="Compare the file with the configuration in force"]`), chromedp.WaitVisible(`//pre[contains(text(), "window: 10")]`), chrome.Click(`//button[text()="Reload the configuration"]`), chromedp.WaitVisible(`//p[@class="notice"][contains(text(), "nothing <i>new")]`))
	run(chromedp.Navigate(base+"/ui/try"), chromedp.SendKeys(`input[name=to]`, "46700"), chromedp.SendKeys(`textarea`, "hush"), chrome.Click(`button[name=explain]`),
		chromedp.WaitVisible(`//pre[contains(text(), "Text:hush")]`), chrome.Click(`button[name=send]`), chromedp.WaitVisible(`//a[contains(text(), "Status of message")]`))
	run(chromedp.Navigate(base+"/ui/connectors"), chromedp.WaitVisible(`button[aria-label="Hold operator"]`),
		chromedp.Submit(`.who button`), chromedp.WaitVisible(`input[name=password]`))
	b.Silent()
}

// No page has what shuts people with disabilities out, by axe-core.
func TestAxe(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	axe := chrome.NewAxe(t)
	b := chrome.Start(t)
	base, _ := start(t)
	b.Do(chromedp.Navigate(base+"/ui/login"), chromedp.WaitVisible(`input[name=password]`))
	if wrong := axe.Violations(b); len(wrong) > 0 {
		t.Errorf("the login: %q", wrong)
	}
	b.LogIn(config.AdministerScope, password)
	for _, p := range new(site).pages() {
		path, heading := pathOf(&p)
		b.Do(chromedp.Navigate(base+path), chromedp.WaitVisible(`//h1[text()='`+heading+`']`))
		if wrong := axe.Violations(b); len(wrong) > 0 {
			t.Errorf("%s: %q", path, wrong)
		}
	}
}
