// Package config reads the gateway's options from one YAML file, and checks them.
//
// # One source
//
// The structs of this package are the only list of options. From the tags of a
// field (package option) come its key, default, check, documentation and reload behaviour, so an
// option is added by adding one line:
//
//	yaml:"window"       the key
//	default:"10"        the value when the file does not give one
//	in:"1000"           the default of an in connector, where it differs
//	range:"1..1000"     both ends included; an end may be left out
//	enum:"a|b"          the words allowed
//	required:"yes"      must be given; there is no default. required:"other": unless other is given
//	only:"out"          has no effect on the other kind of connector
//	protocol:"smpp"     a struct of options that are written among the connector's and
//	                    that only connectors of the protocol have
//	secret:"yes"        never shown
//	lines:"yes"         a text that may have several lines
//	live:"yes"          a reload puts a change in force; "no": only a restart does;
//	                    "rebind": a reload does for sessions that begin after it, and
//	                    an out connector's sessions are bound again
//	doc:"…"             what the option does, and the effect of a change
//
// # From file to Config
//
//	bytes ─► YAML tree ─► decode (keys, types, ranges, references) ─► check (options against each other) ─► Config
//
// Every step collects its problems, each with its line, so that one run shows all
// of them. A value may contain ${ENV:NAME} or ${FILE:/path}, which is replaced
// while decoding; a relative path is relative to the configuration file.
//
// # Start reading
//
// config.go, account.go and money.go (the options), load.go (the steps), managed.go (files beside it), then decode.go,
// check.go and targets.go; diff.go is for a reload; describe.go and write.go turn the same tags into documentation and
// files. Package option reads tags and values, document the file.
package config
