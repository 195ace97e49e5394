package web

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/config"
)

// A filling is the form of a page, as a browser fills it.
type filling struct {
	t      *testing.T
	c      *http.Client
	page   string
	text   string // of the page
	values url.Values
}

var (
	formTag   = regexp.MustCompile(`(?s)<form method="post" class="entry[^"]*"[^>]*>(.*?)</form>`)
	inputTag  = regexp.MustCompile(`<input [^>]*>`)
	selectTag = regexp.MustCompile(`(?s)<select name="([^"]*)"[^>]*>(.*?)</select>`)
	optionTag = regexp.MustCompile(`<option(?: value="([^"]*)")?( selected)?>([^<]*)</option>`)
	attribute = regexp.MustCompile(`(name|value|type)="([^"]*)"`)
)

// fill reads the form of a page.
func fill(t *testing.T, c *http.Client, page string) *filling {
	t.Helper()
	code, text, _ := ask(t, c, "GET", page, nil)
	if code != http.StatusOK {
		t.Fatalf("%s: %d", page, code)
	}
	f := &filling{t: t, c: c, page: page}
	f.read(text)
	return f
}

func (f *filling) read(text string) {
	f.t.Helper()
	f.text, f.values = html.UnescapeString(text), url.Values{}
	m := formTag.FindStringSubmatch(text)
	if m == nil {
		return
	}
	for _, input := range inputTag.FindAllString(m[1], -1) {
		a := map[string]string{}
		for _, one := range attribute.FindAllStringSubmatch(input, -1) {
			a[one[1]] = html.UnescapeString(one[2])
		}
		if a["type"] != "checkbox" || strings.Contains(input, " checked") {
			f.values.Add(a["name"], a["value"])
		}
	}
	for _, s := range selectTag.FindAllStringSubmatch(m[1], -1) {
		options := optionTag.FindAllStringSubmatch(s[2], -1)
		picked := options[0]
		for _, o := range options {
			if o[2] != "" {
				picked = o
			}
		}
		value := picked[1]
		if !strings.Contains(picked[0], "value=") {
			value = picked[3]
		}
		f.values.Add(s[1], html.UnescapeString(value))
	}
}

// set sets values, each as name and value.
func (f *filling) set(pairs ...string) *filling {
	for i := 0; i < len(pairs); i += 2 {
		f.values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// send sends the form with a button pressed, and wants words on the page that is the answer, or to which it leads.
func (f *filling) send(button string, words ...string) *filling {
	f.t.Helper()
	sent := url.Values{button: {"1"}}
	for name, values := range f.values {
		sent[name] = values
	}
	code, text, h := ask(f.t, f.c, "POST", f.page, sent)
	if code == http.StatusSeeOther {
		base, _ := url.Parse(f.page)
		to, err := base.Parse(h.Get("Location"))
		if err != nil {
			f.t.Fatal(err)
		}
		f.page = to.String()
		code, text, _ = ask(f.t, f.c, "GET", f.page, nil)
	}
	if code != http.StatusOK {
		f.t.Fatalf("%s: %d %s", f.page, code, text)
	}
	f.read(text)
	for _, word := range words {
		if !strings.Contains(f.text, word) {
			f.t.Errorf("%s of %s: the page lacks %q:\n%.2500s", button, f.page, word, f.text[strings.Index(f.text, "<main"):])
		}
	}
	return f
}

// A customer is made by the form, with a preview; what the form does not know is kept; errors are at their fields; a form that is
// sent twice has its effect once; the second of two people is informed, and overwrites nothing; a new one may be like another.
func TestCustomer(t *testing.T) {
	t.Parallel()
	g, base, dir, _ := startOffice(t)
	c := visitor(t, base, config.AdministerScope)
	file := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, "accounts", name+".yaml"))
		return string(b)
	}
	made := fill(t, c, base+"/ui/new/customer").set("name", "acme", "o.password", "hush-hush", "o.rate", "many")
	made.send("compare", "Nothing has changed: see the fields below", `<strong class="bad" role="alert">must be a whole number`)
	made.set("o.rate", "50", "o.prices", "standard", "o.balance.mode", "postpaid").send("compare", `<strong class="bad" role="alert">must be given with mode: postpaid`)
	made.set("o.balance.limit", "99.50", "o.balance.low", "5", "o.users.name", "ann", "o.users.password", "her-own-1").send("compare", "accounts[acme]: absent -> added")
	if file("acme") != "" {
		t.Error("a preview makes the account")
	}
	unseen := *made.set("o.rate", "60")
	unseen.send("put", "This would change", "accounts[acme]: absent -> added")
	if file("acme") != "" {
		t.Error("what nobody has seen is in force")
	}
	again := unseen
	unseen.send("put", "In force, as change 1")
	again.page = base + "/ui/new/customer"
	again.send("put", "has these options already: nothing has changed")
	text := file("acme")
	for _, want := range []string{"rate: 60", `prices: "standard"`, `"limit":"99.50"`, `"mode":"postpaid"`, `"name":"ann"`, "$argon2id$"} {
		if !strings.Contains(text, want) {
			t.Errorf("the file lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "hush-hush") || strings.Contains(text, "her-own-1") || strings.Contains(unseen.text, "$argon2id$v") {
		t.Errorf("secrets are shown: %s", text)
	}
	fill(t, c, base+"/ui/new/customer").set("name", "acme", "o.password", "other").send("compare", "there is one of this name")
	fill(t, c, base+"/ui/new/customer").set("name", "fixed", "o.password", "other").send("compare", "defines it, so it is changed there")
	fill(t, c, base+"/ui/new/customer").set("name", "a b", "o.password", "other").send("compare", "a name has letters")

	// what the form does not know, by hand
	if err := os.WriteFile(filepath.Join(dir, "accounts", "acme.yaml"), []byte(text+"max_parts: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := base + "/ui/managed/accounts.acme"
	ann, bob := fill(t, c, page), fill(t, c, page)
	ann.set("o.rate", "70").send("compare", "accounts[acme].rate: 60 -> 70").send("put", "In force, as change 2")
	if now := file("acme"); !strings.Contains(now, "max_parts: 3") || !strings.Contains(now, "rate: 70") || strings.Count(now, "$argon2id$") != 2 {
		t.Errorf("not kept: %s", now)
	}
	twice := *bob.set("o.balance.low", "7")
	bob.send("compare", "was changed meanwhile by user administer", "Short messages a second: 60 -> 70", "Nothing of this form is in force")
	bob.send("compare", "accounts[acme].balance.low: \"5\" -> \"7\"").send("put", "In force, as change 3")
	if now := file("acme"); !strings.Contains(now, "rate: 70") || !strings.Contains(now, `"low":"7"`) {
		t.Errorf("overwritten: %s", now)
	}
	twice.send("put", "has these options already")
	fill(t, c, page).set("o.rate", "80", "try.days", "yesterday").send("compare", "<b>acme", "{Day:yesterday")

	fill(t, c, page).set("o.prices", "").send("compare", "prices goes: its messages cost nothing", "balance.mode: postpaid -> none")
	like := fill(t, c, base+"/ui/new/customer?like=acme").set("name", "shop", "o.password", "its-own-1")
	like.send("compare", "accounts[shop]: absent -> added").send("put", "In force, as change 4")
	if now := file("shop"); !strings.Contains(now, "max_parts: 3") || !strings.Contains(now, `"low":"7"`) || strings.Contains(now, "ann") || strings.Count(now, "$argon2id$") != 1 {
		t.Errorf("not like the other: %s", now)
	}
	if _, text, _ := ask(t, c, "GET", base+"/ui/accounts?sort=balance", nil); !strings.Contains(text, `aria-label="Edit acme"`) || strings.Contains(text, `aria-label="Edit fixed"`) ||
		!strings.Contains(text, "0.00 EUR") || !strings.Contains(text, `data-v="low balance"`) {
		t.Error(text)
	}
	// a balance belongs to the name
	g.Node.Origins.TallyOf("shop").Credit.Pay(12_500_000)
	shop := base + "/ui/managed/accounts.shop"
	if code, text, _ := ask(t, c, "POST", shop, url.Values{"do": {"remove"}, "tag": {fill(t, c, shop).values.Get("tag")}}); code != http.StatusSeeOther {
		t.Fatal(code, text)
	}
	fill(t, c, base+"/ui/new/customer").set("name", "shop", "o.password", "its-own-1").send("compare", "left a balance of 12.50")
	look := visitor(t, base, config.LookScope)
	for _, path := range []string{"/ui/new/customer", "/ui/managed/accounts.acme"} {
		if _, text, _ := ask(t, look, "GET", base+path, nil); strings.Contains(text, "o.rate") {
			t.Errorf("%s: who may look sees the form", path)
		}
		if code, _, _ := ask(t, look, "POST", base+path, url.Values{"do": {"form"}, "account": {"x"}}); code != http.StatusForbidden {
			t.Errorf("%s: %d", path, code)
		}
	}
	if _, text, _ := ask(t, look, "GET", base+"/ui/accounts", nil); strings.Contains(text, "New customer") {
		t.Error("who may look may make customers")
	}
}
