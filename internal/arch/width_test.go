package arch

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is how many columns a line may have, where a tab is four. Tags and raw texts may be wider.
const widest = 130

// wider are the files and folders with wider lines, each with the reason.
var wider = map[string]string{
	"sms/charset/tables.go": "tables of characters, in the order of the specification",
}

// Lines are read without scrolling.
func TestWidth(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || wider[s.path] != "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		raw, n := rawLines(s), 0
		for line := range strings.Lines(string(text)) {
			n++
			columns := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
			if columns > widest && !raw[n] && !strings.Contains(line, "`") {
				t.Errorf("%s:%d has %d columns, more than %d", s.path, n, columns, widest)
			}
		}
	}
}

// rawLines returns the lines of a file that have a tag or a raw text.
func rawLines(s source) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value[0] == '`' {
			for i := s.fset.Position(lit.Pos()).Line; i <= s.fset.Position(lit.End()).Line; i++ {
				lines[i] = true
			}
		}
		return true
	})
	return lines
}
