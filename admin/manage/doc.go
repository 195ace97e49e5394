// Package manage serves the API by which accounts, routes, lists and prices are changed, which are files of managed.dir. Its
// contract is openapi.json, and docs/managed.md has examples.
//
// A request is answered with JSON, and one that is refused with a problem (RFC 9457) that names the options. A caller with the
// scope look may read, and one with administer may write. Passwords are written and never read. What a file of the gateway has
// is named by its tag (ETag), and If-Match keeps two editors from overwriting each other.
//
// # Start reading
//
// Handler in api.go, then objects.go, keys.go and changes.go.
package manage
