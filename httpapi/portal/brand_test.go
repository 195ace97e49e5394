package portal

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/config"
	browserpages "pmg/internal/browser"
)

const svg = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script><path d="M0 0h1v1z"/></svg>`

// The pages have the name, the picture and the colour of the reseller, before a login and behind it. A reload changes them. The
// picture runs nothing, and is no page.
func TestBrand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "logo.svg")
	if err := os.WriteFile(file, []byte(svg), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, accounts(""), `brand: {name: "Ann & <b>Bob", logo: "`+file+`", colour: "#0a5"}`, "")
	b := r.stranger("127.0.0.1")
	logo := regexp.MustCompile(`<img class="logo" src="/portal/(brand/logo\?v=[0-9a-f]{16})" alt="">`)
	for _, w := range []reply{b.get("login"), r.user("shop", config.LookScope).get("")} {
		if !strings.Contains(w.body, "<strong>Ann &amp; &lt;b&gt;Bob</strong>") || !strings.Contains(w.body, "– Ann &amp; &lt;b&gt;Bob</title>") ||
			!strings.Contains(w.body, `<link rel="stylesheet" href="/portal/brand/style.css?v=0a5">`) || !logo.MatchString(w.body) || w.header.Get("Content-Security-Policy") != browserpages.Policy {
			t.Errorf("%+v", w)
		}
	}
	path := logo.FindStringSubmatch(b.get("login").body)[1]
	w := b.get(path, "Sec-Fetch-Dest", "image")
	if w.code != 200 || w.body != svg || w.header.Get("Content-Type") != "image/svg+xml" || w.header.Get("X-Content-Type-Options") != "nosniff" || w.header.Get("Content-Security-Policy") != logoPolicy {
		t.Errorf("%+v", w)
	}
	for _, dest := range []string{"document", "iframe", "object", "embed"} {
		if w := b.get(path, "Sec-Fetch-Dest", dest); w.code != 404 || strings.Contains(w.body, "<svg") {
			t.Errorf("%s: %+v", dest, w)
		}
	}
	if w := b.get("brand/style.css"); w.code != 200 || w.header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(w.body, "--link: #008341") {
		t.Errorf("%+v", w)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Reload(r.yaml)
	next := logo.FindStringSubmatch(b.get("login").body)[1]
	if w := b.get(next); next == path || w.body != picture.String() || w.header.Get("Content-Type") != "image/png" {
		t.Errorf("%s, %+v", next, w)
	}
	r.Reload(regexp.MustCompile(`brand: \{[^}]*\}`).ReplaceAllString(r.yaml, ""))
	if w := b.get("login"); !strings.Contains(w.body, "<strong>Messages</strong>") || strings.Contains(w.body, "brand/") {
		t.Errorf("%+v", w)
	}
	for _, path := range []string{path, "brand/style.css"} {
		if w := b.get(path); w.code != 404 {
			t.Errorf("%+v", w)
		}
	}
}

// Every colour becomes one that can be read on the backgrounds of the pages, which are those of the style sheet, and stays as it is if
// it can be read already.
func TestColours(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../../internal/browser/static/pmg.css")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`--back: (#\w+); --box: (#\w+);`).FindAllStringSubmatch(string(css), -1)
	for i, backs := range [][]colour{lightBacks(), darkBacks()} {
		for j, want := range backs {
			if got, ok := parseColour(found[i][1+j]); !ok || got != want {
				t.Errorf("%s: %v", found[i][1+j], want)
			}
		}
	}
	for r := 0; r < 256; r += 17 {
		for g := 0; g < 256; g += 17 {
			for b := 0; b < 256; b += 17 {
				c := colour{float64(r), float64(g), float64(b)}
				if read, ok := parseColour(c.String()); !ok || read != c {
					t.Fatal(c)
				}
				light, dark := readable(c, colour{}, lightBacks()), readable(c, colour{255, 255, 255}, darkBacks())
				if !isReadable(light, lightBacks()) || !isReadable(dark, darkBacks()) || isReadable(c, lightBacks()) && light != c || isReadable(c, darkBacks()) && dark != c {
					t.Errorf("%s: %s, %s", c, light, dark)
				}
			}
		}
	}
	for text, want := range map[string]float64{"#000": 21, "#fff": 1, "#777": 4.48, "#767676": 4.54} { // as WCAG's examples have them
		c, ok := parseColour(text)
		if got := contrast(c, colour{255, 255, 255}); !ok || got < want-0.01 || got > want+0.01 {
			t.Errorf("%s: %f", text, got)
		}
	}
	for _, text := range []string{"", "#", "0a5", "#0a", "#0a55", "#00aa5g", "red", "#00aa551", "x0a5"} {
		if c, ok := parseColour(text); ok {
			t.Errorf("%s: %v", text, c)
		}
	}
}
