package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/internal/nearest"
	"pmg/internal/passhash"
)

// A decoder fills a Config from a YAML tree. The decoder continues after a problem.
type decoder struct {
	file        string
	dir         string // the directory that relative paths of references start from
	lines       []string
	at          map[string]*token.Token // the position of an option, by path
	names       map[string]string       // the names of entries of lists, by path (nameEntry)
	given       map[string]bool         // the options at the top level that have a value
	secretFiles []string                // files with passwords
	problems    document.Problems
	warnings    []document.Warning
	profiles    map[string]*profile // profiles of the file, by name
	from        map[string]*profile // the profile that an option is from, by path
	managed     map[string]section  // the entries of a list that are defined by managed files, by the name of the list
	options     Options
	shapes      *option.Shapes // shared by the decoders of managed files
}

// problem adds a problem of the option. It shows the line of the option, or of the
// nearest section around it that the file contains.
func (d *decoder) problem(path, format string, args ...any) {
	d.problems = append(d.problems, d.describe(path, fmt.Sprintf(format, args...)))
}

// warn adds a warning like a problem.
func (d *decoder) warn(path, format string, args ...any) {
	d.warnings = append(d.warnings, d.describe(path, fmt.Sprintf(format, args...)))
}

func (d *decoder) describe(path, message string) document.Problem {
	file, path, shown := place(d, path)
	if file != d.file {
		return reread(d, file, path).describe(path, message)
	}
	if isOfFile := shown != path; isOfFile { // the name of the file of a managed object names the object
		_, shown, _ = strings.Cut(named(d, path), "]")
		shown = strings.TrimPrefix(shown, ".")
	} else {
		shown = named(d, path)
	}
	p := document.Problem{File: d.file, Path: shown, Message: message}
	from := fromProfile(d, path)
	if from != nil {
		p.Message += " (from profile " + from.name + ")"
	}
	for up := from.placeIn(path); up != ""; up = parentOf(up) {
		if t := d.at[up]; t != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
			p.Text = document.SourceLine(d.lines, p.Line)
			break
		}
	}
	if strings.HasSuffix(path, ".password") {
		p.Text = "" // the value may be on a line without the key
	}
	return p
}

// value decodes n into v, an option at path with the tags of f.
func (d *decoder) value(n ast.Node, v reflect.Value, path string, f reflect.StructField) {
	d.at[path] = document.PlaceOf(n)
	if known := len(d.problems); d.from[path] != nil {
		defer func() { d.problems = d.problems[:known] }() // these are problems of the profile, which has already reported them
	}
	switch n.(type) { // the messages do not quote the wrong value, because a password may be in it
	case nil, *ast.NullNode:
		return // the key is treated as absent
	case *ast.AnchorNode:
		d.problem(path, "must not begin with &, an anchor of YAML: remove the anchor, or put the value in quotes")
		return
	case *ast.AliasNode:
		d.problem(path, "must not begin with *, an alias of YAML: write the value out, or put it in quotes")
		return
	case *ast.TagNode:
		d.problem(path, "must not begin with !, a tag of YAML: remove the tag, or put the value in quotes")
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[Partial]():
		checkProfile(d, n, path)
	case option.IsSingle(v.Type()):
		d.scalar(n, v, path, f)
	case v.Kind() == reflect.Slice:
		d.list(n, v, path, f)
	default:
		d.object(n, v, path)
	}
}

// list decodes a sequence; a single value is decoded as a list with one entry.
func (d *decoder) list(n ast.Node, v reflect.Value, path string, f reflect.StructField) {
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		nodes = seq.Values
	}
	if len(nodes) == 0 {
		v.SetZero() // nil is the only form of a list without entries
		if f.Tag.Get("required") != "" {
			d.problem(path, "must not be empty: name at least one")
		}
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(nodes), len(nodes)))
	for i, e := range nodes {
		item := fmt.Sprintf("%s[%d]", path, i)
		d.nameEntry(path, i, nodes)
		d.value(e, v.Index(i), item, f)
		if e == nil || e.Type() == ast.NullType {
			d.problem(item, "must not be empty: remove the entry, or fill it in")
			if v.Index(i).Kind() == reflect.Struct {
				option.SetDefaults(v.Index(i), "default")
			}
		}
	}
}

// object sets the defaults of a struct, and then decodes a mapping into the struct.
func (d *decoder) object(n ast.Node, v reflect.Value, path string) {
	shape := d.shapes.Of(v.Type())
	v.Set(shape.Blank)
	if v.Type() == reflect.TypeFor[Target]() && n.Type() == ast.StringType {
		// Most targets are written as a name alone.
		d.value(n, v.Field(0), path, v.Type().Field(0))
		return
	}
	if v.Type() == reflect.TypeFor[Retry]() && n.Type() != ast.MappingType {
		d.retry(n, v, path)
		return
	}
	// yes is a string of YAML 1.2
	if v.Type() == reflect.TypeFor[TLS]() && (n.Type() == ast.BoolType || n.Type() == ast.StringType) {
		d.value(n, v.Field(0), path, v.Type().Field(0))
		return
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		if path == "" {
			path = "file"
			d.at[path] = n.GetToken()
		}
		d.problem(path, "must have options, each written as key: value, with a space behind the colon")
		return
	}
	m = withProfile(d, m, v.Type(), path)
	given := map[string]bool{}
	if path == "" {
		given = d.given
	}
	d.fields(m, v, path, given)
	for _, f := range shape.Required {
		if other := f.Tag.Get("required"); other != "" && !given[option.Key(f)] && !given[other] { // "yes" is no option
			d.problem(path, "must have %s%s", option.Key(f), choice(f))
		}
	}
	if c, ok := v.Addr().Interface().(*Connector); ok {
		d.direction(c, path, given)
	}
	if t, ok := v.Addr().Interface().(*TLS); ok {
		t.complete(d.dir, given)
	}
}

// choice returns the words that an option allows, for the message about a missing option.
func choice(f reflect.StructField) string {
	if words := f.Tag.Get("enum"); words != "" {
		return ": " + oneOf(strings.Split(words, "|"))
	}
	return ""
}

// fields decodes the keys of a mapping and records them in given.
func (d *decoder) fields(m *ast.MappingNode, v reflect.Value, path string, given map[string]bool) {
	for _, kv := range m.Values {
		if kv.Key.Type() == ast.MergeKeyType {
			d.at[option.Join(path, "<<")] = kv.Key.GetToken()
			d.problem(option.Join(path, "<<"), "must not merge another section: write its options here")
			continue
		}
		key := kv.Key.GetToken().Value
		f, ok := d.shapes.Of(v.Type()).Options[key]
		if !ok && d.from[option.Join(path, key)] != nil {
			continue // the problem belongs to the profile
		}
		if !ok {
			word, _, _ := strings.Cut(key, " ") // a password may follow
			d.at[option.Join(path, word)] = kv.Key.GetToken()
			d.problem(option.Join(path, word), "is not an option%s", suggest(key, path, v.Type()))
			continue
		}
		d.value(kv.Value, v.FieldByIndex(f.Index), option.Join(path, key), f)
		if kv.Value.Type() != ast.NullType {
			given[key] = true
		}
	}
}

// direction sets the defaults that depend on a connector's direction or protocol. It warns of
// options of the other direction, and refuses those of another protocol.
func (d *decoder) direction(c *Connector, path string, given map[string]bool) {
	v := reflect.ValueOf(c).Elem()
	for f := range option.All(v.Type()) {
		if p := f.Tag.Get("protocol"); p != "" && p != c.Protocol && given[option.Key(f)] {
			d.problem(
				option.Join(path, option.Key(f)), "is an option of protocol %s, and this connector speaks %s", p, c.Protocol,
			)
			continue
		}
		if def := f.Tag.Get("in"); def != "" && c.Direction == In && !given[option.Key(f)] {
			option.SetDefault(v.FieldByIndex(f.Index), def)
		}
		if def := f.Tag.Get(c.Protocol); def != "" && !given[option.Key(f)] {
			option.SetDefault(v.FieldByIndex(f.Index), def)
		}
		if only := f.Tag.Get("only"); only != "" && c.Direction != "" && only != c.Direction && given[option.Key(f)] {
			d.warn(option.Join(path, option.Key(f)), "has no effect on a connector with direction: %s", c.Direction)
		}
	}
	completeSMSC(c, given)
	if static := c.IsStatic(); c.Direction == Out {
		c.Static = &static
	}
}

// scalar decodes a single value: it replaces references, converts the type, and checks the rules of the tags.
func (d *decoder) scalar(n ast.Node, v reflect.Value, path string, f reflect.StructField) {
	text, ok := document.TextOf(n)
	if !ok {
		d.problem(path, "must be a single value, without [ ], { } or options below it")
		return
	}
	secret := f.Tag.Get("secret") != ""
	if secret && !strings.Contains(text, "${") && !passhash.Is(text) {
		d.secretFiles = append(d.secretFiles, d.file)
	}
	if secret {
		d.secretFiles = append(d.secretFiles, referenced(text, d.dir)...)
	}
	text, err := expand(text, d.dir)
	switch {
	case err != nil:
	case text == "" && f.Tag.Get("required") != "":
		err = errors.New("must not be empty")
	case strings.ContainsFunc(text, isControl(f.Tag.Get("lines") != "")):
		err = errors.New("must not have line ends or other control characters")
	default:
		err = setScalar(v, text, f.Tag)
	}
	if err != nil {
		d.problem(path, "%v", err)
	}
}

// setScalar parses text into v if the tags allow the value.
func setScalar(v reflect.Value, text string, tag reflect.StructTag) error {
	x, err := option.Parse(v.Type(), text)
	if err != nil {
		return err
	}
	if words := tag.Get("enum"); words != "" && !slices.Contains(strings.Split(words, "|"), text) {
		return fmt.Errorf("must be %s, not %q", oneOf(strings.Split(words, "|")), text)
	}
	if limits := tag.Get("range"); limits != "" {
		if err := option.CheckRange(x, limits); err != nil {
			return err
		}
	}
	v.Set(x)
	return nil
}

// suggest returns a hint for a key that is not an option of the section at path.
func suggest(key, path string, t reflect.Type) string {
	if i := strings.IndexAny(key, " :={"); i > 0 {
		if _, ok := option.Find(t, key[:i]); ok {
			return ": write " + key[:i] + ": and then a space and the value"
		}
	}
	var keys []string
	for f := range option.All(t) {
		keys = append(keys, option.Key(f))
	}
	if near := nearest.Word(key, keys); near != "" {
		return ": did you mean " + near + "?"
	}
	for _, o := range Describe() {
		if strings.HasSuffix(o.Path, "."+key) {
			return ": did you mean " + o.Path + "?"
		}
	}
	section := strings.TrimRight(" "+strings.Map(func(r rune) rune {
		if r == '[' || r == ']' || r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, path), " ")
	section = strings.NewReplacer("profiles.connector", "connectors", "profiles.account", "accounts").Replace(section)
	return ": pmg config describe" + section + " lists the options"
}

// oneOf lists words for a message: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
