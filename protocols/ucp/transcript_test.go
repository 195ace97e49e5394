package ucp

import (
	"path/filepath"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

func transcripts(tb testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		tb.Fatal("no transcripts", err)
	}
	return paths
}

func newOptions() protocols.Options { return NewConnectorOptions() }

// Every transcript of testdata, played to a bare session. To write what came
// out: go test -run Transcripts -update
func TestTranscripts(t *testing.T) {
	d := New(Options{})
	prototest.Run(t, d, newOptions, transcripts(t), func(_ *testing.T, o protocols.SessionOptions) prototest.Subject {
		return prototest.NewSession(d, o)
	})
}
