// Package browser is what the sites of operators and of customers share: the frame and the menu of their pages, the sessions of
// browsers, the files that pages load, and the headers that keep their content from doing anything.
//
// # Start reading
//
// site.go (Site, Frame), session.go (Sessions), page.go (Protect, Static).
package browser
