package portal

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"pmg/config"
	"pmg/internal/testkit/chrome"
	"pmg/internal/testkit/testutil"
)

// speaks returns a person whose browser asks for a language.
func (b *person) speaks(page, header string) reply {
	b.t.Helper()
	return b.get(page, "Accept-Language", header)
}

// between are the texts of elements and of attributes that people read.
var between = regexp.MustCompile(`(?:<(?:th|dt|h1|h2|label|button|p|caption|option|a|title)(?: [^>]*)?>|aria-label="|placeholder="|data-confirm=")([^<>"]*)`)

// english are words that no page in another language has. Names, states of the protocol and values of options are not among them.
var english = regexp.MustCompile(`\b(the|The|of|and|your|Your|Show|Search|Send|Log|time|number|from|to|by|sent|accepted|with|Change|Set|Not|not|is|are|Password|Users|Keys|Balance|Overview|Again|Account|None|message|messages|Messages)\b`)

// Each page is in the language that the browser asks for, without English that stayed behind.
func TestPagesInLanguages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prices := filepath.Join(dir, "prices")
	if err := os.WriteFile(prices, []byte("for,price\n24001,0.045\n*,0.09\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, accounts(", prices: mine, inbox: 720h, webhook: \"http://127.0.0.1:1/\", show_network: true, templates: [{name: a, text: b}]"),
		"brand: {name: Example}", "", "prices: [{name: mine, currency: EUR, file: "+prices+"}]", "events: {dir: "+t.TempDir()+"}", "stats: {dir: "+t.TempDir()+"}")
	b := r.user("shop", config.ManageScope)
	titles := map[string][]string{
		"de": {"Übersicht", "Nachrichten", "Posteingang", "Senden", "Massenversand", "Vorlagen", "Opt-outs", "Statistik", "Guthaben", "Preise", "Webhooks", "Schlüssel", "Benutzer", "Passwort", "Zweiter Faktor"},
		"es": {"Resumen", "Mensajes", "Bandeja de entrada", "Enviar", "Envío masivo", "Plantillas", "Bajas", "Estadísticas", "Saldo", "Precios", "Webhooks", "Claves", "Usuarios", "Contraseña", "Segundo factor"},
	}
	for tag, names := range titles {
		for _, p := range pages() {
			if !p.InMenu() {
				continue
			}
			name := names[0]
			names = names[1:]
			w := b.speaks(p.Name, tag)
			if w.code != 200 || !strings.Contains(w.body, `<html lang="`+tag+`">`) || !strings.Contains(w.body, "<h1>"+name+"</h1>") || !strings.Contains(w.body, "<title>"+name+" – Example") {
				t.Errorf("%s of %s: %d, without %s: %s", p.Name, tag, w.code, name, w.body)
			}
			for _, m := range between.FindAllStringSubmatch(w.body, -1) {
				if left := english.FindString(strings.Replace(m[1], ": to", "", 1)); left != "" { // to is the name of a column, too
					t.Errorf("%s of %s: %q in %q", p.Name, tag, left, m[1])
				}
			}
		}
	}
	if w := b.get(""); !strings.Contains(w.body, `<html lang="en">`) {
		t.Error(w.body)
	}
	for page, text := range map[string]string{"nothing": "Diese Seite gibt es nicht.", "messages/0": "Nicht gefunden"} {
		if w := b.speaks(page, "de"); w.code != 404 || !strings.Contains(w.body, text) || !strings.Contains(w.body, "<h1>Nicht gefunden</h1>") {
			t.Errorf("%s: %+v", page, w)
		}
	}
	if w := b.do("POST", "send", map[string][]string{"from": {"Shop"}, "to": {"+46701740605"}, "text": {"a"}, "preview": {"1"}}, "Accept-Language", "de"); !strings.Contains(w.body, "Noch nicht gesendet. 1 SMS (") {
		t.Error(w.body)
	}
	if w := b.do("POST", "keys", map[string][]string{"name": {"-"}}, "Accept-Language", "es"); w.code == 422 && !strings.Contains(w.body, "El nombre debe constar de letras") {
		t.Error(w.body)
	}
	w := b.speaks("messages", "de")
	if !strings.Contains(w.body, `<option value="delivered">zugestellt</option>`) {
		t.Error(w.body)
	}
}

// A choice of a language stays with the browser, also before a login and after it, and leads back to the page. What is none of the
// languages is not kept.
func TestChosenLanguage(t *testing.T) {
	t.Parallel()
	r := newRig(t, strings.Replace(accounts(""), "{system_id: rival,", "{system_id: rival, language: es,", 1), "", "")
	b := r.stranger("127.0.0.1")
	form := map[string][]string{"language": {"de"}}
	w := b.do("POST", "language", form, "Referer", r.base+Base+"login?next=%2Fportal%2Fkeys")
	cookie := w.header.Get("Set-Cookie")
	if w.code != 303 || w.header.Get("Location") != Base+"login?next=%2Fportal%2Fkeys" || !strings.HasPrefix(cookie, "pmg-portal-language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict") {
		t.Errorf("%+v", w)
	}
	if w := b.speaks("login", "es"); !strings.Contains(w.body, `<html lang="de">`) || !strings.Contains(w.body, "<button>Anmelden</button>") || !strings.Contains(w.body, `<option value="de" lang="de" selected>Deutsch</option>`) {
		t.Error(w.body)
	}
	if w := b.post("login", "account", "shop", "name", "look", "password", "wrong"); !strings.Contains(w.body, "Konto, Name oder Passwort ist falsch") {
		t.Error(w.body)
	}
	for referer, want := range map[string]string{"": Base, "https://evil.example/portal/../": Base + "../", "https://evil.example/x": Base, "%zz": Base, "javascript:alert(1)": Base, r.base + "//evil.example": Base} {
		if w := b.do("POST", "language", form, "Referer", referer); w.header.Get("Location") != want {
			t.Errorf("%q: %+v", referer, w)
		}
	}
	for _, tag := range []string{"fr", "", "DE", "de\r\nSet-Cookie: a=b", strings.Repeat("x", 5000)} {
		if w := b.do("POST", "language", map[string][]string{"language": {tag}}); w.code != 400 || w.header.Get("Set-Cookie") != "" {
			t.Errorf("%.20q: %+v", tag, w)
		}
	}
	if w := b.do("POST", "language", form, "Sec-Fetch-Site", "cross-site"); w.code != 403 || w.header.Get("Set-Cookie") != "" {
		t.Errorf("%+v", w)
	}
	if w := b.do("POST", "language", form, "X-Forwarded-Proto", "https"); !strings.HasPrefix(w.header.Get("Set-Cookie"), "__Host-pmg-portal-language=de; Path=/; Max-Age=31536000; HttpOnly; Secure;") {
		t.Errorf("%+v", w)
	}
	rival := r.user("rival", config.LookScope)
	if w := rival.speaks("", "de"); !strings.Contains(w.body, `<html lang="es">`) {
		t.Error("an account's language does not count")
	}
	rival.do("POST", "language", form)
	if w := rival.speaks("", "es"); !strings.Contains(w.body, `<html lang="de">`) {
		t.Error("a user's choice does not come before the account's")
	}
	for _, header := range []string{strings.Repeat("de,", 3400), "\xff, de", "de;q=" + strings.Repeat("9", 300), strings.Repeat("-", 499), "*-*-*;q=-1"} {
		if w := r.stranger("127.0.0.1").speaks("login", header); w.code != 200 && w.code != 400 || w.code == 200 && !strings.Contains(w.body, `<html lang="en">`) {
			t.Errorf("%.20q: %d", header, w.code)
		}
	}
}

// A reseller adds a language and changes texts, which a reload reads. A text is text, whatever it has.
func TestTextsOfAReseller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("fr.json", `{"English|the name of the language itself": "Français", "Log in": "<script>alert(1)</script>", "Name": "\" autofocus onfocus=\"alert(1)",
		"Programs log in with a key: [the API].": "<b>Clés</b>: [l'<i>API</i>] !", "Keys": "Clés", "Search": "{{.}}"}`)
	write("de.json", `{"Keys": "Zugänge"}`)
	write("notes.txt", "not a language")
	r := newRig(t, accounts(""), fmt.Sprintf("portal_texts: %q", dir), "")
	b := r.stranger("127.0.0.1")
	w := b.speaks("login", "fr-CA")
	for _, text := range []string{`<html lang="fr">`, "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>", "<option value=\"fr\" lang=\"fr\" selected>Français</option>", ">Password <input"} {
		if !strings.Contains(w.body, text) {
			t.Errorf("without %s: %s", text, w.body)
		}
	}
	if strings.Contains(w.body, "<script>alert") || strings.Contains(w.body, `" autofocus onfocus="`) {
		t.Error(w.body)
	}
	b = r.user("shop", config.LookScope)
	if w := b.speaks("keys", "fr"); !strings.Contains(w.body, `<p>&lt;b&gt;Clés&lt;/b&gt;: <a href="/v1/docs">l&#39;&lt;i&gt;API&lt;/i&gt;</a> !</p>`) {
		t.Error(w.body)
	}
	if w := b.speaks("keys", "de"); !strings.Contains(w.body, "<h1>Zugänge</h1>") || !strings.Contains(w.body, ">Nachrichten</a>") {
		t.Error(w.body)
	}
	write("de.json", `{"Keys": "Zugangsschlüssel"}`)
	r.Reload(r.yaml)
	if w := b.speaks("keys", "de"); !strings.Contains(w.body, "<h1>Zugangsschlüssel</h1>") {
		t.Error("a reload does not read the texts again")
	}
}

// The mail with a link for a new password is in the language of the page that has asked for it.
func TestMailInLanguages(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	b := r.stranger("127.0.0.2")
	if w := b.do("POST", "forgot", map[string][]string{"account": {"acme"}, "name": {"look"}}, "Accept-Language", "de"); w.code != 200 || !strings.Contains(w.body, "ist ein Link dorthin unterwegs. Er gilt 30 Minuten.") {
		t.Errorf("%+v", w)
	}
	link := linkIn(t, s, 1)
	if m := s.Took()[0]; m.Header("Subject") != "Nachrichten: neues Passwort" || !strings.Contains(m.Text, "Jemand hat ein neues Passwort") {
		t.Errorf("%+v", m)
	}
	if w := b.speaks(link, "de"); w.code != 200 || strings.Contains(w.body, "<footer>") || !strings.Contains(w.body, "<button>Passwort ändern</button>") {
		t.Errorf("%+v", w)
	}
}

// What a problem says in detail is shown whole, also where it quotes somebody.
func TestDetailsAreWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "", "stats: {dir: "+t.TempDir()+"}", "events: {dir: "+t.TempDir()+"}")
	b := r.user("shop", config.LookScope)
	if w := b.speaks("statistics?from=Inbox%7Ca%25s", "de"); w.code != 400 || !strings.Contains(w.body, "Ein Parameter der Anfrage ist nicht lesbar: ") || !strings.Contains(w.body, "Inbox|a%s") {
		t.Errorf("%+v", w)
	}
}

// What is wrong with the rows of a mailing is in the language of those who look, with the counts in their forms.
func TestMailingInLanguages(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	b := r.user("shop", config.SendScope)
	page := strings.TrimPrefix(b.mail("to\n+46701740605\n+46701740605\n", "a").header.Get("Location"), Base)
	b.until(page, "Line 3: The message is not valid: the number is that of line 2")
	if w := b.speaks(page, "de"); !strings.Contains(w.body, "Zeile 3: Die Nachricht ist ungültig: die Nummer ist die von Zeile 2") || !strings.Contains(w.body, "<dd>geprüft</dd>") {
		t.Error(w.body)
	}
	b.post(page, "stop", "1")
	page = strings.TrimPrefix(b.mail("to\n+46701740605\n", "a").header.Get("Location"), Base)
	b.until(page, "Send to 1 recipient<")
	if w := b.speaks(page, "es"); !strings.Contains(w.body, ">Enviar a 1 destinatario</button>") {
		t.Error(w.body)
	}
	if w := b.speaks(page, "de"); !strings.Contains(w.body, ">An 1 Empfänger senden</button>") {
		t.Error(w.body)
	}
}

// In a real browser a user chooses a language at the foot of a page, and is on the same page then, in this language.
func TestBrowserLanguage(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	b := chrome.Start(t)
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b.Do(chromedp.Navigate(r.base+root), chromedp.WaitVisible(`//h1[text()="Log in"]`), chromedp.SendKeys(`input[name=account]`, "acme"))
	b.LogIn(config.ManageScope, password)
	var at string
	b.Do(chromedp.Navigate(r.base+Base+"opt-outs?number=46701740605"), chromedp.WaitVisible(`//h1[text()="Opt-outs"]`),
		chromedp.SetValue(`select[name=language]`, "de"), chrome.Click(`footer button`), chromedp.WaitVisible(`html[lang=de] footer`), chromedp.Location(&at))
	if at != r.base+Base+"opt-outs?number=46701740605" {
		t.Error(at)
	}
	for _, p := range pages() {
		if !p.InMenu() {
			continue
		}
		b.Do(chromedp.Navigate(r.base+Base+p.Name), chromedp.WaitVisible(`html[lang=de] footer`))
		if wrong := b.Nameless(); len(wrong) > 0 {
			t.Errorf("%s: controls without a name: %q", p.Title, wrong)
		}
	}
}
