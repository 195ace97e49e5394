// Package nearest finds the word that is most similar to a mistyped one.
//
// # Start reading
//
// Word, Hint.
package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// Word returns the word of words that is most similar to mistyped, ignoring case, or "" if no word is similar.
func Word(mistyped string, words []string) string {
	best, distance := "", min(3, len(mistyped)) // "b" is not similar to "x"
	for _, word := range words {
		if n := editDistance(strings.ToLower(mistyped), strings.ToLower(word)); n < distance {
			best, distance = word, n
		}
	}
	return best
}

// editDistance returns the Levenshtein distance of a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// maxNamed is how many names a message lists.
const maxNamed = 8

// Hint returns a hint that names the most similar name, or all names if none is similar.
func Hint(name string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	switch near := Word(name, names); {
	case near != "":
		return ": did you mean " + near + "?"
	case len(names) == 0:
		return ": there are none"
	case len(names) == 1:
		return ": there is only " + names[0]
	}
	return ": there are " + List(names)
}

// List lists at most maxNamed names, and the number of the others.
func List(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}
