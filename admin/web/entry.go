package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/web/form"
	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
	"pmg/sms"
)

// newName is the name of the pages with the forms for new objects.
const newName = "new/{name}"

// newKinds are the kinds of the forms for new objects, with their groups in the menu, by the end of the path.
var newKinds = map[string]struct{ kind, group string }{
	"customer": {managed.Accounts, "Accounts"}, "route": {managed.Routes, "Connections"}, "list": {managed.Lists, "Messages"},
}

// An entryForm is the form for an object of managed.dir that has one: an account, a route or a list.
type entryForm struct {
	Form      *form.Form
	Kind      string
	Name      string
	NameWrong string
	IsNew     bool
	Like      string // name of the object whose options a new one begins with; "": it begins empty
	Tag       string // tag of the options that the form was made of
	Seen      string // fingerprint of the form whose effect is shown
	Comment   string
	Writes    bool     // the reader of the page may change the object
	Ask       Question // a message that is tried with the change
	Tried     []explanation
	Trial     trialForm

	base editor.Options // options that a new object gets from another one
}

// An explanation says what becomes of a message with a configuration.
type explanation struct{ With, Answer, Wrong string }

// IsAccount reports whether the form is for an account.
func (f *entryForm) IsAccount() bool { return f.Kind == managed.Accounts }

// IsRoute reports whether the form is for a route.
func (f *entryForm) IsRoute() bool { return f.Kind == managed.Routes }

// word names the object's kind for people.
func (f *entryForm) word() string { return strings.TrimSuffix(f.Kind, "s") }

// A newPage is the model of a page with the form for a new object.
type newPage struct {
	Entry *entryForm
	Dir   string // "": there are no managed files
	group string // group of the menu
	preview
}

// IsStill reports that only actions change the page.
func (*newPage) IsStill() bool { return true }

// newPage shows the form for a new object, which begins with the options of the object ?like=.
func (o *office) newPage(r *http.Request) any {
	one, ok := newKinds[r.PathValue("name")]
	if !ok {
		return nil
	}
	kind := one.kind
	cfg := o.site.server.Gateway().Node.Config()
	f := &entryForm{
		Kind: kind, IsNew: true, Like: r.FormValue("like"), base: editor.Options{},
		Writes: access.CallerOf(r).Scope >= access.Administer,
	}
	f.Form, _ = form.New(cfg, kind)
	p := &newPage{Entry: f, Dir: cfg.Managed.Dir, group: one.group}
	if f.Like != "" && p.Dir != "" {
		options, err := o.optionsOf(kind, f.Like)
		if err != nil || options == nil {
			f.Like, p.Refused = "", "There is no "+f.word()+" of that name that the gateway stores itself: the form begins empty."
		} else {
			f.base = form.Template(options)
		}
	}
	f.Form.Show(f.base)
	return p
}

// optionsOf returns the options of an object that the gateway stores, nil if there is none.
func (o *office) optionsOf(kind, name string) (editor.Options, error) {
	file := managed.OptionsFile(kind, name)
	if _, _, ok := managed.Split(file); !ok {
		return nil, nil
	}
	data, err := o.dir().Read(file)
	if err != nil || data == nil {
		return nil, err
	}
	return editor.ReadOptions(data)
}

// formOf returns the form for the object of a page, nil if the page cannot have one.
func (o *office) formOf(p *managedPage) *entryForm {
	options, err := o.optionsOf(p.Kind, p.Name)
	made, ok := form.New(o.site.server.Gateway().Node.Config(), p.Kind)
	if err != nil || options == nil || !ok || p.Defined != "" {
		return nil
	}
	f := &entryForm{Form: made, Kind: p.Kind, Name: p.Name, Tag: p.Tag, Writes: p.Tag != ""}
	f.Form.Show(options)
	return f
}

// makes handles the form for a new object.
func (o *office) makes(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		admin.Lasts(w, editTime)
		v := o.site.view(p, r)
		m, ok := v.Model.(*newPage)
		if !ok || m.Dir == "" {
			o.site.write(w, http.StatusNotFound, "missing", v)
			return
		}
		access.Named(r, "managed/new")
		m.Entry.Name = strings.TrimSpace(r.PostFormValue("name"))
		if notice := o.edits(r, m.Entry, &m.preview); notice != "" {
			o.returns(w, r, v.Link(managedName, m.Entry.Kind+"."+m.Entry.Name), notice)
			return
		}
		o.site.write(w, http.StatusOK, p.Template(), v)
	}
}

// editTime is the time limit of a change: with many accounts a reload takes seconds.
const editTime = 2 * time.Minute

// edits carries out a form if the user has seen its effect, and otherwise shows the effect. It returns
// a notice if the form is done, "" if the form is shown again.
func (o *office) edits(r *http.Request, f *entryForm, shown *preview) (notice string) {
	f.Form.Read(r.PostForm)
	f.Tag, f.Comment, f.Ask = r.PostFormValue("tag"), r.PostFormValue("comment"), askedOf(r.PostForm)
	f.Trial.read(r.PostForm)
	seen := f.fingerprint()
	e := editor.Request{
		File: managed.OptionsFile(f.Kind, f.Name), Match: matchOf(f.Tag), By: access.CallerOf(r).String(),
		Comment: f.Comment,
		Dry:     r.PostFormValue("put") == "" || r.PostFormValue("seen") != seen,
	}
	if change := f.Form.Change(); f.IsNew {
		e.Match, e.Make = editor.Missing, f.base.Merged(change).Replacing(f.Kind, f.Name)
		e.Rows = o.firstRows(f)
	} else {
		e.Make = change.Merging(f.Kind, f.Name)
	}
	result, err := o.site.Edit(r.Context(), e)
	access.After(r, result)
	switch {
	case err != nil && o.isInForce(r, e, err):
		return f.Name + " has these options already: nothing has changed."
	case err != nil:
		o.refuse(f, shown, err)
	case e.Dry:
		f.Seen = seen
		if balance := o.balanceOf(f.Name); f.IsNew && f.IsAccount() && balance != 0 {
			result.Notes = append(
				result.Notes, "an earlier account of this name has left a balance of "+balance.String()+
					", which the new one gets",
			)
		}
		shown.show(result)
		o.try(r.Context(), f, result.Next)
	default:
		return noticeOf(result)
	}
	return ""
}

// noNumbers is the file of a new list.
const noNumbers = "# numbers are added and removed beside this file\n"

// firstRows returns the rows of a new list, nil if the object has none, or if there are rows of its name.
func (o *office) firstRows(f *entryForm) *editor.Rows {
	if f.Kind != managed.Lists {
		return nil
	}
	if rows, err := o.dir().Read(managed.RowsFile(f.Kind, f.Name)); err != nil || rows != nil {
		return nil
	}
	return &editor.Rows{Data: []byte(noNumbers), Match: editor.Missing}
}

// askedOf returns the message that a form asks about.
func askedOf(v url.Values) Question {
	return Question{
		Account: v.Get("try.account"), Connector: v.Get("try.connector"), From: v.Get("try.from"), To: v.Get("try.to"),
		Text: v.Get("try.text"),
	}
}

// try tries the configuration that a form would make on the traffic of the form, and explains what becomes of the message of the
// form, with that configuration and now.
func (o *office) try(ctx context.Context, f *entryForm, next *config.Config) {
	account := ""
	if f.IsAccount() {
		account = f.Name
	}
	f.Trial.run(ctx, o.site, next, account)
	if f.Ask.To == "" || next == nil || o.site.Explain == nil {
		return
	}
	for _, one := range []struct {
		with string
		cfg  *config.Config
	}{{"The message with the change", next}, {"The message as it is", o.site.server.Gateway().Node.Config()}} {
		answer, wrong := o.site.explainer.ask(&o.site.Tools, one.cfg, f.Ask)
		f.Tried = append(f.Tried, explanation{one.with, answer, wrong})
	}
}

// balanceOf returns the balance that belongs to the name of an account.
func (o *office) balanceOf(name string) (balance sms.Money) {
	o.site.server.Gateway().Node.Origins.Tallies(func(account string, t *sms.Tally) {
		if account == name {
			balance, _ = t.Credit.Balance()
		}
	})
	return balance
}

// fingerprint identifies what a form would change, which a user has seen.
func (f *entryForm) fingerprint() string {
	change, _ := json.Marshal(f.Form.Change()) // its values are texts, numbers and lists of them
	return managed.Tag(fmt.Appendf(nil, "%q %q %q %q %s", f.Kind, f.Name, f.Like, f.Tag, change))
}

// isInForce reports whether a change was refused because it had been made before, such as by the same form.
func (o *office) isInForce(r *http.Request, e editor.Request, err error) bool {
	if !isConflict(err) {
		return false
	}
	e.Dry, e.Match = true, editor.Exists
	if e.Rows != nil {
		e.Rows = &editor.Rows{Data: e.Rows.Data, Match: editor.Exists}
	}
	result, err := o.site.Edit(r.Context(), e)
	return err == nil && len(result.Changes) == 0
}

// isConflict reports whether a change was refused because its object is not what the form was made of.
func isConflict(err error) bool {
	r, ok := errors.AsType[*editor.Refusal](err)
	return ok && r.Status == http.StatusPreconditionFailed
}

// refuse shows the reason why a form is refused, at the fields that it is about. If somebody else has changed the
// object meanwhile, the form shows those changes, too.
func (o *office) refuse(f *entryForm, shown *preview, err error) {
	refusal, ok := errors.AsType[*editor.Refusal](err)
	switch {
	case !ok:
		shown.Refused = err.Error()
	case isConflict(err) && f.IsNew:
		f.NameWrong = "there is one of this name"
	case isConflict(err):
		shown.Refused = o.rebase(f)
	case refusal.Status == http.StatusBadRequest, refusal.Status == http.StatusConflict && f.IsNew:
		f.NameWrong = refusal.Text
	default:
		shown.Refused = "Nothing has changed: see the fields below."
		file := managed.OptionsFile(f.Kind, f.Name)
		var own, others document.Problems
		for _, p := range refusal.Problems {
			if p.File == "" || strings.HasSuffix(p.File, file) {
				own = append(own, p)
			} else {
				others = append(others, p)
			}
		}
		if others = append(others, f.Form.Place(own)...); len(others) > 0 || len(own) == 0 {
			shown.Refused = reasonOf(&editor.Refusal{Text: refusal.Text, Problems: others})
		}
	}
}

// rebase adds to a form what somebody else has changed meanwhile, and returns a text about that.
func (o *office) rebase(f *entryForm) string {
	file := managed.OptionsFile(f.Kind, f.Name)
	data, err := o.dir().Read(file)
	if err != nil {
		return err.Error()
	}
	by := "somebody"
	if last, err := o.dir().History(file, 0, 1); err == nil && len(last) > 0 {
		by = fmt.Sprintf("%s (change %d, %s)", last[0].By, last[0].Number, browser.Frame{}.Time(last[0].Time))
	}
	if data == nil {
		return "Nothing of this form is in force, because the " + f.word() + " was removed meanwhile by " + by + "."
	}
	options, err := editor.ReadOptions(data)
	if err != nil {
		return err.Error()
	}
	f.Tag = managed.Tag(data)
	lines := []string{"Nothing of this form is in force, because the " + f.word() + " was changed meanwhile by " + by + "."}
	lines = append(lines, f.Form.Rebase(options)...)
	lines = append(lines, "The form has these changes now, and yours: look at it, and show what changes.")
	return strings.Join(lines, "\n")
}
