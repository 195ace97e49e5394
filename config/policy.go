package config

import "time"

// Duplicates says which messages of an account are the same message once more.
type Duplicates struct {
	Within time.Duration `yaml:"within" default:"0s" range:"0s..168h" live:"yes" doc:"How long after a message was accepted another one with the same sender, recipient and text is refused (SMPP: ESME_RSUBMITFAIL, HTTP: 409), whichever way it comes and whatever became of the first; 0s is not at all. Addresses are compared as rewrite leaves them. The window is in memory: after a start it is empty."`
	Keep   int           `yaml:"keep" default:"100000" range:"1000..1000000" live:"yes" doc:"Messages that are remembered at most, of 40 octets each. Of more than this within the time, the oldest are forgotten, and are not found to be submitted again."`
}
