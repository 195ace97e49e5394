package config

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testutil"
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
	"- A file has no anchors, aliases or merges of YAML (`&`, `*`, `<<`): each section has all its options.\n" +
	"- `${ENV:NAME}` and `${FILE:/path}` in a value stand for an environment variable and for the content of a\n" +
	"  file (a relative path is relative to the configuration). Inside `{ }` a value with one needs quotes.\n" +
	"- `pmg reload` (or SIGHUP) puts a change in force, unless the option says *restart*. *New sessions*: the change\n" +
	"  applies to sessions that begin after the reload. The sessions of an out connector are bound anew for it, each when\n" +
	"  what it has sent is answered, and are missing for a few seconds.\n"

// markdown returns the text of docs/config.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	table := func() {
		b.WriteString("\n| option | what it does | values (default) |\n|---|---|---|\n")
	}
	b.WriteString("\n## Top level\n")
	table()
	all := Describe()
	rows := func(section string) string {
		var b strings.Builder
		by := changedBy(all, section)
		for _, o := range all {
			if !o.isSection() && o.section() == section {
				b.WriteString(o.row(by))
			}
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
		if by := changedBy(all, o.Path); by != "" && by != "reload" {
			fmt.Fprintf(&b, "All: %s.\n", by)
		}
		table()
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

func (o Option) by() string { return strings.TrimPrefix(o.reload(), "reload, ") }

// row returns the row of an option in a section where by puts all changes in force.
func (o Option) row(by string) string {
	values := o.Type
	if o.Allowed != "" && !strings.HasPrefix(o.Allowed, "at least 0") {
		values += ": " + o.Allowed
	}
	switch {
	case o.Required:
		values += ", *required*"
	case o.Default != "":
		values += " (`" + o.Default + "`)"
	case values == "text":
		values = ""
	}
	var notes []string
	if only := strings.TrimSpace(o.Protocol + " " + o.Only); only != "" {
		notes = append(notes, only+" only")
	}
	if o.by() != "reload" && o.by() != by {
		notes = append(notes, o.by())
	}
	doc := o.Doc
	if len(notes) > 0 {
		doc = "(" + strings.Join(notes, "; ") + ") " + doc
	}
	key := o.Path[strings.LastIndex(o.Path, ".")+1:]
	return fmt.Sprintf("| `%s` | %s | %s |\n", key, strings.ReplaceAll(doc, "|", "\\|"), values)
}
