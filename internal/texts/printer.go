package texts

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"

	"pmg/internal/figuretext"
)

// A Printer writes texts in one language. The zero Printer writes the keys, which are English.
type Printer struct{ in *words }

// Tag returns the tag of the language, such as de.
func (p Printer) Tag() string {
	if p.in == nil {
		return english
	}
	return p.in.tag.String()
}

// Text returns the text of a key, with arguments in its places. A key that no language has is written as it is.
func (p Printer) Text(key string, args ...any) string {
	f, w := p.find(key)
	return fill(f.of(w, args), args)
}

// find returns the text of a key, and the language that has it, nil if none has.
func (p Printer) find(key string) (f forms, w *words) {
	for w := p.in; w != nil; w = w.wider {
		if f, ok := w.texts[key]; ok {
			return f, w
		}
	}
	f[plural.Other], _, _ = strings.Cut(key, "|")
	return f, nil
}

// A Message is a text and its arguments, before its language is known. The zero Message is empty.
type Message struct {
	Key  string
	Args []any
}

// Say returns a message.
func Say(key string, args ...any) Message { return Message{key, args} }

// In writes the message.
func (m Message) In(p Printer) string {
	if m.Key == "" {
		return ""
	}
	return p.Text(m.Key, m.Args...)
}

// forms are a text, by plural form. That of plural.Other is always there.
type forms [plural.Many + 1]string

// of returns the form for the first count among the arguments.
func (f *forms) of(w *words, args []any) string {
	const most = 10_000_000 // the rules need no more digits
	for _, arg := range args {
		if n, ok := countOf(arg); ok && w != nil {
			return cmp.Or(f[plural.Cardinal.MatchPlural(w.tag, int(n%most), 0, 0, 0, 0)], f[plural.Other])
		}
	}
	return f[plural.Other]
}

// countOf returns an argument as a count, if it is one.
func countOf(arg any) (n int64, ok bool) {
	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		n = v.Int()
	case v.CanUint():
		n = int64(min(v.Uint(), 1<<62))
	default:
		return 0, false
	}
	return max(n, -n, 0), true
}

// place is a place for an argument.
var place = regexp.MustCompile(`%(?:\[([1-9])\])?([sd])`)

// places returns the arguments that a text has places for, each once: their numbers, with the letters behind them.
func places(text string) map[string]bool {
	all, next := map[string]bool{}, 1
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		all[cmp.Or(m[1], strconv.Itoa(next))+m[2]] = true
		next++
	}
	return all
}

// fill puts arguments into the places of a text. A place without an argument stays as it is.
func fill(text string, args []any) string {
	if len(args) == 0 {
		return text
	}
	next := 0
	return place.ReplaceAllStringFunc(text, func(p string) string {
		next++
		n := next
		if p[1] == '[' {
			n = int(p[2] - '0')
		}
		if n > len(args) {
			return p
		}
		if v := reflect.ValueOf(args[n-1]); p[len(p)-1] == 'd' && v.CanInt() {
			return figuretext.Number(v.Int())
		}
		return fmt.Sprint(args[n-1])
	})
}
