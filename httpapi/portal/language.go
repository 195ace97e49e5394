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

// printer returns what writes texts for the user: in the language that the user has chosen, or that of the account, or one that the
// browser asks for.
func (v *visit) printer() texts.Printer {
	if v.words == nil {
		p := v.chosen()
		v.words = &p
	}
	return *v.words
}

func (v *visit) chosen() texts.Printer {
	all := v.catalogue()
	if c, err := v.x.Request.Cookie(v.languageCookie("").Name); err == nil {
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
func (v *visit) catalogue() *texts.Catalogue {
	if own := v.options().Texts(); own != nil {
		return own
	}
	return v.site.portal.texts
}

func (v *visit) languageCookie(tag string) *http.Cookie {
	return browser.Cookie(languageCookie, tag, browser.IsSecure(v.x.Request))
}

// setLanguage keeps the language of the form in a cookie, and leads back to the page that had the form.
func (v *visit) setLanguage() {
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	tag := form.Get("language")
	if _, ok := v.catalogue().In(tag); !ok {
		v.wrong(http.StatusBadRequest, v.T("The form cannot be read."))
		return
	}
	c := v.languageCookie(tag)
	c.MaxAge = int(languageTime.Seconds())
	v.x.Writer.Header().Add("Set-Cookie", c.String())
	v.redirect(v.from())
}

// from returns the path of the page that has sent the form.
func (v *visit) from() string {
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
	return w.visit.catalogue().Languages()
}
