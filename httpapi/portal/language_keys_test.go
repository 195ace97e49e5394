package portal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"pmg/config"
	"pmg/events/stats"
	"pmg/internal/texts"
	"pmg/protocols/httpsms/own"
	"pmg/sms/numbers"
)

// asked are the keys that templates and code ask for, and the expressions of those that are no constants.
type asked struct {
	keys, variable map[string]bool
	bare           map[string]bool // texts of the code that people see in English alone
}

// variableKeys are what keys that are no constants may be.
func variableKeys() (all []string) {
	all = append(all, own.States()...)
	for _, k := range own.Kinds() {
		all = append(all, k.Title, http.StatusText(k.Status))
	}
	for _, p := range pages() {
		all = append(all, p.Title)
		if p.Group != "" {
			all = append(all, p.Group)
		}
	}
	groups := []string{"day", "month", "hour", "network"}
	all = append(all, stats.TableOf(&stats.Query{By: groups}, nil, 0, false).Heads...)
	all = append(all, checking, checked, beingSent, ended, stopped)
	all = append(all, config.LookScope, config.SendScope, config.ManageScope, config.ReadScope)
	for _, s := range []numbers.Source{numbers.Stop, numbers.Start, numbers.Command, numbers.API, numbers.Page} {
		all = append(all, string(s))
	}
	for _, one := range []config.TextTemplate{{}, {Name: "a"}} {
		option, why := one.Check()
		all = append(all, "The "+option+" "+why+".")
	}
	return append(all, "English|the name of the language itself")
}

// keysAsked reads the templates and the code.
func keysAsked(t *testing.T) asked {
	t.Helper()
	a := asked{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, key := range variableKeys() {
		a.keys[key] = true
	}
	frame, err := os.ReadFile("../../internal/browser/frame/frame.html")
	if err != nil {
		t.Fatal(err)
	}
	a.template(t, "frame", string(frame))
	err = fs.WalkDir(templateFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(templateFiles, path)
		a.template(t, path, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a.code(t)
	return a
}

// template notes the keys of a template.
func (a asked) template(t *testing.T, name, text string) {
	t.Helper()
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	set := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", set); err != nil {
		t.Fatal(err)
	}
	for _, one := range set {
		a.node(one.Root)
	}
}

func (a asked) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, one := range n.Nodes {
				a.node(one)
			}
		}
	case *parse.ActionNode:
		a.node(n.Pipe)
	case *parse.IfNode:
		a.branch(&n.BranchNode)
	case *parse.WithNode:
		a.branch(&n.BranchNode)
	case *parse.RangeNode:
		a.branch(&n.BranchNode)
	case *parse.PipeNode:
		for _, one := range n.Cmds {
			a.node(one)
		}
	case *parse.CommandNode:
		a.command(n)
	}
}

func (a asked) branch(n *parse.BranchNode) {
	a.node(n.Pipe)
	a.node(n.List)
	a.node(n.ElseList)
}

func (a asked) command(n *parse.CommandNode) {
	for _, arg := range n.Args[1:] {
		a.node(arg)
	}
	called := n.Args[0].String()
	if called = called[strings.LastIndexByte(called, '.')+1:]; called != "T" && called != "Link" {
		return
	}
	if s, ok := n.Args[1].(*parse.StringNode); ok {
		a.keys[s.Text] = true
	} else {
		a.variable[n.Args[1].String()] = true
	}
}

// code notes the keys of the package's code.
func (a asked) code(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	constants := map[string]ast.Expr{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.ValueSpec); ok && len(s.Names) == len(s.Values) {
				for i, name := range s.Names {
					constants[name.Name] = s.Values[i]
				}
			}
			return true
		})
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				a.call(n, constants)
			case *ast.AssignStmt:
				a.assigned(n, constants)
			case *ast.KeyValueExpr:
				a.member(n, constants)
			}
			return true
		})
	}
}

// call notes the keys of a call: of the functions that write texts, of problems' details, and of titles of pages.
func (a asked) call(c *ast.CallExpr, constants map[string]ast.Expr) {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	place := map[string]int{"T": 0, "Say": 0, "NewProblem": 1, "page": 2, "leadOn": 0, "wrong": 0}
	at, ok := place[f.Sel.Name]
	if !ok || len(c.Args) <= at {
		return
	}
	if f.Sel.Name == "wrong" {
		if text, ok := constant(c.Args[1], constants); ok {
			a.bare[text] = true
		}
		if s, ok := c.Args[0].(*ast.SelectorExpr); ok && statusTexts()[s.Sel.Name] != "" {
			a.keys[statusTexts()[s.Sel.Name]] = true
		}
		return
	}
	key, ok := constant(c.Args[at], constants)
	switch {
	case !ok && (f.Sel.Name == "T" || f.Sel.Name == "Say"):
		a.variable[expression(c.Args[at])] = true
	case ok && key != "" && key != sameNumber:
		a.keys[key] = true
	}
}

// assigned notes a text that is shown as what is wrong, and is in English alone.
func (a asked) assigned(s *ast.AssignStmt, constants map[string]ast.Expr) {
	for i, to := range s.Lhs {
		if f, ok := to.(*ast.SelectorExpr); ok && f.Sel.Name == "Wrong" && i < len(s.Rhs) {
			if text, ok := constant(s.Rhs[i], constants); ok && text != "" {
				a.bare[text] = true
			}
		}
	}
}

// member notes a notice, or what is wrong, that is in English alone.
func (a asked) member(m *ast.KeyValueExpr, constants map[string]ast.Expr) {
	name, ok := m.Key.(*ast.Ident)
	if !ok || name.Name != "Wrong" && name.Name != "Text" && name.Name != "Subject" {
		return
	}
	if text, ok := constant(m.Value, constants); ok && text != "" {
		a.bare[text] = true
	}
}

// statusTexts returns the titles of pages with errors.
func statusTexts() map[string]string {
	all := map[string]string{}
	for status := 400; status < 600; status++ {
		if text := http.StatusText(status); text != "" {
			all["Status"+strings.NewReplacer(" ", "", "-", "").Replace(text)] = text
		}
	}
	return all
}

// constant returns the value of an expression, if it is a constant text.
func constant(e ast.Expr, constants map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		if value, ok := constants[e.Name]; ok {
			return constant(value, constants)
		}
	case *ast.BinaryExpr:
		x, isX := constant(e.X, constants)
		y, isY := constant(e.Y, constants)
		return x + y, isX && isY
	}
	return "", false
}

func expression(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return expression(e.X) + "." + e.Sel.Name
	case *ast.BinaryExpr:
		return expression(e.X) + "+" + expression(e.Y)
	case *ast.BasicLit:
		return e.Value
	}
	return "?"
}

// What people read in templates: texts between tags, and in some attributes.
var (
	tag       = regexp.MustCompile(`<[^>]*>`)
	word      = regexp.MustCompile(`[A-Za-z]{2,}`)
	attribute = regexp.MustCompile(`(?:aria-label|alt|title|placeholder|data-confirm)="([^"]*)"`)
	action    = regexp.MustCompile(`\{\{.*?\}\}`)
)

// No template has a text that is in English alone, and neither has the code.
func TestNoTextIsEnglishAlone(t *testing.T) {
	t.Parallel()
	for text := range keysAsked(t).bare {
		t.Errorf("%q is in English alone: pass it to T", text)
	}
	may := []string{"CSV", "https://shop.example/sms", "+46701740605"}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	parts, err2 := fs.Glob(templateFiles, "templates/parts/*.html")
	if err != nil || err2 != nil || len(files) < 20 || len(parts) < 3 {
		t.Fatal(files, parts)
	}
	for _, file := range append(files, parts...) {
		b, err := fs.ReadFile(templateFiles, file)
		if err != nil {
			t.Fatal(err)
		}
		text := action.ReplaceAllString(string(b), "")
		shown := tag.Split(text, -1)
		for _, m := range attribute.FindAllStringSubmatch(text, -1) {
			shown = append(shown, m[1])
		}
		for _, one := range shown {
			if one = strings.TrimSpace(one); word.MatchString(one) && !slices.Contains(may, one) {
				t.Errorf("%s: %q is in English alone: write {{$.T \"...\"}}", file, one)
			}
		}
	}
}

// Each text of the pages is in each language that comes with the program, and no language has another one. Keys that are no
// constants are known to variableKeys.
func TestLanguagesAreComplete(t *testing.T) {
	t.Parallel()
	a := keysAsked(t)
	want := slices.Sorted(maps.Keys(a.keys))
	if len(want) < 300 {
		t.Fatalf("only %d texts are found", len(want))
	}
	for _, tag := range []string{"de", "es"} {
		has := texts.Shipped().Only(tag)
		for _, key := range want {
			if !slices.Contains(has, key) {
				t.Errorf("%s.json lacks %q", tag, key)
			}
		}
		for _, key := range has {
			if !a.keys[key] {
				t.Errorf("%s.json has %q, which no page has", tag, key)
			}
		}
	}
	for _, key := range texts.Shipped().Only("en") {
		if !a.keys[key] {
			t.Errorf("en.json has %q, which no page has", key)
		}
	}
	known := []string{
		"$head", "$s", "b.visit.site.portal.pages.Name", "print .", ".", ".Scope", ".State", `"The "+option+" "+why+"."`, "detail", "p.Group", "p.Title", "title",
	}
	if got := slices.Sorted(maps.Keys(a.variable)); !slices.Equal(got, slices.Sorted(slices.Values(known))) {
		t.Errorf("keys that are no constants, whose values must be in variableKeys: %q, not %q", got, known)
	}
}
