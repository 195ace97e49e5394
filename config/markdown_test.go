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
	"- *Change by* is the action that puts a change in force: `pmg reload` (or SIGHUP), or a restart of the gateway.\n" +
	"  *New sessions*: the change applies to sessions that begin after the reload. The sessions of an out connector\n" +
	"  are bound anew for it, each when what it has sent is answered, and are missing for a few seconds.\n"

// markdown returns the text of docs/config.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	table := func() {
		b.WriteString("\n| option | what it does | values | default | change by |\n|---|---|---|---|---|\n")
	}
	b.WriteString("\n## Top level\n")
	table()
	all := Describe()
	rows := func(section string) {
		for _, o := range all {
			if !o.isSection() && o.section() == section {
				b.WriteString(o.row())
			}
		}
	}
	rows("")
	for _, o := range all {
		if o.isSection() {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", o.Path, o.Doc)
			table()
			rows(o.Path)
		}
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

func (o Option) row() string {
	values, def := o.Type, o.Default
	if o.Allowed != "" {
		values += ": " + o.Allowed
	}
	if o.Required {
		def = "*required*"
	} else if def != "" {
		def = "`" + def + "`"
	}
	doc := o.Doc
	if only := strings.TrimSpace(o.Protocol + " " + o.Only); only != "" {
		doc = "(" + only + " only) " + doc
	}
	key := o.Path[strings.LastIndex(o.Path, ".")+1:]
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", key, strings.ReplaceAll(doc, "|", "\\|"), values, def, o.reload())
}
