package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
)

// managedName is the name of the page that lists managed files.
const managedName = "managed"

// mostManaged is the maximum number of objects of a kind on the page.
const mostManaged = 1000

// mostChanges is the maximum number of changes of a file that the page shows.
const mostChanges = 20

// mostEdited is the maximum size of the rows in the form, in octets.
const mostEdited = 32 << 10

// A managedList is the model of the page that lists the objects that the gateway stores.
type managedList struct {
	Dir    string // "": there are no managed files
	Filter string
	Kinds  []managedKind
}

// A managedKind is the list of names of a kind.
type managedKind struct {
	Kind  string
	Names []string
	More  int // number of further objects that are not listed
}

// IsStill reports that only actions change the page.
func (*managedList) IsStill() bool { return true }

// An office makes the pages about what the gateway stores itself, and handles their forms.
type office struct{ site *site }

func (o *office) dir() *managed.Dir {
	return managed.Open(o.site.server.Gateway().Node.Config().Managed.Dir, nil)
}

// managedFiles lists the managed objects.
func (o *office) managedFiles(r *http.Request) any {
	l := &managedList{Dir: o.site.server.Gateway().Node.Config().Managed.Dir, Filter: r.FormValue("filter")}
	if l.Dir == "" {
		return l
	}
	for _, kind := range managed.Kinds() {
		names, _ := o.dir().Names(kind) // an unreadable file is reported on the object's own page
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, l.Filter) })
		n := min(len(names), mostManaged)
		l.Kinds = append(l.Kinds, managedKind{kind, names[:n], len(names) - n})
	}
	return l
}

// openManaged redirects to the page of the object that the list's form names.
func (o *office) openManaged(w http.ResponseWriter, r *http.Request) {
	to := admin.PagesBase + managedName
	kind, name := r.FormValue("kind"), strings.TrimSpace(r.FormValue("name"))
	if _, _, ok := managed.Split(managed.OptionsFile(kind, name)); ok {
		to += "/" + kind + "." + name
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// A managedPage is the model of the page about a managed object.
type managedPage struct {
	Kind, Name    string
	Defined       string // place in the configuration that defines the object, which the page cannot change
	Exists        bool
	Options, Tag  string
	HasRows       bool // the object's kind may have rows
	Rows, RowsTag string
	IsLong        bool // too many rows to show
	Keys          []string
	History       []managed.Change
	Comment       string
	Key           string // the new key, which is shown only now
	IsAdvanced    bool   // the answer is about the options as JSON
	Sheet         *sheetPage
	Entry         *entryForm // nil: the object has no form, or cannot be read
	preview
}

// A preview is the effect that a form would have, or the reason why it has none.
type preview struct {
	Compared bool
	Changes  []string // changes that the form would make, if Compared
	Notes    []string // consequences of the changes
	Refused  string
}

// IsStill reports that only actions change the page.
func (*managedPage) IsStill() bool { return true }

// newOptions are the initial options of the form.
var newOptions = map[string]string{
	managed.Accounts: "{\n  \"password\": \"\"\n}", managed.Routes: "{\n  \"account\": \"\",\n  \"to\": \"\"\n}",
	managed.Lists: "{}", managed.Prices: "{\n  \"currency\": \"EUR\"\n}",
}

// managedFile shows a managed object.
func (o *office) managedFile(r *http.Request) any {
	p := &managedPage{}
	var ok bool
	if p.Kind, p.Name, ok = strings.Cut(r.PathValue("name"), "."); !ok {
		return nil
	}
	file := managed.OptionsFile(p.Kind, p.Name)
	cfg := o.site.server.Gateway().Node.Config()
	if _, _, ok = managed.Split(file); !ok || cfg.Managed.Dir == "" {
		return nil
	}
	p.Defined, p.HasRows = cfg.Defined(p.Kind, p.Name), managed.Rows(p.Kind) != ""
	if err := p.read(o.dir(), access.CallerOf(r).Scope >= access.Administer); err != nil {
		p.Refused = err.Error()
	} else {
		p.Entry = o.formOf(p)
	}
	if p.Kind == managed.Prices {
		data, _ := o.dir().Read(file) // an error was reported before
		options, _ := editor.ReadOptions(data)
		p.Sheet = sheetOf(p, options)
	}
	return p
}

// read reads the files of the page. Only users who may change the files get tags, because tags are made of secrets, too.
func (p *managedPage) read(d *managed.Dir, writes bool) error {
	data, err := d.Read(managed.OptionsFile(p.Kind, p.Name))
	if err != nil {
		return err
	}
	p.Exists, p.Options = data != nil, newOptions[p.Kind]
	if p.Exists {
		options, err := editor.ReadOptions(data)
		if err != nil {
			return err
		}
		keys, _ := options["keys"].([]any)
		for _, k := range keys {
			one, _ := k.(map[string]any)
			p.Keys = append(p.Keys, fmt.Sprint(one["name"]))
		}
		p.Options = indented(options.Mask())
	}
	var rows []byte
	if p.HasRows {
		if rows, err = d.Read(managed.RowsFile(p.Kind, p.Name)); err != nil {
			return err
		}
		if p.IsLong = len(rows) > mostEdited; !p.IsLong {
			p.Rows = string(rows)
		}
	}
	if writes {
		p.Tag, p.RowsTag = managed.Tag(data), managed.Tag(rows)
	}
	p.History, err = d.History(managed.OptionsFile(p.Kind, p.Name), 0, mostChanges)
	if err != nil || !p.HasRows {
		return err
	}
	more, err := d.History(managed.RowsFile(p.Kind, p.Name), 0, mostChanges)
	p.History = append(p.History, more...)
	slices.SortFunc(p.History, func(a, b managed.Change) int { return b.Number - a.Number })
	return err
}

// TagOf returns the tag of the contents of a file of the object.
func (p *managedPage) TagOf(file string) string {
	if managed.IsOptions(file) {
		return p.Tag
	}
	return p.RowsTag
}

// IsOptions reports whether a file has the options of the object, and not its rows.
func (*managedPage) IsOptions(file string) bool { return managed.IsOptions(file) }

func indented(o editor.Options) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(o) // the values are texts, numbers and lists of them
	return strings.TrimSpace(b.String())
}

// manages handles the forms of the page: it shows what would change, or makes the change and returns to the page.
func (o *office) manages(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(editTime)) // a sheet may take long
		_ = c.SetWriteDeadline(time.Now().Add(2 * editTime))
		v := o.site.view(p, r)
		m, ok := v.Model.(*managedPage)
		if !ok {
			o.site.write(w, http.StatusNotFound, "missing", v)
			return
		}
		access.Named(r, managedName+"/"+r.PostFormValue("do"))
		if notice, isDone := o.fills(r, m); isDone {
			if notice != "" {
				o.returns(w, r, r.URL.EscapedPath(), notice)
				return
			}
			o.site.write(w, http.StatusOK, p.Template(), v)
			return
		}
		e, key, err := m.request(r, o.dir())
		var result editor.Result
		if err == nil {
			result, err = o.site.Edit(r.Context(), e)
			access.After(r, result)
		}
		switch {
		case err != nil:
			m.Refused = reasonOf(err)
		case e.Dry:
			m.show(result)
		case key != "":
			_ = m.read(o.dir(), true)
			m.Key = key
		default:
			o.returns(w, r, r.URL.EscapedPath(), noticeOf(result))
			return
		}
		o.site.write(w, http.StatusOK, p.Template(), v)
	}
}

// fills handles the forms that show their effect before they are put in force. It reports false for other forms, and returns a
// notice if the form is done.
func (o *office) fills(r *http.Request, m *managedPage) (notice string, isFilled bool) {
	var err error
	switch do := r.PostFormValue("do"); {
	case admin.IsUpload(r) && m.Sheet != nil:
		access.Named(r, managedName+"/sheet")
		err = o.upload(r, m)
	case do == "sheet" && m.Sheet != nil:
		notice, err = o.again(r, m)
	case do == "form" && m.Entry != nil:
		notice = o.edits(r, m.Entry, &m.preview)
	default:
		return "", false
	}
	if err != nil {
		m.Refused = reasonOf(err)
	}
	return notice, true
}

// show sets the effect that a change would have.
func (p *preview) show(r editor.Result) { p.Compared, p.Changes, p.Notes = true, r.Changes, r.Notes }

// noticeOf returns the effect of a change as text.
func noticeOf(r editor.Result) string {
	if r.Number == 0 {
		return "Nothing has changed."
	}
	text := fmt.Sprintf("In force, as change %d: %s", r.Number, strings.Join(r.Changes, "; "))
	return strings.Join(append([]string{text}, r.Notes...), "\n")
}

// returns redirects to a page, which shows a notice.
func (o *office) returns(w http.ResponseWriter, r *http.Request, path, notice string) {
	o.site.server.Guard().Sessions.Notify(r, browser.Notice{Text: notice})
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// request returns the change that a form asks for, and the key if one is made. The page keeps the input of the user.
func (p *managedPage) request(r *http.Request, d *managed.Dir) (e editor.Request, key string, err error) {
	file := managed.OptionsFile(p.Kind, p.Name)
	p.Comment = r.PostFormValue("comment")
	e = editor.Request{
		File: file, Match: matchOf(r.PostFormValue("tag")), By: access.CallerOf(r).String(), Comment: p.Comment,
		Dry: r.PostFormValue("compare") != "", Force: r.PostFormValue("force") != "",
	}
	switch do := r.PostFormValue("do"); do {
	case "options":
		p.IsAdvanced, p.Options, p.Tag = true, r.PostFormValue(access.Options), r.PostFormValue("tag")
		var o editor.Options
		if o, err = editor.ParseOptions(strings.NewReader(p.Options)); err == nil {
			e.Make = o.Replacing(p.Kind, p.Name)
		}
	case "rows":
		p.IsAdvanced = true
		p.Rows, p.RowsTag = strings.ReplaceAll(r.PostFormValue(access.Rows), "\r\n", "\n"), r.PostFormValue("tag")
		e.File = managed.RowsFile(p.Kind, p.Name)
		e.Make = func([]byte) ([]byte, error) { return []byte(p.Rows), nil }
	case "remove":
		e.Make = func([]byte) ([]byte, error) { return nil, nil }
	case "key":
		o := editor.Options{"name": strings.TrimSpace(r.PostFormValue("key"))}
		if scope := r.PostFormValue("scope"); scope != "" {
			o["scopes"] = []any{scope}
		}
		key, e.Make = editor.AddingKey(p.Name, o)
	case "unkey":
		e.Make = editor.RemovingKey(p.Name, r.PostFormValue("key"))
	case "revert":
		n, _ := strconv.Atoi(r.PostFormValue("change"))
		var back editor.Request
		back, err = editor.Revert(d, n)
		if isRows := back.File == managed.RowsFile(p.Kind, p.Name); err == nil && back.File != file && !(p.HasRows && isRows) {
			err = errors.New("this change belongs to another object")
		}
		e.File = back.File
		e.Make, e.Comment, e.Force = back.Make, back.Comment, true
	default:
		err = errors.New("the form asks for no change")
	}
	return e, key, err
}

// matchOf returns the condition of a form's change: the file still has the contents that the page has shown.
func matchOf(tag string) string {
	if tag == "" {
		return editor.Missing
	}
	return tag
}

// reasonOf returns the reason why a change is refused, with the invalid options.
func reasonOf(err error) string {
	var problems document.Problems
	if r := (*editor.Refusal)(nil); errors.As(err, &r) {
		problems = r.Problems
		err = errors.New(r.Text)
	}
	lines := []string{err.Error()}
	for _, p := range problems {
		lines = append(lines, strings.TrimSpace(p.Path+" "+p.Message))
	}
	return strings.Join(lines, "\n")
}
