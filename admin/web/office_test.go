package web

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

var pictures = flag.String("pictures", "", "directory into which TestOffice writes pictures of the pages")

// lookAt checks the page that is open: its controls have names, it fits on a telephone, and its texts can be read in both themes. With
// -pictures it makes pictures.
func lookAt(t *testing.T, b *chrome.Browser, name string) {
	t.Helper()
	run := b.Do
	if wrong := b.Nameless(); len(wrong) > 0 {
		t.Errorf("%s: controls without a name: %q", name, wrong)
	}
	for _, width := range []int64{390, 1280} {
		var beyond bool
		run(chromedp.EmulateViewport(width, 900), chromedp.Poll(fmt.Sprintf(`innerWidth === %d`, width), nil), // the page may still have the width before
			chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &beyond))
		if beyond {
			t.Errorf("%s: wider than %d px", name, width)
		}
		for _, scheme := range []string{"light", "dark"} {
			run(inColors(scheme))
			if pale := b.Pale(); len(pale) > 0 {
				t.Errorf("%s: texts that are hard to read in %s colors: %q", name, scheme, pale)
			}
			if *pictures != "" {
				var png []byte
				run(chromedp.FullScreenshot(&png, 100))
				path := filepath.Join(*pictures, name+"-"+scheme+map[int64]string{390: "-390", 1280: ""}[width]+".png")
				if err := os.WriteFile(path, png, 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A reseller's morning in a real browser, without JSON: a sheet of prices is uploaded and put in force, a
// customer is made with fields that are shown when they count, edited, and copied; a second person who edits the same is informed.
func TestOffice(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	base, dir, _ := startManaged(t)
	run := b.Do
	file := filepath.Join(t.TempDir(), "north.csv")
	const rows = "MCC;MNC;Country;Network;Price EUR;Valid from\n240;01;Sweden;Telia;0,0450;\n240;02;Sweden;Tre;0,05;01.01.2026\n262;;Germany;;0,07;\n*;;;;0,09;\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	picture := func(name string) {
		t.Helper()
		lookAt(t, b, name)
	}
	has := func(text string) chromedp.Action {
		return chromedp.WaitVisible(`//*[contains(text(), "` + text + `")]`)
	}
	set := func(name, value string) chromedp.Action {
		return chromedp.SetValue(`[name="`+name+`"]`, value)
	}
	shown := func(name string, want bool) {
		t.Helper()
		var is bool
		run(chromedp.Evaluate(`document.querySelector('[name="`+name+`"]').checkVisibility()`, &is))
		if is != want {
			t.Errorf("%s is shown: %t", name, is)
		}
	}
	run(chromedp.Navigate(base + "/ui/managed"))
	b.LogIn(config.AdministerScope, password)
	run(chromedp.Navigate(base+"/ui/managed"), set("kind", "prices"), chromedp.SendKeys(`input[name=name]`, "north"), chromedp.Submit(`input[name=name]`),
		chromedp.WaitVisible(`input[type=file]`), chromedp.SetUploadFiles(`input[type=file]`, []string{file}), chrome.Click(`//button[text()="Read the sheet"]`),
		has("4 new, 0 gone"), has("is not in force yet"))
	picture("sheet")
	run(chrome.Click(`//button[text()="Put these prices in force"]`), has("In force, as change 2"))

	run(chromedp.Navigate(base+"/ui/accounts"), chrome.Click(`//a[text()="New customer"]`), chromedp.WaitVisible(`//h1[text()="New customer"]`))
	shown("o.balance.mode", false)
	shown("o.webhook_key", false)
	run(set("o.prices", "north"))
	shown("o.balance.mode", true)
	shown("o.balance.limit", false)
	run(set("o.balance.mode", "postpaid"), chromedp.SendKeys(`[name="o.webhook"]`, "https://shop.example.net/sms"))
	shown("o.balance.limit", true)
	shown("o.webhook_key", true)
	run(chromedp.SendKeys(`[name=name]`, "acme"), chromedp.SendKeys(`[name="o.password"]`, "s3cret-of-acme"), chromedp.SendKeys(`[name="o.rate"]`, "50"),
		chrome.Click(`//button[text()="Show what changes"]`), has("must be given with mode: postpaid"))
	picture("customer-wrong")
	run(chromedp.SendKeys(`[name="o.balance.limit"]`, "100"), chrome.Click(`//button[text()="Show what changes"]`), has("accounts[acme]: absent -> added"))
	picture("customer-preview")
	run(chrome.Click(`//button[text()="Put in force"]`), has("In force, as change 3"), chromedp.WaitVisible(`//h1[text()="Managed accounts.acme"]`))
	picture("customer")

	// somebody else changes the rate, while the form is open
	path := filepath.Join(dir, "accounts", "acme.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := visitor(t, base, config.AdministerScope)
	fill(t, other, base+"/ui/managed/accounts.acme").set("o.rate", "60").send("compare").send("put", "In force, as change 4")
	run(chromedp.SetValue(`[name="o.balance.limit"]`, "200"), chrome.Click(`//button[text()="Show what changes"]`), has("was changed meanwhile by user administer"))
	picture("customer-conflict")
	run(chrome.Click(`//button[text()="Show what changes"]`), chromedp.WaitVisible(`//button[text()="Put in force"]`), chrome.Click(`//button[text()="Put in force"]`), has("In force, as change 5"))
	if now, err := os.ReadFile(path); err != nil || len(now) != len(text) || string(now) == string(text) {
		t.Errorf("%v %s", err, now)
	}
	run(chromedp.Navigate(base+"/ui/accounts?sort=balance"), chromedp.WaitVisible(`a[aria-label="Edit acme"]`), has("0.00 EUR"))
	picture("accounts")
	run(chrome.Click(`a[aria-label="New customer like acme"]`), chromedp.WaitVisible(`//h1[text()="New customer"]`))
	shown("o.balance.limit", true)

	run(chromedp.Navigate(base+"/ui/routing"), chrome.Click(`//a[text()="New route"]`), chromedp.WaitVisible(`//h1[text()="New route"]`))
	shown("o.least_delivered", false)
	run(set("o.policy", "cost"))
	shown("o.least_delivered", true)
	run(set("o.policy", ""), chromedp.SendKeys(`[name=name]`, "sweden"), chromedp.SendKeys(`[name="o.destination"]`, "46"), chromedp.SendKeys(`[name="o.to.account"]`, "fixed"),
		chromedp.SendKeys(`[name="try.to"]`, "+46701740605"), chrome.Click(`//button[text()="Show what changes"]`), has("routes[sweden]: absent"), has("2 routes, "))
	picture("route-preview")
	run(chrome.Click(`//button[text()="Put in force"]`), has("In force, as change 6"), chromedp.Navigate(base+"/ui/new/route?like=sweden"),
		chromedp.SendKeys(`[name=name]`, "after"), set("o.destination", "47"), chrome.Click(`//button[text()="Show what changes"]`), has("routes[after]: absent"),
		chrome.Click(`//button[text()="Put in force"]`), has("In force, as change 7"), chromedp.Navigate(base+"/ui/routing"))
	run(chrome.Click(`button[aria-label="Move route sweden up"]`), has("In force, as change 9"), chromedp.WaitVisible(`button[aria-label="Move route sweden down"]`))
	picture("routing")
	b.Silent()
}
