package config

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/internal/nearest"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A Profile is a named set of options. The decoder merges them into the connectors and accounts that name it
// and then drops the profile.
type Profile struct {
	Name      string  `yaml:"name" required:"yes" live:"yes" doc:"Its name, for the option profile. One that comes with PMG and has the same name is not used."`
	Connector Partial `yaml:"connector" live:"yes" doc:"Any options of connectors but name and profile. A connector's own options count more."`
	Account   Partial `yaml:"account" live:"yes" doc:"Any options of accounts but system_id and profile. An account's own options count more."`
}

// Partial stands for the options of a profile.
type Partial struct{}

// Kind implements option.Word.
func (Partial) Kind() string { return "options" }

// UnmarshalText implements encoding.TextUnmarshaler. Options of a profile are read where it is used.
func (*Partial) UnmarshalText([]byte) error { return nil }

// takers are the types that may use a profile, with the name of their options in the profile, and the options
// that a profile cannot set.
var takers = map[reflect.Type]struct {
	key string
	not []string
}{
	reflect.TypeFor[Connector](): {"connector", []string{"name", "profile"}},
	reflect.TypeFor[Account]():   {"account", []string{"system_id", "profile"}},
}

// A profile holds the options of a profile as they are defined in a file.
type profile struct {
	name     string
	builtin  bool
	sections map[string]*ast.MappingNode // options of the profile, by "connector" and "account"
}

// findProfiles returns the profiles of a tree, by name. Errors in a profile are found when it is decoded.
func findProfiles(root ast.Node) map[string]*profile {
	all := map[string]*profile{}
	for _, n := range entriesOf(valueOf(root, "profiles")) {
		name, _ := document.TextOf(valueOf(n, "name"))
		p := &profile{name: name, sections: map[string]*ast.MappingNode{}}
		for _, taker := range takers {
			if m, ok := valueOf(n, taker.key).(*ast.MappingNode); ok {
				p.sections[taker.key] = m
			}
		}
		if all[name] == nil {
			all[name] = p
		}
	}
	return all
}

// valueOf returns the value of a key, or nil.
func valueOf(n ast.Node, key string) ast.Node {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, kv := range m.Values {
		if kv.Key.GetToken().Value == key {
			return kv.Value
		}
	}
	return nil
}

// entriesOf returns the entries of a list; a single value is a list with one entry.
func entriesOf(n ast.Node) []ast.Node {
	if isNull(n) {
		return nil
	}
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	return []ast.Node{n}
}

func isNull(n ast.Node) bool { return n == nil || n.Type() == ast.NullType }

// checkProfile checks the options of a profile, whoever takes it.
func checkProfile(d *decoder, n ast.Node, path string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.problem(path, "must have options, each written as key: value, with a space behind the colon")
		return
	}
	for of, taker := range takers {
		if !strings.HasSuffix(path, "."+taker.key) {
			continue
		}
		given := map[string]bool{}
		d.fields(m, reflect.New(of).Elem(), path, given)
		for _, key := range taker.not {
			if given[key] {
				d.problem(option.Join(path, key), "cannot be in a profile: remove it")
			}
		}
	}
}

// withProfile returns the options of a connector or an account together with those of its profile.
func withProfile(d *decoder, own *ast.MappingNode, of reflect.Type, path string) *ast.MappingNode {
	taker, ok := takers[of]
	named := valueOf(own, "profile")
	if !ok || isNull(named) {
		return own
	}
	name, _ := document.TextOf(named)
	if name == "" {
		return own
	}
	at := option.Join(path, "profile")
	d.at[at] = named.GetToken()
	p := d.profiles[name]
	if p == nil {
		p = builtinProfile(name)
	}
	switch {
	case p == nil:
		names := BuiltinProfiles()
		for other := range d.profiles {
			names = append(names, other)
		}
		slices.Sort(names)
		d.problem(at, "names the profile %q, which does not exist%s", name, nearest.Hint(name, slices.Compact(names)))
	case p.sections[taker.key] == nil:
		d.problem(at, "names the profile %s, which has no section %s: add the section, or name another profile", name, taker.key)
	default:
		return merge(d, p, own, p.sections[taker.key], of, path)
	}
	return own
}

// merge returns own with the options that only the profile has, and records those. Sections are merged option
// by option. In lists with the tag merge:"entries", the profile's entries follow the own ones.
func merge(d *decoder, p *profile, own, base *ast.MappingNode, of reflect.Type, path string) *ast.MappingNode {
	merged := *own
	merged.Values = nil
	for _, kv := range own.Values {
		key := kv.Key.GetToken().Value
		other := valueOf(base, key)
		if !isNull(other) && isNull(kv.Value) {
			continue // the key is treated as absent
		}
		c := *kv
		f, known := option.Find(of, key)
		mine, isSection := kv.Value.(*ast.MappingNode)
		theirs, both := other.(*ast.MappingNode)
		switch {
		case !known || isNull(other):
		case f.Tag.Get("merge") == "entries":
			c.Value = mergeLists(d, p, kv.Value, other, option.Join(path, key))
		case isSection && both && f.Type.Kind() == reflect.Struct:
			c.Value = merge(d, p, mine, theirs, f.Type, option.Join(path, key))
		}
		merged.Values = append(merged.Values, &c)
	}
	for _, kv := range base.Values {
		if key := kv.Key.GetToken().Value; isNull(valueOf(own, key)) {
			d.from[option.Join(path, key)] = p
			merged.Values = append(merged.Values, kv)
		}
	}
	return &merged
}

// mergeLists puts the profile's entries of a list behind the own ones. An own list without entries stays empty.
func mergeLists(d *decoder, p *profile, own, base ast.Node, path string) ast.Node {
	mine := entriesOf(own)
	if len(mine) == 0 {
		return own
	}
	both := ast.Sequence(own.GetToken(), true)
	both.Values = append(slices.Clone(mine), entriesOf(base)...)
	for i := len(mine); i < len(both.Values); i++ {
		d.from[fmt.Sprintf("%s[%d]", path, i)] = p
	}
	return both
}

// fromProfile returns the profile that the option is from, or nil.
func fromProfile(d *decoder, path string) *profile {
	for up := path; up != ""; up = parentOf(up) {
		if p := d.from[up]; p != nil {
			return p
		}
	}
	return nil
}

// parentOf returns the path of the section or the list that an option stands in.
func parentOf(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

//go:embed profiles
var builtin embed.FS

// BuiltinProfiles returns the names of the profiles that come with PMG.
func BuiltinProfiles() (names []string) {
	files, err := fs.Glob(builtin, "profiles/*.yaml")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	return names
}

// BuiltinProfile returns the text of a profile that comes with PMG. It reports false if no built-in profile has the name.
func BuiltinProfile(name string) (string, bool) {
	text, err := builtin.ReadFile("profiles/" + name + ".yaml")
	return string(text), err == nil
}

// builtinProfile returns a profile that comes with PMG, or nil.
func builtinProfile(name string) *profile {
	text, ok := BuiltinProfile(name)
	if !ok {
		return nil
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		panic("config: profile " + name + ": " + err.Error())
	}
	p := findProfiles(file.Docs[0].Body)[name]
	p.builtin = true
	return p
}

// placeIn returns the path of the option whose line a problem shows: that of the option profile, if the profile comes
// with PMG.
func (p *profile) placeIn(path string) string {
	if p == nil || !p.builtin {
		return path
	}
	return path[:strings.Index(path, "]")+1] + ".profile"
}
