package portal

import (
	"net/http"
	"net/url"
	"time"

	"pmg/internal/browser"
	"pmg/internal/texts"
)

// A language that a user has chosen.
const (
	languageCookie = "pmg-portal-language"
	languageTime   = 365 * 24 * time.Hour // time for which a browser keeps it
)

// T returns the text of a key in the language of the user.
func (v *visit) T(key string, args ...any) string { return v.printer().Text(key, args...) }

// printer returns what writes texts for the user.
func (v *visit) printer() texts.Printer {
	if v.words == nil {
		p := languages{v}.chosen()
		v.words = &p
	}
	return *v.words
}

// languages are the languages of the pages.
type languages struct{ visit *visit }

// chosen returns the printer of the language that the user has chosen, or that of the account, or of one that the browser asks
// for.
func (l languages) chosen() texts.Printer {
	v, all := l.visit, l.catalogue()
	if c, err := v.x.Request.Cookie(l.cookie("").Name); err == nil {
		if p, ok := all.In(c.Value); ok {
			return p
		}
	}
	if v.x.Account != nil && v.who.account != "" {
		if p, ok := all.In(v.x.Account.Config().Logins.Pages.Language); ok {
			return p
		}
	}
	return all.Choose(v.x.Request.Header.Get("Accept-Language"))
}

// catalogue returns the texts of the connector's pages.
func (l languages) catalogue() *texts.Catalogue {
	if own := l.visit.options().Texts(); own != nil {
		return own
	}
	return l.visit.site.portal.texts
}

func (l languages) cookie(tag string) *http.Cookie {
	return browser.Cookie(languageCookie, tag, browser.IsSecure(l.visit.x.Request))
}

// choose keeps the language of the form in a cookie, and leads back to the page that had the form.
func (l languages) choose() {
	v := l.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	tag := form.Get("language")
	if _, ok := l.catalogue().In(tag); !ok {
		v.wrong(http.StatusBadRequest, v.T("The form cannot be read."))
		return
	}
	c := l.cookie(tag)
	c.MaxAge = int(languageTime.Seconds())
	v.x.Writer.Header().Add("Set-Cookie", c.String())
	v.redirect(l.from())
}

// from returns the path of the page that has sent the form.
func (l languages) from() string {
	v := l.visit
	page, err := url.Parse(v.x.Request.Referer())
	if err != nil {
		return Base
	}
	return v.site.portal.pages.OwnPath(page.RequestURI())
}

// Languages returns the languages among which the user can choose. The page of a link for a new password has none, because no
// request says to which link it would lead back.
func (w *view) Languages() []texts.Language {
	if w.visit.x.Request.URL.Path == resetPath {
		return nil
	}
	return languages{w.visit}.catalogue().Languages()
}
