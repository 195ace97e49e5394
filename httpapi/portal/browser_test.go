package portal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// secondFactor sets the second factor of the user up in a browser, logs out, and logs in with a code.
func (r *rig) secondFactor(b *chrome.Browser) {
	var secret string
	b.Do(chromedp.Navigate(r.base+factorPath), chromedp.WaitVisible(`svg.qr path`), chromedp.Text(`main code`, &secret))
	b.Do(chromedp.SendKeys(`input[name=code]`, r.next(secret)), chromedp.SendKeys(`input[name=current]`, password), chrome.Click(`//button[text()="Switch it on"]`),
		chromedp.WaitVisible(`//li/code`), chromedp.Submit(`.who button`), chromedp.WaitVisible(`input[name=password]`), chromedp.SendKeys(`input[name=account]`, "acme"))
	b.LogIn(config.ManageScope, password)
	b.Do(chromedp.SendKeys(`input[name=code]`, r.next(secret)), chrome.Click(`//button[text()="Log in"]`), chromedp.WaitVisible(`//h1[text()="Overview"]`),
		chromedp.Submit(`.who button`), chromedp.WaitVisible(`input[name=password]`))
}

// mailing sends a text to the recipients of a file, by pages that load themselves again.
func (r *rig) mailing(b *chrome.Browser) {
	file := filepath.Join(r.t.TempDir(), "recipients.csv")
	if err := os.WriteFile(file, []byte("to,name\n+46700000001,Ann\n+46700000002,Bob\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	b.Do(chromedp.Navigate(r.base+mailingPath), chromedp.SendKeys(`input[name=from]`, "Shop"), chromedp.SetUploadFiles(`input[type=file]`, []string{file}), chromedp.SendKeys(`textarea`, "Hello {name}"), chrome.Click(`button.main`),
		chromedp.WaitVisible(`//td[text()="Hello Bob"]`), chrome.Click(`//button[text()="Send to 2 recipients"]`), chromedp.WaitVisible(`//dd[text()="ended"]`))
	r.SMSC.Accept("m1")
	r.SMSC.Accept("m2")
}

// In a real browser a user logs in, sees each page, sends a message, sees what its receipt says, makes a key, with which a program
// sends, revokes it, sends a mailing, and logs in with a second factor. Nothing of that is refused by the policy of the pages or fails in a script, each control has a name, and
// each text can be read.
func TestBrowser(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	run := b.Do
	run(chromedp.Navigate(r.base+root), chromedp.WaitVisible(`//h1[text()="Log in"]`), chromedp.SendKeys(`input[name=account]`, "acme"))
	b.LogIn(config.ManageScope, password)
	for _, p := range pages() {
		if strings.Contains(p.Name, "{") {
			continue
		}
		run(chromedp.Navigate(r.base+Base+p.Name), chromedp.WaitVisible(`//h1[text()="`+p.Title+`"]`))
		if wrong := b.Nameless(); len(wrong) > 0 {
			t.Errorf("%s: controls without a name: %q", p.Title, wrong)
		}
		for _, scheme := range []string{"light", "dark"} {
			run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			if pale := b.Pale(); len(pale) > 0 {
				t.Errorf("%s: texts that are hard to read in %s colors: %q", p.Title, scheme, pale)
			}
		}
	}
	var id string
	run(chromedp.Navigate(r.base+Base+"send"), chromedp.SendKeys(`input[name=from]`, "Shop"), chromedp.SendKeys(`input[name=to]`, "+46700000001"), chromedp.SendKeys(`textarea`, "hello"),
		chrome.Click(`button[name=preview]`), chromedp.WaitVisible(`//p[contains(text(), "Not sent yet. 1 short message")]`),
		chrome.Click(`button.main`), chromedp.WaitVisible(`//p[text()="The message was accepted."]`), chromedp.Text(`//dt[text()="Id"]/following-sibling::dd`, &id))
	r.SMSC.Accept("s1")
	r.Settled()
	r.SMSC.Receipt("s1", sms.StateDelivered)
	run(chromedp.Navigate(r.base+Base+"messages"), chrome.Click(`//a[text()="`+id+`"]`), chromedp.WaitVisible(`//td[text()="delivered"]`))
	var key string
	run(chromedp.Navigate(r.base+Base+"keys"), chromedp.SendKeys(`input[name=name]`, "till"), chrome.Click(`//button[text()="Make a key"]`), chromedp.Text(`code`, &key))
	r.by("Bearer "+key, "POST /v1/messages", `{"from":"1234","to":"+46700000001","text":"a"}`).Want(202)
	run(chrome.Click(`button[aria-label="Revoke key till"]`), chromedp.WaitVisible(`//p[text()="Key till is revoked."]`))
	r.by("Bearer "+key, "GET /v1/account", "").Want(401)
	r.mailing(b)
	r.secondFactor(b)
	b.Silent()
}

// No page has what shuts people with disabilities out, by axe-core: before the login, and after it.
func TestAxe(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	axe := chrome.NewAxe(t)
	b := chrome.Start(t)
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	look := func(path, heading string) {
		t.Helper()
		b.Do(chromedp.Navigate(r.base+Base+path), chromedp.WaitVisible(`//h1[text()="`+heading+`"]`))
		if wrong := axe.Violations(b); len(wrong) > 0 {
			t.Errorf("%s: %q", path, wrong)
		}
	}
	look("login", "Log in")
	b.Do(chromedp.SendKeys(`input[name=account]`, "acme"))
	b.LogIn(config.ManageScope, password)
	for _, p := range pages() {
		if p.InMenu() {
			look(p.Name, p.Title)
		}
	}
	look("nothing", "Not Found")
}
