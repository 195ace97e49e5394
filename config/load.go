package config

// Options is what the caller knows and the file is checked against.
type Options struct {
	Protocols []string // the protocols there are; nil leaves the check out
}
