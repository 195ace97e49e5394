package browser

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"
	"time"

	"pmg/internal/figuretext"
	"pmg/internal/texts"
)

//go:embed frame/*.html
var frameFiles embed.FS

// A Page is one of the pages of a site.
type Page struct {
	Name  string // name in the path of the page, which may end with /{name}; "": the first page
	Title string
	Group string // group of the menu; "": the page is alone in a group with the title of the page
}

// Pattern returns the pattern of the page's path after the base of the site. The pattern of the first page matches no other page.
func (p *Page) Pattern() string { return cmp.Or(p.Name, "{$}") }

// Template returns the name of the page's template: connectors-name of connectors/{name}.
func (p *Page) Template() string {
	return cmp.Or(strings.NewReplacer("/{", "-", "}", "").Replace(p.Name), "overview")
}

// InMenu reports whether the page is in the menu. Other pages are about one object, which the path names.
func (p *Page) InMenu() bool { return !strings.Contains(p.Name, "{") }

// has reports whether another page is this page, or about an object that this page lists.
func (p *Page) has(other *Page) bool {
	list, _, _ := strings.Cut(other.Name, "/{")
	return p.Name == list
}

func (p *Page) group() string { return cmp.Or(p.Group, p.Title) }

// A Site is a set of pages that have one frame: head, menu, notice.
type Site struct {
	Base string // beginning of the paths of the pages
	Name string // name in the heads of the pages

	templates map[string]*template.Template // templates, by page
}

// NewSite returns a site with the templates of files: a template for each page in the directory templates,
// and shared templates in templates/parts.
func NewSite(base, name string, files fs.FS) Site {
	s := Site{Base: base, Name: name, templates: map[string]*template.Template{}}
	shared := template.Must(template.ParseFS(frameFiles, "frame/*.html"))
	if parts, _ := fs.Glob(files, "templates/parts/*.html"); len(parts) > 0 {
		shared = template.Must(shared.ParseFS(files, parts...))
	}
	pages, _ := fs.Glob(files, "templates/*.html")
	for _, file := range pages {
		s.templates[strings.TrimSuffix(path.Base(file), ".html")] =
			template.Must(template.Must(shared.Clone()).ParseFS(files, file))
	}
	return s
}

// Path returns the path of a page.
func (s *Site) Path(p *Page) string { return s.Base + p.Name }

// Render returns a page, made by the template of a name. The frame is in the view that the template is given.
func (s *Site) Render(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	err := s.templates[name].ExecuteTemplate(&b, "frame.html", view)
	return b.Bytes(), err
}

// Run runs the template of a page without its frame, for the effects on the view.
func (s *Site) Run(name string, view any) error {
	return s.templates[name].ExecuteTemplate(io.Discard, "main", view)
}

// OwnPath returns a path that a request names if it is a path of the site, and otherwise the path of the first page.
func (s *Site) OwnPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, s.Base) || strings.Contains(path, `\`) {
		return s.Base
	}
	return u.String()
}

// LoginPath returns where somebody logs in who wants to go on with a request.
func (s *Site) LoginPath(r *http.Request) string {
	next := s.Base
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	return s.Base + "login?" + url.Values{"next": {next}}.Encode()
}

// A Link leads to a page.
type Link struct {
	Title, Path string
	Current     bool
}

// A Frame is the content around a page. The view of each page contains a Frame.
type Frame struct {
	Site   *Site
	Title  string
	Menu   []Link // a link to the first page of each group
	Tabs   []Link // links to the pages of this page's group, if the group has several
	User   string // the user who has logged in; "": nobody has
	Login  string // the path of a login that leads back to the page; "": no link to a login
	Notice Notice
	Stream string // the path of the stream that keeps the page up to date; "": none does

	Words texts.Printer // writes the texts of the page; the zero Printer writes English
}

// Language returns the tag of the language of the page.
func (f Frame) Language() string { return f.Words.Tag() }

// T returns the text of a key in the language of the page.
func (f Frame) T(key string, args ...any) string { return f.Words.Text(key, args...) }

// Link returns the text of a key, whose parts in square brackets lead to paths, one after another.
func (f Frame) Link(key string, paths ...string) template.HTML {
	text, html := f.T(key), ""
	for _, path := range paths {
		before, rest, _ := strings.Cut(text, "[")
		name, after, _ := strings.Cut(rest, "]")
		html += template.HTMLEscapeString(before) + `<a href="` + template.HTMLEscapeString(path) + `">` +
			template.HTMLEscapeString(name) + "</a>"
		text = after
	}
	return template.HTML(html + template.HTMLEscapeString(text))
}

// Frame returns the frame of a page with a menu of pages.
func (s *Site) Frame(p *Page, menu []Page) Frame {
	f := Frame{Site: s, Title: p.Title}
	for i := range menu {
		one := &menu[i]
		if !one.InMenu() {
			continue
		}
		group, isSame := one.group(), one.group() == p.group()
		if n := len(f.Menu); n == 0 || f.Menu[n-1].Title != group {
			f.Menu = append(f.Menu, Link{group, s.Path(one), isSame})
		}
		if isSame {
			f.Tabs = append(f.Tabs, Link{one.Title, s.Path(one), one.has(p)})
		}
	}
	if len(f.Tabs) < 2 {
		f.Tabs = nil
	}
	return f
}

// Time writes a time of UTC.
func (Frame) Time(t time.Time) string { return t.UTC().Format(time.DateTime) }

// Count writes a whole number with separators.
func (Frame) Count(n any) string {
	if value := reflect.ValueOf(n); value.CanUint() {
		return figuretext.Number(int64(value.Uint()))
	}
	return figuretext.Number(reflect.ValueOf(n).Int())
}
