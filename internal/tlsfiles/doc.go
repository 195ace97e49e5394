// Package tlsfiles makes configurations of crypto/tls of certificates and keys in files, and takes over
// what has changed in them while sessions go on.
//
// # Start reading
//
// options.go (from options to a configuration), files.go (changes), authority.go (certificates to try).
package tlsfiles
