// Package texts writes the texts of the customers' pages in the languages of those who read them.
//
// The English text is the key. Behind a bar it may say what it is about, for those who translate: "To|a day". Its places for
// arguments are %s, or %d for a count, which selects the plural form; %[2]s is the second, if their order is another. Parts in
// brackets are links. Files of languages are JSON: {"key": "text"}, or {"key": {"one": "text", "other": "text"}} with the plural
// forms of CLDR. What a language lacks is written in the next wider one, de for de-AT, and in the end in English.
//
// # Start reading
//
// catalogue.go (Catalogue, Shipped), printer.go (Printer), then read.go (files) and check.go (With).
package texts
