// Package manage serves the API that changes accounts, routes, lists and prices, which are files of
// managed.dir. The contract of the API is openapi.json, and docs/managed.md has examples.
//
// The answer to a request is JSON, and the answer to a refused request is a problem (RFC 9457) that names the
// options. A caller with the scope look may read, and a caller with administer may write. Passwords are
// written and never read. The contents of a file are identified by a tag (ETag), and If-Match prevents two
// editors from overwriting each other's changes.
//
// # Start reading
//
// Handler in api.go, then objects.go, keys.go and changes.go.
package manage
