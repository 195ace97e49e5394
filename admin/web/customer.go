package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/web/form"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
	"pmg/sms"
)

// newName is the name of the page with the form for a new account, whose path ends with newCustomer.
const (
	newName     = "new/{name}"
	newCustomer = "customer"
)

// A customer is the form for an account of managed.dir.
type customer struct {
	Form      *form.Form
	Name      string
	NameWrong string
	IsNew     bool
	Like      string // name of the account from which a new one takes its options; "": it has none to begin with
	Tag       string // tag of the options that the form was made of
	Seen      string // fingerprint of the form whose effect is shown
	Comment   string
	Writes    bool // the reader of the page may change the account

	base editor.Options // options that a new account gets from another one
}

// A newPage is the model of the page with the form for a new account.
type newPage struct {
	Customer *customer
	Dir      string // "": there are no managed files
	preview
}

// IsStill reports that only actions change the page.
func (*newPage) IsStill() bool { return true }

// newPage shows the form for a new account, which begins with the options of the account ?like=.
func (o *office) newPage(r *http.Request) any {
	if r.PathValue("name") != newCustomer {
		return nil
	}
	cfg := o.site.server.Gateway().Node.Config()
	c := &customer{
		Form: form.New(cfg), IsNew: true, Like: r.FormValue("like"), base: editor.Options{},
		Writes: access.CallerOf(r).Scope >= access.Administer,
	}
	p := &newPage{Customer: c, Dir: cfg.Managed.Dir}
	if c.Like != "" && p.Dir != "" {
		options, err := o.optionsOf(c.Like)
		if err != nil || options == nil {
			c.Like, p.Refused = "", "There is no account of that name that the gateway stores itself: the form begins empty."
		} else {
			c.base = form.Template(options)
		}
	}
	c.Form.Show(c.base)
	return p
}

// optionsOf returns the options of an account that the gateway stores, nil if there is none.
func (o *office) optionsOf(name string) (editor.Options, error) {
	file := managed.OptionsFile(managed.Accounts, name)
	if _, _, ok := managed.Split(file); !ok {
		return nil, nil
	}
	data, err := o.dir().Read(file)
	if err != nil || data == nil {
		return nil, err
	}
	return editor.ReadOptions(data)
}

// customerOf returns the form of the account of a page, nil if the page cannot have one.
func (o *office) customerOf(p *managedPage) *customer {
	options, err := o.optionsOf(p.Name)
	if err != nil || options == nil || p.Defined != "" {
		return nil
	}
	c := &customer{Form: form.New(o.site.server.Gateway().Node.Config()), Name: p.Name, Tag: p.Tag, Writes: p.Tag != ""}
	c.Form.Show(options)
	return c
}

// makes handles the form for a new account.
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
		m.Customer.Name = strings.TrimSpace(r.PostFormValue("account"))
		if notice := o.edits(r, m.Customer, &m.preview); notice != "" {
			o.returns(w, r, v.Link(managedName, managed.Accounts+"."+m.Customer.Name), notice)
			return
		}
		o.site.write(w, http.StatusOK, p.Template(), v)
	}
}

// editTime is the time limit of a change: with many accounts a reload takes seconds.
const editTime = 2 * time.Minute

// edits carries out a customer's form if the user has seen its effect, and otherwise shows the effect. It returns
// a notice if the form is done, "" if the form is shown again.
func (o *office) edits(r *http.Request, c *customer, shown *preview) (notice string) {
	c.Form.Read(r.PostForm)
	c.Tag, c.Comment = r.PostFormValue("tag"), r.PostFormValue("comment")
	seen := fingerprint(r.PostForm)
	e := editor.Request{
		File: managed.OptionsFile(managed.Accounts, c.Name), Match: matchOf(c.Tag), By: access.CallerOf(r).String(),
		Comment: c.Comment,
		Dry:     r.PostFormValue("put") == "" || r.PostFormValue("seen") != seen,
	}
	if change := c.Form.Change(); c.IsNew {
		e.Match, e.Make = editor.Missing, c.base.Merged(change).Replacing(managed.Accounts, c.Name)
	} else {
		e.Make = change.Merging(managed.Accounts, c.Name)
	}
	result, err := o.site.Edit(r.Context(), e)
	access.After(r, result)
	switch {
	case err != nil && o.isInForce(r, e, err):
		return c.Name + " has these options already: nothing has changed."
	case err != nil:
		o.refuse(c, shown, err)
	case e.Dry:
		c.Seen = seen
		if balance := o.balanceOf(c.Name); c.IsNew && balance != 0 {
			result.Notes = append(
				result.Notes, "an earlier account of this name has left a balance of "+balance.String()+
					", which the new one gets",
			)
		}
		shown.show(result)
	default:
		return noticeOf(result)
	}
	return ""
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

// fingerprint identifies the contents of a form, whose effect a user has seen.
func fingerprint(v url.Values) string {
	inputs := url.Values{"account": v["account"], "like": v["like"], "tag": v["tag"]}
	for name, values := range v {
		if strings.HasPrefix(name, form.Now) {
			inputs[name] = values
		}
	}
	return managed.Tag([]byte(inputs.Encode()))
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
// account meanwhile, the form shows those changes, too.
func (o *office) refuse(c *customer, shown *preview, err error) {
	refusal, ok := errors.AsType[*editor.Refusal](err)
	switch {
	case !ok:
		shown.Refused = err.Error()
	case isConflict(err) && c.IsNew:
		c.NameWrong = "an account of this name exists"
	case isConflict(err):
		shown.Refused = o.rebase(c)
	case refusal.Status == http.StatusBadRequest, refusal.Status == http.StatusConflict && c.IsNew:
		c.NameWrong = refusal.Text
	default:
		shown.Refused = "Nothing has changed: see the fields below."
		file := managed.OptionsFile(managed.Accounts, c.Name)
		var own, others document.Problems
		for _, p := range refusal.Problems {
			if p.File == "" || strings.HasSuffix(p.File, file) {
				own = append(own, p)
			} else {
				others = append(others, p)
			}
		}
		if others = append(others, c.Form.Place(own)...); len(others) > 0 || len(own) == 0 {
			shown.Refused = reasonOf(&editor.Refusal{Text: refusal.Text, Problems: others})
		}
	}
}

// rebase adds to a form what somebody else has changed meanwhile, and returns a text about that.
func (o *office) rebase(c *customer) string {
	file := managed.OptionsFile(managed.Accounts, c.Name)
	data, err := o.dir().Read(file)
	if err != nil {
		return err.Error()
	}
	by := "somebody"
	if last, err := o.dir().History(file, 0, 1); err == nil && len(last) > 0 {
		by = fmt.Sprintf("%s (change %d, %s)", last[0].By, last[0].Number, browser.Frame{}.Time(last[0].Time))
	}
	if data == nil {
		return "Nothing of this form is in force, because the account was removed meanwhile by " + by + "."
	}
	options, err := editor.ReadOptions(data)
	if err != nil {
		return err.Error()
	}
	c.Tag = managed.Tag(data)
	lines := []string{"Nothing of this form is in force, because the account was changed meanwhile by " + by + "."}
	lines = append(lines, c.Form.Rebase(options)...)
	lines = append(lines, "The form has these changes now, and yours: look at it, and show what changes.")
	return strings.Join(lines, "\n")
}
