package portal

import (
	"net/http"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
	"pmg/internal/texts"
	"pmg/protocols/httpsms/own"
)

// fixedTexts says why templates cannot be changed.
const fixedTexts = "The templates of this account are in the configuration of the gateway, and are changed there."

// A textsModel is the model of the page of templates of texts.
type textsModel struct {
	All     []config.TextTemplate
	Managed bool // the page can change them
	Wrong   string
	Name    string // name and text in the form that adds or changes one
	Text    string
}

// A textsPage is the page of templates, and what the forms that send have of them.
type textsPage struct{ visit *visit }

// textsOf shows the templates, and in the form the one that the request names.
func textsOf(v *visit) (any, *own.Problem) {
	t := textsPage{v}
	m := t.model()
	if name := v.x.Request.URL.Query().Get("name"); name != "" {
		m.Name, m.Text = name, t.text(name)
	}
	return m, nil
}

func (t textsPage) model() textsModel {
	return textsModel{All: t.all(), Managed: t.visit.isManaged()}
}

// all returns the templates of the account, by name.
func (t textsPage) all() []config.TextTemplate {
	all := slices.Clone(t.visit.x.Account.Config().Logins.Pages.Templates)
	slices.SortFunc(all, func(a, b config.TextTemplate) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// text returns the text of the template with a name, "" if there is none.
func (t textsPage) text(name string) string {
	for _, one := range t.all() {
		if one.Name == name {
			return one.Text
		}
	}
	return ""
}

// change adds, changes or removes a template.
func (t textsPage) change() {
	v := t.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m := t.model()
	m.Name, m.Text = strings.TrimSpace(form.Get("name")), strings.ReplaceAll(form.Get("text"), "\r\n", "\n")
	one := config.TextTemplate{Name: m.Name, Text: m.Text}
	act, done := "templates/set", texts.Say("Template %s is as you have set it.", m.Name)
	change := editor.SettingTemplate(v.who.account, m.Name, m.Text)
	if form.Get("remove") != "" {
		act, done = "templates/remove", texts.Say("Template %s is removed.", m.Name)
		change = editor.RemovingTemplate(v.who.account, m.Name)
	} else if option, why := one.Check(); why != "" {
		m.Wrong = v.T("The " + option + " " + why + ".")
	} else if len(m.All) >= config.MaxTemplates && t.text(m.Name) == "" {
		m.Wrong = v.T("There are too many templates: remove one first.")
	}
	switch {
	case !m.Managed:
		v.wrong(http.StatusConflict, v.T(fixedTexts))
	case m.Wrong != "":
		v.page(http.StatusUnprocessableEntity, "templates", "Templates", m)
	case v.change(act, m.Name, change):
		v.site.sessions.Notify(v.x.Request, browser.Notice{Text: done.In(v.printer())})
		v.redirect(Base + "templates")
	}
}
