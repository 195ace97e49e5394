// Package manage serves the API by which accounts, routes and lists are changed: files of managed.dir. Its contract is openapi.json,
// and docs/managed.md has examples.
//
// A request is answered with JSON, and one that is refused with a problem (RFC 9457) that names the options. Who may see the
// gateway may read, and who may administer it may write. Passwords are written and never read. What a file of the gateway has
// is named by its tag (ETag), and If-Match keeps two editors from overwriting each other.
//
// # Start reading
//
// Handler in api.go, then objects.go, keys.go and changes.go.
package manage
