package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An awaiter is a log that calls found when a line with a text is written.
type awaiter struct {
	bytes.Buffer
	text  string
	found func()
}

func (a *awaiter) Write(b []byte) (int, error) {
	if strings.Contains(string(b), a.text) {
		a.found()
	}
	return a.Buffer.Write(b)
}

const served = `
pdulog: {enabled: false}
accounts: [{system_id: load, password: secret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0"}]
`

func TestServe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	if err := os.WriteFile(file, []byte(served), 0o600); err != nil {
		t.Fatal(err)
	}
	for architecture, problem := range map[string]string{"pipeline": "", "classic": "", "modern": "cannot run architecture"} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		log := &awaiter{text: `"listening"`, found: stop}
		cmd := newRootCommand()
		cmd.SetArgs([]string{"serve", "--architecture", architecture, "-c", file})
		cmd.SetOut(log)
		cmd.SetErr(&bytes.Buffer{})
		err := cmd.ExecuteContext(ctx)
		if problem == "" && (err != nil || ctx.Err() == nil) {
			t.Errorf("%s: %v\n%s", architecture, err, log)
		}
		if problem != "" && (err == nil || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%s: got error %v", architecture, err)
		}
	}
}
