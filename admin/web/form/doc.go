// Package form makes the form for an account: fields with the descriptions of pmg config describe, their values
// from the account's file, and the changes that a user has made.
//
// A form has each value twice: as the file had it when the page was made, and as the user has left it. Only
// options whose value the user has changed become part of the change, so that options that the form does not
// have stay unchanged, and so do options that somebody else changes meanwhile.
//
// # Start reading
//
// Form, then layout (the fields).
package form
