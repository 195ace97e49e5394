package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pmg/config/option"
	"pmg/sms/charset"
)

// Each word that an option about texts allows has a meaning. Each word with a meaning is allowed.
func TestTextWords(t *testing.T) {
	t.Parallel()
	meanings := map[string][]string{
		"Charset": slices.Sorted(maps.Keys(charsets)), "ASCII": slices.Sorted(maps.Keys(asciis)), "EncodeAs": slices.Sorted(maps.Keys(encodings)),
		"Missing": slices.Sorted(maps.Keys(missings)), "Long": slices.Sorted(maps.Keys(longs)),
	}
	for f := range option.All(reflect.TypeFor[Text]()) {
		words := strings.Split(f.Tag.Get("enum"), "|")
		slices.Sort(words)
		known := slices.DeleteFunc(meanings[f.Name], func(word string) bool { return word == "" })
		if f.Name == "Languages" {
			known = slices.DeleteFunc(slices.Clone(words), func(word string) bool {
				_, ok := charset.ParseLanguage(word)
				return !ok
			})
		}
		if !slices.Equal(words, known) {
			t.Errorf("%s allows %q, and %q have a meaning", option.Key(f), words, known)
		}
	}
}
