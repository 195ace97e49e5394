// Package browser is the common part of the sites of operators and of customers: the frame and the menu of
// their pages, the sessions of browsers, the files that pages load, and the headers that restrict the
// content.
//
// # Start reading
//
// site.go (Site, Frame), session.go (Sessions), page.go (Protect, Static).
package browser
