// Package privacy removes what is kept of a person, who is known by a phone number.
//
//	Numbers ──► messages that wait: cancelled ──► their events
//	        ──► logs of PDUs and events: new files are begun
//	        ──► notes of the store: without addresses ──► the disk is purged
//	        ──► logs: those before are rewritten file by file
//
// docs/privacy.md says where numbers and texts of people are kept.
//
// # Start reading
//
// Places.Forget (forget.go), Numbers (numbers.go), notes.go.
package privacy
