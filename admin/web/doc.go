// Package web serves the operators' pages, below /ui/ of the admin address: the state of the gateway, and the
// actions of package admin as forms.
//
// A page is a row of pages: a model, which is made of the gateway's status, and a template. The template
// writes changing values with Cell, State and Age. One run of the template produces both the page and its
// cells. The page's stream sends the cells that have changed. Pages work without scripts. The scripts keep a
// page up to date, and ask before an action. The texts of messages are only on the pages of the pdu log and
// of a message, for users who may see them.
//
// Charts of the last hour are drawn in the browser (static/charts.js), of the samples that package history keeps. The
// page's stream brings each new sample as a cell.
//
// # Start reading
//
// Handler in web.go, then page.go (a page and its cells), stream.go, pages.go (the models), and hour.go (the last hour).
package web
