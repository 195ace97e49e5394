package ucp

import (
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

func newOptions() protocols.Options { return NewConnectorOptions() }

var suite = &prototest.Suite{Driver: New(Options{}), Options: newOptions, Hot: hot, Canonical: canonical, Unhide: unhide}

// To write the output into the transcripts, run: go test -run Transcripts -update
func TestTranscripts(t *testing.T) { suite.RunSessions(t) }
