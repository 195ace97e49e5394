package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/testutil"
	"pmg/packaging"
	"pmg/stages"
)

const architecture = "../../ARCHITECTURE.md"

// ARCHITECTURE.md contains the table that pmg stages prints, and draws every stage.
func TestStagesAreFresh(t *testing.T) {
	var out bytes.Buffer
	if err := runPMG(&out, "stages"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- made by: pmg stages -->\n```\n"
	before, rest, found := strings.Cut(string(b), mark)
	_, after, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("%s has no block after %q", architecture, mark)
	}
	fresh := before + mark + out.String() + "```\n" + after
	testutil.Fresh(t, architecture, fresh, "make docs")
	drawing := documents.Blocks(before, "")[0]
	for i, s := range stages.Table() {
		if want := regexp.MustCompile(`\b` + string(rune('0'+(i+1)/10)) + `?` + string(rune('0'+(i+1)%10)) + ` ` + s.Name + `\b`); !want.MatchString(drawing) {
			t.Errorf("the drawing of %s has no stage %d %s", architecture, i+1, s.Name)
		}
	}
}

// The configurations in documents are valid.
func TestDocumentsConfigurations(t *testing.T) {
	n := 0
	for name, text := range documents.All(t, "../..") {
		for _, yaml := range documents.Blocks(text, "yaml") {
			n++
			if _, _, err := config.Parse([]byte(yaml), config.Options{Protocols: protocolNames()}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if n == 0 {
		t.Error("no document has a configuration")
	}
}

// pmg config check accepts the configurations of packaging/examples; the commands in them exist.
func TestExamples(t *testing.T) {
	t.Setenv("ACME_PASSWORD", "secret")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../packaging/examples")); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := os.Chmod(file, 0o600); err != nil || filepath.Ext(file) != ".yaml" {
			return err
		}
		n++
		var out bytes.Buffer
		if err := runPMG(&out, "config", "check", "-c", file); err != nil || !strings.Contains(out.String(), "can be used") {
			t.Errorf("%s: %v\n%s", file, err, &out)
		}
		b, err := os.ReadFile(file)
		for _, m := range regexp.MustCompile(`(?m)^# pmg (.*)$`).FindAllStringSubmatch(string(b), -1) {
			documents.CheckCommand(t, file, newRootCommand(), m[1])
		}
		return err
	})
	if err != nil || n < 11 {
		t.Errorf("%d examples: %v", n, err)
	}
}

// U16: pmg config init writes the configuration that the README shows, which the next
// commands of the README need.
func TestDocumentsStarter(t *testing.T) {
	parse := func(text string) string {
		c, _, err := config.Parse([]byte(text), config.Options{Protocols: protocolNames()})
		if err != nil {
			t.Fatal(err)
		}
		return config.Show(c)
	}
	if want, got := parse(documents.Blocks(documents.Read(t, "../../README.md"), "yaml")[0]), parse(config.Template()); got != want {
		t.Errorf("pmg config init writes\n%s\nand the README has\n%s", got, want)
	}
}

// docs/first-month.md has the files that pmg config init --for writes, and is short.
func TestDocumentsFirstMonth(t *testing.T) {
	text := documents.Read(t, "../../docs/first-month.md")
	blocks := documents.Blocks(text, "yml")
	for i, name := range []string{"operator.yaml", "reseller.yaml"} {
		if want, _ := packaging.Example(name); len(blocks) != 2 || blocks[i] != want {
			t.Errorf("the page does not have %s as it is", name)
		}
	}
	if n := len(strings.Fields(text)); n > 1200 {
		t.Errorf("%d words", n)
	}
}

// The commands in documents exist, with the flags that stand there.
func TestDocumentsCommands(t *testing.T) {
	documents.CheckCommands(t, "../..", newRootCommand)
}

// Links between documents lead to existing files and headings, and so do the names of pages in the source and in alerts.
func TestDocumentsLinks(t *testing.T) {
	all := documents.All(t, "../..")
	check := func(where, file, anchor string) {
		if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
			t.Errorf("%s: %v", where, err)
		} else if anchor != "" && !slices.Contains(anchors(all[file]), anchor) {
			t.Errorf("%s: %s has no heading #%s", where, file, anchor)
		}
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]*)#?([^):\s]*)\)`)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file := name
			if m[1] != "" {
				file = filepath.Join(filepath.Dir(name), m[1])
			}
			check(name, file, m[2])
		}
	}
	rules, err := os.ReadFile("../../docs/monitoring/pmg.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(docs/[\w/-]+\.md)#?([\w-]*)`)
	for where, text := range map[string]string{"the source": sources(t), "pmg.rules.yaml": string(rules)} {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			check(where, m[1], m[2])
		}
	}
}

// anchors returns the names by which links lead to the headings of a page.
func anchors(page string) (all []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// DEVELOP.md gives a reason for every imported module.
func TestDocumentsDependencies(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text := documents.Read(t, "../../docs/DEVELOP.md")
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		name := regexp.MustCompile(`/v\d+$`).ReplaceAllString(strings.TrimPrefix(m[1], "github.com/"), "")
		if !strings.Contains(text, "| "+name+" |") {
			t.Errorf("docs/DEVELOP.md does not say what %s is for", name)
		}
	}
}

// Every command has a help text.
func TestHelp(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		var out bytes.Buffer
		if err := runPMG(&out, append(path, "-h")...); err != nil || out.Len() == 0 {
			t.Errorf("%s -h: %v", cmd.CommandPath(), err)
		}
		if cmd.Short == "" {
			t.Errorf("%s does not say what it does", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var out bytes.Buffer
		if err := runPMG(&out, "completion", shell); err != nil || !strings.Contains(out.String(), "pmg") {
			t.Errorf("pmg completion %s: %v", shell, err)
		}
	}
	var out bytes.Buffer
	if err := runPMG(&out, "__complete", "con"); err != nil || !strings.HasPrefix(out.String(), "config\t") {
		t.Errorf("con completes to %q: %v", out.String(), err)
	}
}

func TestUnknown(t *testing.T) {
	for _, args := range [][]string{{"sevre"}, {"serve", "--no-such-flag"}, {"serve", "extra"}, {"config", "chek"}} {
		var out bytes.Buffer
		if err := runPMG(&out, args...); err == nil {
			t.Errorf("pmg %s does not fail", strings.Join(args, " "))
		}
	}
}

func runPMG(out *bytes.Buffer, args ...string) error {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(out)
	return root.Execute()
}

// The texts of the table in operate.md, "When something is wrong", are texts of the program.
func TestDocumentsSymptoms(t *testing.T) {
	_, section, found := strings.Cut(documents.Read(t, "../../docs/operate.md"), "\n## When something is wrong\n")
	if !found {
		t.Fatal("docs/operate.md has no such section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	source := sources(t)
	n := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, text := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cells[2], -1) {
			for part := range strings.SplitSeq(text[1], "…") {
				if n++; !strings.Contains(source, strings.Trim(part, ": ")) && !strings.HasPrefix(part, "store.") {
					t.Errorf("no source has %q", part)
				}
			}
		}
	}
	if n == 0 {
		t.Error("the table has no texts")
	}
}

// sources returns the text of all Go files that are not tests.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// docs/profiles.md has the profiles that come with PMG, and what its example says of the merged options.
func TestProfilesAreFresh(t *testing.T) {
	const file = "../../docs/profiles.md"
	text, mark := documents.Read(t, file), "```console\n$ pmg profile list\n"
	before, rest, _ := strings.Cut(text, mark)
	_, after, found := strings.Cut(rest, "```\n")
	var out bytes.Buffer
	if err := runPMG(&out, "profile", "list"); err != nil || !found {
		t.Fatal(err, found)
	}
	testutil.Fresh(t, file, before+mark+out.String()+"```\n"+after, "make docs")
	c, _, err := config.Parse([]byte(documents.Blocks(text, "yaml")[0]), config.Options{Protocols: protocolNames()})
	if err != nil {
		t.Fatal(err)
	}
	north, south := &c.Connectors[1], &c.Connectors[2]
	if len(south.SMPP.Statuses) != 3 || south.SMPP.Statuses[0].Is != "temporary" || len(north.SMPP.Statuses) != 2 ||
		len(south.Retry.Temporary) != 3 || len(south.Retry.Lost) != 0 || c.Accounts[1].Rate != 200 || c.Accounts[0].Rate != 50 {
		t.Errorf("the example is\n%s", config.Show(c))
	}
}
