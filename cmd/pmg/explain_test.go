package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
)

const rewriteDocument = "../../docs/rewrite.md"

// The commands of these pages print what stands below them, with the first configuration there.
func TestExplainedDocumentsAreFresh(t *testing.T) {
	for _, name := range []string{"rewrite", "plugins", "policy"} {
		freshExamples(t, "../../docs/"+name+".md")
	}
}

func freshExamples(t *testing.T, document string) {
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	file := process.WriteConfig(t, documents.Blocks(string(b), "yaml")[0])
	n := 0
	fresh := regexp.MustCompile("(?ms)^```console\n\\$ pmg ([^\n]*)\n.*?^```$").ReplaceAllStringFunc(string(b), func(block string) string {
		n++
		line, _, _ := strings.Cut(strings.TrimPrefix(block, "```console\n$ pmg "), "\n")
		var out bytes.Buffer
		if err := runPMG(&out, append(documents.Words(line), "-c", file)...); err != nil {
			t.Errorf("pmg %s: %v", line, err)
		}
		return "```console\n$ pmg " + line + "\n" + out.String() + "```"
	})
	if n == 0 {
		t.Fatalf("%s has no command", document)
	}
	testutil.Fresh(t, document, fresh, "make docs")
}

// Mistakes in a question are said.
func TestExplainCommand(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(rewriteDocument)
	if err != nil {
		t.Fatal(err)
	}
	file := process.WriteConfig(t, documents.Blocks(string(b), "yaml")[0])
	for want, args := range map[string]string{
		"without its origin":         "--to 1",
		"without a destination":      "--account acme",
		`no account "nobody"`:        "--account nobody --to 1",
		`no connector "three"`:       "--connector three --to 1",
		"come from an SMSC":          "--connector one --account acme --to 1",
		"must have at most 64 chara": "--account acme --to " + strings.Repeat("1", 65),
	} {
		if _, err := pmg(t, "explain -c "+file+" "+args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
