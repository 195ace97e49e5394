// Package help wraps the help of all commands at one width, finds words in it, and keeps what many of them share in one
// place.
//
// Start reading with Arrange and AddSearch.
package help

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// width is how many columns a line of help has at most.
const width = 80

// shared are the flags that say how a gateway elsewhere is reached, which the topic "gateway" describes.
func shared() []string { return []string{"ca", "certificate", "key", "token-file"} }

const topic = `Commands that ask a running gateway find it by its configuration: the file that -c names, $PMG_CONFIG, ./pmg.yaml or /etc/pmg/pmg.yaml. They use its socket (admin.socket), and where nothing answers there, admin.address. These flags say otherwise:

`

// Arrange wraps the help of a command and of those below it, and adds the topic "gateway".
func Arrange(root *cobra.Command) {
	var described *cobra.Command
	arrange(root, &described)
	t := root.UsageTemplate()
	for _, flags := range []string{".LocalFlags.FlagUsages", ".InheritedFlags.FlagUsages"} {
		t = strings.ReplaceAll(t, flags+" ", fmt.Sprintf("(%sWrapped %d) ", flags, width))
	}
	root.SetUsageTemplate(strings.TrimRight(t, "\n") + `{{if .LocalFlags.Lookup "token-file"}}
"pmg help gateway" shows the flags for a gateway elsewhere.{{end}}
`)
	if described == nil {
		return
	}
	var b strings.Builder
	for _, name := range append([]string{"address"}, shared()...) {
		f := described.Flags().Lookup(name)
		text := strings.ReplaceAll(f.Usage, "`", "")
		b.WriteString("  --" + name + "\n" + indent(reflow(text, width-6), "      ") + "\n")
	}
	root.AddCommand(
		&cobra.Command{
			Use: "gateway", Short: "How commands find the gateway that runs", Long: reflow(topic, width) + "\n" + b.String(),
		},
	)
}

func arrange(cmd *cobra.Command, described **cobra.Command) {
	cmd.Long = reflow(cmd.Long, width)
	if cmd.Flags().Lookup("token-file") != nil {
		*described = cmd
		for _, name := range shared() {
			_ = cmd.Flags().MarkHidden(name)
		}
	}
	for _, sub := range cmd.Commands() {
		arrange(sub, described)
	}
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}

// reflow wraps paragraphs. Those with lines that are indented, or have columns, stay as they are.
func reflow(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") || strings.Contains(p, "  ") || strings.Contains(p, "\n- ") {
			continue
		}
		var b strings.Builder
		column := 0
		for word := range strings.FieldsSeq(p) {
			switch n := len([]rune(word)); {
			case column == 0:
				column = n
			case column+1+n > width:
				b.WriteByte('\n')
				column = n
			default:
				b.WriteByte(' ')
				column += 1 + n
			}
			b.WriteString(word)
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}
