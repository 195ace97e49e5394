// Package web serves the operators' pages, below /ui/ of the admin address: what the gateway does, and the acts of package
// admin as forms.
//
// A page is a row of pages: a model, which is made of the gateway's status, and a template. The template writes what changes with
// Cell, State and Age, so that one run of it gives the page as well as the cells that the page's stream sends when they
// differ from those before. Pages work without scripts; those that are there keep a page up to date and ask before an act.
// The texts of messages are on no page but those of the pdu log and of one message, for those who may see them.
//
// Charts of the last hour are drawn in the browser (static/charts.js), of the samples that package history keeps. The
// page's stream brings each new sample as a cell.
//
// # Start reading
//
// Handler in web.go, then page.go (a page and its cells), stream.go, pages.go (the models), and hour.go (the last hour).
package web
