package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A plainer word replaces the words that its pattern matches.
type plainer struct {
	word    string
	pattern *regexp.Regexp
}

// phrases are the phrases that comments and documents do not use any more.
var phrases = sync.OnceValue(func() []plainer {
	return []plainer{
		{"reports whether, returns", regexp.MustCompile(`\btells (whether|if|true|false|how (many|much|long|far))\b`)},
		{"returns", regexp.MustCompile(`^\w+ gives (true|false|nil|what|how|whether|the \w+ (of|that|with|for|in))\b`)},
		{"immediately, together", regexp.MustCompile(`\b[Aa]t once\b`)},
		{"forever", regexp.MustCompile(`\bfor ever\b`)},
		{"a noun before who", regexp.MustCompile(`\b(by|to|for|from) who (else|has|is|may|can|will|does|\w+s)\b`)},
		{"a noun before who", regexp.MustCompile(`(^|[.;|] ?)[Ww]ho (else|has|is|may|can|will|does|\w+s)\b`)},
	}
})

// plain are the words that keep a sentence from saying who does what.
var plain = sync.OnceValue(func() []plainer {
	return []plainer{
		{"what it does: allows, passes, returns", regexp.MustCompile(`\b[Ll]ets\b`)},
		{"reports, says, informs, is called with", regexp.MustCompile(`\w,? (tell|tells|told|telling)([ ,;:]|\.( |$)|$)`)},
		{"event, delivery", regexp.MustCompile(`\b[Nn]ews\b|\bcarr(y|ies|ied|ying) away\b`)},
		{"SMSC", regexp.MustCompile(`\b[Cc]entres?\b`)},
		{"action", regexp.MustCompile(`\b([Aa]n|[Tt]he|[Ee]ach|their|its) acts?\b`)},
		{"the verb itself, or the other as the subject", regexp.MustCompile(`\b(has|have|having) (it|them|him|her) \w+ed `)},
		{"the verb itself, or the other as the subject", regexp.MustCompile(`\b(has|have|having) (the|a|an|its|their|each|what) [\w ]{1,40}(done|made|called|written|read|sent|told|stored|asked|checked) (again|now|later|soon|by|when|before|after)\b`)},
	}
})

// A function's comment begins with the verb of what it does: not with what it has, or lets, others do.
var causative = regexp.MustCompile(`^\w+ (has|lets) `)

// names returns the names that were replaced by terms of the field, which ARCHITECTURE.md
// lists.
func names() map[string]string {
	return map[string]string{
		"Rare": "job extras", "Crowd": "back-pressure", "Spent": "session drained",
		"door": "acceptor", "hurry": "flush", "said": "a name for what it holds", "kept": "a name for what it holds",
		"own": "a name for what it holds", "as": "a verb", "look": "check", "turn": "round, batch", "act": "handle",
	}
}

func checkPhrases(t *testing.T, where, text string, all ...plainer) {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, p := range all {
		if match := p.pattern.FindString(text); match != "" {
			t.Errorf("%s: %q: write %q", where, match, p.word)
		}
	}
}

// Comments, in tests too, use the usual words, and names are terms of the field.
func TestWords(t *testing.T) {
	testutil.Long(t)
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "words_test.go") {
			continue
		}
		patterns := append(phrases(), plain()...)
		for _, c := range s.file.Comments {
			for _, paragraph := range strings.Split(c.Text(), "\n\n") {
				checkPhrases(t, s.fset.Position(c.Pos()).String(), paragraph, patterns...)
			}
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && causative.MatchString(f.Doc.Text()) &&
				strings.HasPrefix(f.Doc.Text(), f.Name.Name+" ") {
				t.Errorf("%s: %q: say what %s does", s.fset.Position(f.Pos()), causative.FindString(f.Doc.Text()), f.Name.Name)
			}
		}
		for _, name := range declared(s.file) {
			if word, ok := names()[name.Name]; ok {
				t.Errorf("%s: %s: write %q", s.fset.Position(name.Pos()), name.Name, word)
			}
		}
	}
}

// declared returns the names of the functions, types and fields that a file declares.
func declared(file *ast.File) (all []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			all = append(all, x.Name)
		case *ast.TypeSpec:
			all = append(all, x.Name)
		case *ast.StructType:
			for _, f := range x.Fields.List {
				all = append(all, f.Names...)
			}
		}
		return true
	})
	return all
}

// Documents use the usual words.
func TestWordsOfDocuments(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	// names in specifications have a centre
	usual := append(phrases(), slices.DeleteFunc(slices.Clone(plain()), func(p plainer) bool { return p.word == "SMSC" })...)
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "SECURITY.md", "docs/monitoring/README.md", "docs/monitoring/pmg.rules.yaml", "Makefile", ".ci/run"} {
		files = append(files, filepath.Join(root, name))
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, paragraph := range strings.Split(string(b), "\n\n") {
			checkPhrases(t, file, paragraph, usual...)
		}
	}
}

// The patterns find the words that they are for, and leave usual sentences alone.
func TestPhrases(t *testing.T) {
	matches := func(text string) bool {
		all := append(phrases(), plain()...)
		return causative.MatchString(text) || slices.ContainsFunc(all, func(p plainer) bool { return p.pattern.MatchString(text) })
	}
	for _, text := range []string{
		"Room tells whether the queue is full.", "Wait tells false at the end.", "Take gives the place of the first.",
		"All are written at once.", "A wake-up for who sleeps.", "Who waits too long is refused.", "It ends; who else waits goes on.",
		"take lets the others wait.", "drop has the lane empty.", "The option lets them in.", "The client is told of it.", "No news came.",
		"The SMS centre answers.", "It carries out the act.", "The reader has it checked again.", "It has the file read again.",
	} {
		if !matches(text) {
			t.Errorf("%q is not found", text)
		}
	}
	for _, text := range []string{
		"It decides which clients may log in.", "A person who mistyped a word.", "It runs once at a time.",
		"HasRoom reports whether the queue accepts another message.", "The goroutine that sleeps is woken.",
		"The lane has the message.", "It reports that to the client.", "The actions of an operator.",
	} {
		if matches(text) {
			t.Errorf("%q is found", text)
		}
	}
}
