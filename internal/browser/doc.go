// Package browser is what our pages stand on, whoever they are for: the sessions of browsers, the files that pages load, and
// the headers that keep their content from doing anything.
//
// # Start reading
//
// session.go (Sessions), page.go (Protected, Static).
package browser
