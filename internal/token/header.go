package token

import (
	"encoding/base64"
	"strings"
)

// Bearer returns the token in a header, and reports whether the header has one (RFC 6750 §2.1).
func Bearer(header string) (token string, ok bool) { return credentials(header, "Bearer") }

// Basic returns the name and the password in a header, and reports whether the header has them (RFC 7617 §2).
func Basic(header string) (name, password string, ok bool) {
	encoded, ok := credentials(header, "Basic")
	if !ok {
		return "", "", false
	}
	both, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(both), ":")
}

// credentials returns the part of a header after a scheme.
func credentials(header, scheme string) (string, bool) {
	header = strings.Trim(header, " \t")
	end := strings.IndexAny(header, " \t")
	if end < 0 || !strings.EqualFold(header[:end], scheme) {
		return "", false
	}
	return strings.TrimLeft(header[end:], " \t"), true
}
