// Package nearest finds the word that is most similar to a mistyped one.
//
// # Start reading
//
// Word.
package nearest

import "strings"

// Word returns the one of words that is most similar to mistyped, ignoring case, or "" if
// none is similar.
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
