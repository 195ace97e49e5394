package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

func TestDocsAreFresh(t *testing.T) { testutil.Fresh(t, "../docs/config.md", markdown(), "make docs") }

// markdownHead begins docs/config.md.
const markdownHead = "# Configuration\n\n" +
	"Made by `make docs`; the source is `config/config.go`, and for the options of a protocol its\n" +
	"`protocols/*/options.go`.\n\n" +
	"One YAML file. Every option but the required ones may be left out; one that is not listed here is an error.\n" +
	"`pmg config init` writes a starter file, `pmg config check` lists what is wrong with a file, and\n" +
	"`pmg config show` prints the values in effect.\n\n" +
	"- A *duration* is written as `500ms`, `10s`, `1h30m` or `7d`, a *size* as `4096`, `64KiB` or `100MiB`.\n" +
	"- A list of one may be written without brackets.\n" +
	"- Behind an option stand its default, its values (any text where there are none; `true` or `false` where that is the\n" +
	"  default), the connectors that have it, and *restart* or *new sessions*.\n" +
	"- Relative paths of `key_file`, `file`, `destination_file` and `managed.dir` are relative to the configuration.\n" +
	"- A file has no anchors, aliases or merges of YAML (`&`, `*`, `<<`): each section has all its options.\n" +
	"- `${ENV:NAME}` and `${FILE:/path}` in a value stand for an environment variable and for the content of a\n" +
	"  file (a relative path is relative to the configuration). Inside `{ }` a value with one needs quotes.\n" +
	"- `pmg reload` (or SIGHUP) puts a change in force, unless it says *restart*; *new sessions*: the change\n" +
	"  applies to sessions that begin after the reload. The sessions of an out connector are bound anew for it, each when\n" +
	"  what it has sent is answered, and are missing for a few seconds.\n"

// markdown returns the text of docs/config.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	b.WriteString("\n## Top level\n\n")
	all := Describe()
	rows := func(section string) string {
		var b strings.Builder
		by, only, protocol := changedBy(all, section), onlyOf(all, section), ""
		own := slices.DeleteFunc(slices.Clone(all), func(o Option) bool { return o.isSection() || o.section() != section })
		if only == "" { // options of all protocols first
			slices.SortStableFunc(own, func(a, b Option) int { return strings.Compare(a.Protocol, b.Protocol) })
		}
		for _, o := range own {
			if only == "" && o.Protocol != protocol {
				protocol = o.Protocol
				fmt.Fprintf(&b, "\nWith `protocol: %s`:\n\n", protocol)
			}
			b.WriteString(o.row(by, only))
		}
		return b.String()
	}
	b.WriteString(rows(""))
	first := map[string]string{} // the section that has these options first
	for _, o := range all {
		if !o.isSection() {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", o.Path, o.Doc)
		options := rows(o.Path)
		if same := first[options]; same != "" && options != "" {
			fmt.Fprintf(&b, "Its options are those of [%s](#%s).\n", same, strings.NewReplacer(".", "", "[", "", "]", "").Replace(same))
			continue
		}
		first[options] = o.Path
		var common []string
		if only := onlyOf(all, o.Path); only != "" {
			common = append(common, only+" only")
		}
		if by := changedBy(all, o.Path); by != "" && by != "reload" {
			common = append(common, by)
		}
		if len(common) > 0 {
			fmt.Fprintf(&b, "All: %s.\n", strings.Join(common, "; "))
		}
		b.WriteString("\n")
		b.WriteString(options)
	}
	return b.String()
}

// isSection reports whether the option holds further options.
func (o Option) isSection() bool {
	return strings.HasSuffix(o.Type, "section") || strings.HasSuffix(o.Type, "sections")
}

// section returns the path of the section that holds the option.
func (o Option) section() string {
	return strings.TrimSuffix(o.Path[:max(strings.LastIndex(o.Path, "."), 0)], "[]")
}

// changedBy returns what puts a change of any option of a section in force, or "" where they differ.
func changedBy(all []Option, section string) (by string) {
	for _, o := range all {
		if o.isSection() || o.section() != section {
			continue
		}
		if by != "" && by != o.by() {
			return ""
		}
		by = o.by()
	}
	return by
}

// onlyOf returns the protocol and the direction of the connectors that have the options of a section, or "" where they differ.
func onlyOf(all []Option, section string) (only string) {
	for _, o := range all {
		if o.isSection() || o.section() != section {
			continue
		}
		if only != "" && only != o.only() || o.only() == "" {
			return ""
		}
		only = o.only()
	}
	return only
}

// only returns the protocol and the direction of the connectors that have the option; "" if all have it.
func (o Option) only() string { return strings.TrimSpace(o.Protocol + " " + o.Only) }

func (o Option) by() string { return strings.TrimPrefix(o.reload(), "reload, ") }

// row returns the item of an option in a section where by puts all changes in force, and whose options only these connectors have.
func (o Option) row(by, only string) string {
	var facts []string
	add := func(fact string, is bool) {
		if is {
			facts = append(facts, fact)
		}
	}
	add("*required*", o.Required)
	add("`"+o.Default+"`", o.Default != "")
	switch ranged := o.Allowed != "" && !strings.HasPrefix(o.Allowed, "at least 0"); {
	case ranged && strings.HasPrefix(o.Type, "list"):
		add("list of "+o.Allowed, true)
	case ranged:
		add(o.Allowed, true)
	default:
		add(o.Type, o.Type != "text" && (o.Type != "true or false" || o.Default == ""))
	}
	add(o.Only+" only", only == "" && o.Only != "")
	add(o.by(), o.by() != "reload" && o.by() != by)
	named := "- `" + o.Path[strings.LastIndex(o.Path, ".")+1:] + "`"
	if len(facts) > 0 {
		named += " (" + strings.Join(facts, "; ") + ")"
	}
	return named + ": " + o.Doc + "\n"
}
