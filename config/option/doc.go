// Package option reads the tags of structs whose fields are options, and the values of the options.
//
// # Start reading
//
// tags.go (All, SetDefaults), value.go (Parse, Format); package config has what the tags mean.
package option
