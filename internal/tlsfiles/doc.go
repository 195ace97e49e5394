// Package tlsfiles makes configurations for crypto/tls from certificates and keys in files, and reloads changed files while
// sessions continue.
//
// # Start reading
//
// options.go (from options to a configuration), files.go (changes), authority.go (certificates for tests).
package tlsfiles
