package web

import (
	"bytes"
	"crypto/rand"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/config"
)

// upload sends a sheet, and returns the page that is the answer.
func upload(t *testing.T, c *http.Client, page, text string, form url.Values) (code int, answer string) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range form {
		_ = w.WriteField(name, values[0])
	}
	f, _ := w.CreateFormFile("file", "supplier.csv")
	_, _ = io.WriteString(f, text)
	_ = w.Close()
	r, err := http.NewRequestWithContext(t.Context(), "POST", page, &body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

var sheetTag = regexp.MustCompile(`(?s)<form method="post" class="entry"><input type="hidden" name="do" value="sheet">.*?</form>`)

// A supplier's sheet is uploaded, its columns are recognized or corrected, its differences are shown, and it is put in force with
// how it is read. What cannot be used is answered in words, and nothing is put in force that nobody has seen.
func TestSheet(t *testing.T) {
	t.Parallel()
	base, dir, audit := startManaged(t)
	c := visitor(t, base, config.AdministerScope)
	page := base + "/ui/managed/prices.north"
	form := func() url.Values {
		tags := fill(t, c, page).text
		value := func(name string) string {
			return regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(tags)[1]
		}
		return url.Values{"currency": {"EUR"}, "charset": {"utf-8"}, "tag": {value("tag")}, "rows_tag": {value("rows_tag")}}
	}
	says := func(what, text string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(html.UnescapeString(text), word) {
				t.Errorf("%s: the page lacks %q:\n%s", what, word, text[strings.Index(text, "<main"):])
			}
		}
	}
	uploaded := func(what, text string, words ...string) *filling {
		t.Helper()
		code, answer := upload(t, c, page, text, form())
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", what, code, answer)
		}
		says(what, answer, words...)
		f := &filling{t: t, c: c, page: page}
		if m := sheetTag.FindString(answer); m != "" {
			f.read(m)
		}
		return f
	}
	file := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, "prices", name))
		return string(b)
	}
	const first = "\ufeff\"MCC\";\"MNC\";\"Country\";\"Network\";\"Price EUR\";\"Valid from\"\r\n" +
		"\"240\";\"01\";\"Sweden\";\"Telia\";\"0,0450\";\"\"\r\n\"240\";\"02\";\"Sweden\";\"Tre\";\"0,0500\";\"01.01.2026\"\r\n\"262\";\"\";\"Germany\";\"\";\"0,07\";\"\"\r\n"
	f := uploaded("a supplier's", first, "It has 3 prices: 2 of networks, 1 of countries", "<option selected>mcc</option>", "network 240-01: 0.045",
		"there is no price for all others", "3 new", "0 gone", "prices[north]: absent -> added", "Put these prices in force")
	if file("north.csv") != "" {
		t.Error("an upload is in force")
	}
	again := *f
	unseen := *f
	unseen.values = url.Values{}
	for name, values := range f.values {
		unseen.values[name] = values
	}
	unseen.set("round", "1").send("put", "This would change")
	tried := *f
	tried.set("try.days", "today").send("compare", `north "\ufeff\"MCC\";\"MNC\"`, "{Day:today Month: From: To:}") // the rows are nowhere but in the sheet
	f.set("try.days", "").send("put", "In force, as change 2")
	again.send("put", "These prices are in force already")
	if file("north.csv") != first || strings.Contains(file("north.yaml"), "columns") || !strings.Contains(file("north.yaml"), `currency: "EUR"`) {
		t.Errorf("%q %s", file("north.csv"), file("north.yaml"))
	}

	uploaded("a hundred times too high", strings.NewReplacer("0,0450", "4,50", "0,0500", "5,00").Replace(first), "2 up", "1 unchanged", "2 prices rise over ten times")
	uploaded("from a day to come", strings.Replace(first, "0,0450\";\"\"", "0,0460\";\"01.12.2099\"", 1), "lose the price that they have now", "2099-12-01")
	other := uploaded("other columns", "Land;Betreiber;Kennung;Preis\nSweden;Telia;24001;0.05\n", "It cannot be used as it is", "its first line")
	if strings.Contains(other.text, "Put these") {
		t.Error("what cannot be read can be put in force")
	}
	other.values["column"] = []string{"ignore", "ignore", "network", "network"}
	other.send("compare", "cannot use these columns", "named twice")
	other.values["column"] = []string{"ignore", "ignore", "network", "price"}
	other.send("compare", "1 up", "2 gone", "<option selected>network</option>")
	other.send("put", "In force, as change 4")
	if !strings.Contains(file("north.yaml"), `columns: ["ignore","ignore","network","price"]`) || !strings.Contains(file("north.csv"), "Betreiber") {
		t.Errorf("%s %s", file("north.yaml"), file("north.csv"))
	}
	uploaded("the next one of the same", "Land;Betreiber;Kennung;Preis\nSweden;Telia;24001;0.06\n", "1 up", "Put these prices in force")
	uploaded("two prices", "network,price\n24001,0.05\n24001,0.06\n", "line 3", "has a price for the same")
	uploaded("cut in half", "network,price\n24001,0.05\n24002,0.0", "the last line does not end")
	uploaded("empty", "", "the file is empty")
	uploaded("a workbook", "PK\x03\x04....", "save the table as CSV")
	uploaded("UTF-16", "\xff\xfef\x00o\x00r\x00", "save the table as CSV in UTF-8")
	uploaded("many rows", "for,price\n"+strings.Repeat("24001,0.05\n", mostSheetRows+1), "too many for this page")
	uploaded("in another currency", "network,price usd\n24001,0.05\n", "in USD according to the header")
	if code, text := upload(t, c, page, strings.Repeat("24001,0.05\n", 2<<20), form()); code != http.StatusOK || !strings.Contains(text, "more than 16 MiB") {
		t.Errorf("more than a request may have: %d", code)
	}

	ann, bob := uploaded("ann's", "network,price\n24001,0.04\n24002,0.05\n24003,0.05\n24004,0.05\n24005,0.05\n", "1 down", "4 new"), uploaded("bob's", "network,price\n24001,0.07\n", "1 up")
	ann.send("put", "In force")
	bob.send("put", "somebody has changed the list meanwhile", "1 up", "4 gone").send("put", "4 of 6 lines would go")
	bob.set("force", "1").send("put", "In force")
	if !strings.Contains(file("north.csv"), "0.07") {
		t.Error(file("north.csv"))
	}
	_, text, _ := ask(t, c, "GET", page, nil)
	says("the history", text, "<td>rows</td>", "<td>options</td>")
	look := visitor(t, base, config.LookScope)
	if code, _ := upload(t, look, page, first, form()); code != http.StatusForbidden {
		t.Errorf("who may look uploads: %d", code)
	}
	if _, text, _ := ask(t, look, "GET", page, nil); strings.Contains(text, `type="file"`) {
		t.Error("who may look sees the form")
	}
	log, err := os.ReadFile(audit)
	if err != nil || !strings.Contains(string(log), `"act":"managed/sheet"`) || strings.Contains(string(log), "Telia") {
		t.Errorf("%v %s", err, log)
	}
}

// Sheets are kept for their uploader alone, for an hour, and the oldest ones go when there are too many.
func TestDrafts(t *testing.T) {
	t.Parallel()
	var d drafts
	now := time.Unix(1_800_000_000, 0)
	first := d.add(draft{list: "a", owner: "ann", file: "a.csv"}, []byte("one"), now)
	if file, data := d.find(first, "a", "ann"); file != "a.csv" || string(data) != "one" {
		t.Errorf("%q %q", file, data)
	}
	for _, of := range [][2]string{{"a", "bob"}, {"b", "ann"}} {
		if _, data := d.find(first, of[0], of[1]); data != nil {
			t.Errorf("%q gets it", of)
		}
	}
	second := d.add(draft{list: "a", owner: "ann"}, []byte("two"), now.Add(draftLife+time.Second))
	if _, data := d.find(first, "a", "ann"); data != nil {
		t.Error("it is there after its time")
	}
	for range mostDrafts - 1 {
		d.add(draft{list: "a", owner: "ann"}, []byte("more"), now.Add(draftLife+time.Second))
	}
	if _, data := d.find(second, "a", "ann"); string(data) != "two" {
		t.Error("it went too early")
	}
	random := make([]byte, 9<<20)
	_, _ = rand.Read(random)
	for range 4 {
		d.add(draft{list: "a", owner: "ann"}, random, now.Add(draftLife+time.Second))
	}
	octets := 0
	for _, one := range d.all {
		octets += len(one.packed)
	}
	if len(d.all) != 3 || octets > mostDraftOctets {
		t.Errorf("%d sheets of %d octets", len(d.all), octets)
	}
}
