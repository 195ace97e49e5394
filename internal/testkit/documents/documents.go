// Package documents reads the project's documents for tests that compare them with the program, or run their examples.
//
// Start reading with All, Blocks and CheckCommands.
package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// All returns the documents below the project's directory, by their paths from there.
func All(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(name)] = Read(t, file)
		}
	}
	return all
}

// Read returns one document.
func Read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Blocks returns the texts between lines of ```kind and ``` in a document.
func Blocks(document, kind string) (found []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(document, -1) {
		found = append(found, m[1])
	}
	return found
}

// CheckCommands fails the test if a command in a document, or in an example of the help, does not exist, or lacks a flag. It
// checks lines of consoles after "$ ", and code within lines.
func CheckCommands(t testing.TB, root string, program func() *cobra.Command) {
	t.Helper()
	name, n := program().Name(), 0
	within := regexp.MustCompile("`(?:bin/)?" + name + " ([a-z-][^`]*)`")
	for where, text := range All(t, root) {
		for _, block := range Blocks(text, "console") {
			for line := range strings.Lines(block) {
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "+name+" "); ok {
					n++
					CheckCommand(t, where, program(), command)
				}
			}
		}
		for _, m := range within.FindAllStringSubmatch(text, -1) {
			n++
			CheckCommand(t, where, program(), m[1])
		}
	}
	if n == 0 {
		t.Errorf("no document has a command of %s", name)
	}
	checkExamples(t, program(), program)
}

func checkExamples(t testing.TB, cmd *cobra.Command, program func() *cobra.Command) {
	t.Helper()
	for line := range strings.Lines(cmd.Example) {
		for command := range strings.SplitSeq(line, "&&") {
			if args, ok := strings.CutPrefix(strings.TrimSpace(command), program().Name()+" "); ok {
				CheckCommand(t, cmd.CommandPath()+" -h", program(), args)
			}
		}
	}
	for _, sub := range cmd.Commands() {
		checkExamples(t, sub, program)
	}
}

// CheckCommand checks one command; where is its place.
func CheckCommand(t testing.TB, where string, root *cobra.Command, line string) {
	t.Helper()
	words := Words(line)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, args, err := root.Find(words)
	if err != nil || cmd == root && root.HasSubCommands() && !root.Runnable() {
		t.Errorf("%s: %s %s: %v", where, root.Name(), line, err)
		return
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(args); err != nil {
		t.Errorf("%s: %s %s: %v", where, root.Name(), line, err)
		return
	}
	if cmd.Args != nil && !cmd.HasSubCommands() {
		if err := cmd.Args(cmd, cmd.Flags().Args()); err != nil {
			t.Errorf("%s: %s %s: %v", where, root.Name(), line, err)
		}
	}
}

// Words splits the first command of a line.
func Words(line string) (words []string) {
	for _, w := range regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(line, -1) {
		if w == "|" || w == "&&" || w == ">" || strings.HasPrefix(w, "#") {
			break
		}
		words = append(words, strings.Trim(w, `'"`))
	}
	return words
}
