package portal

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
)

// Paths of what the pages of a reseller load, with a tag of the content behind them.
const (
	logoPath  = Base + "brand/logo"
	stylePath = Base + "brand/style.css"
)

// A brand is what the pages look like.
type brand struct{ visit *visit }

// name returns the name in the heads of the pages.
func (b brand) name() string {
	if name := b.visit.options().Brand.Name; name != "" {
		return name
	}
	return b.visit.T(b.visit.site.portal.pages.Name)
}

// paths returns the paths of the picture and of the style of a reseller, "" if there are none.
func (b brand) paths() (logo, style string) {
	o := &b.visit.options().Brand
	if p := o.Picture(); p.Kind != "" {
		logo = logoPath + "?" + url.Values{"v": {p.Tag}}.Encode()
	}
	if o.Colour != "" {
		style = stylePath + "?" + url.Values{"v": {o.Colour[1:]}}.Encode()
	}
	return logo, style
}

// logoPolicy forbids a picture to load or run anything, also where a browser shows it as a page.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// cached is the header Cache-Control of what pages load: its address changes with its content.
const cached = "private, max-age=86400"

// logo answers with the picture of the reseller, as a part of a page alone.
func (b brand) logo() {
	v := b.visit
	p := v.options().Brand.Picture()
	if dest := v.x.Request.Header.Get("Sec-Fetch-Dest"); p.Kind == "" || dest != "" && dest != "image" {
		v.missing()
		return
	}
	h := v.x.Writer.Header()
	h.Set("Content-Security-Policy", logoPolicy)
	h.Set("Cache-Control", cached)
	v.answer(http.StatusOK, p.Kind, p.Data)
}

// style answers with the colour of the reseller, for light and for dark pages.
func (b brand) style() {
	v := b.visit
	c, ok := parseColour(v.options().Brand.Colour)
	if !ok {
		v.missing()
		return
	}
	v.x.Writer.Header().Set("Cache-Control", cached)
	v.answer(http.StatusOK, "text/css; charset=utf-8", fmt.Appendf(nil,
		"@media screen { :root { --link: %s; } header { border-bottom: 3px solid var(--link); } }\n"+
			"@media screen and (prefers-color-scheme: dark) { :root { --link: %s; } }\n",
		readable(c, colour{}, lightBacks()), readable(c, colour{255, 255, 255}, darkBacks()),
	))
}

// A colour is red, green and blue, from 0 to 255.
type colour [3]float64

// String writes the colour for a style.
func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0])), int(math.Round(c[1])), int(math.Round(c[2])))
}

// lightBacks and darkBacks are the backgrounds of the pages: --back and --box of pmg.css.
func lightBacks() []colour { return []colour{{0xf6, 0xf7, 0xf8}, {0xff, 0xff, 0xff}} }
func darkBacks() []colour  { return []colour{{0x14, 0x18, 0x1c}, {0x1c, 0x22, 0x28}} }

// parseColour reads a colour of three or six hexadecimal digits behind a #.
func parseColour(text string) (c colour, ok bool) {
	if len(text) != 4 && len(text) != 7 {
		return c, false
	}
	digits := (len(text) - 1) / 3
	for i := range c {
		n, err := strconv.ParseUint(text[1+i*digits:1+(i+1)*digits], 16, 8)
		if err != nil {
			return c, false
		}
		if digits == 1 {
			n *= 0x11
		}
		c[i] = float64(n)
	}
	return c, text[0] == '#'
}

// leastContrast is the least contrast of a text with its background (WCAG 2.2, 1.4.3).
const leastContrast = 4.5

// readable returns the colour that is nearest to c, on the way to another one, and can be read on all backgrounds.
func readable(c, to colour, backs []colour) colour {
	const steps = 100
	for i := range steps {
		var mixed colour
		for j := range c {
			mixed[j] = math.Round(c[j] + (to[j]-c[j])*float64(i)/steps)
		}
		if isReadable(mixed, backs) {
			return mixed
		}
	}
	return to
}

func isReadable(c colour, backs []colour) bool {
	for _, back := range backs {
		if contrast(c, back) < leastContrast {
			return false
		}
	}
	return true
}

// contrast returns the contrast of two colours (WCAG 2.2, contrast ratio).
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a colour (WCAG 2.2).
func (c colour) luminance() float64 {
	of := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*of(c[0]) + 0.7152*of(c[1]) + 0.0722*of(c[2])
}
