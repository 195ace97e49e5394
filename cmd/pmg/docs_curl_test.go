package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"pmg/internal/testkit/documents"
	"regexp"
	"strings"
	"testing"
	"time"
)

// curled is a gateway that the documents' curl commands ask; %s is the directory of its files.
const curled = `store: {dir: %[1]s/store}
pdulog: {enabled: false}
managed: {dir: %[1]s/managed}
receipts: {keep: 24h}
admin: {address: "127.0.0.1:0", audit: %[1]s/audit, tokens: [{name: shop, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0", scope: administer}]}
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0", portal: true}
  - {name: smsc, direction: out, protocol: test}
accounts:
  - {system_id: load, password: secret}
  - {system_id: shop, password: secret, pull: true}
routes: [{to: smsc}]
lists: [{name: optouts, file: %[1]s/optouts.txt}]
`

// notRun are the commands with curl that are not run, by a part of each, and why.
var notRun = map[string]string{
	`script "/usr/bin/curl`: "keepalived runs it: a line of its configuration",
}

// endless are those whose answer has no end, so that curl is stopped.
var endless = []string{"text/event-stream"}

var (
	inlineCurl = regexp.MustCompile("`(curl [^`]+)`")
	prompted   = regexp.MustCompile(`(?m)^\$ `)
	assigns    = regexp.MustCompile(`^(?:[A-Za-z_]+=\S+ ?("[^"]*")?)+`)
)

// curls returns the scripts of a document that call curl: each block of a shell, of which only what calls curl and what sets
// variables is kept, and each command in the text.
func curls(text string) (scripts []string) {
	fences := strings.Split("\n"+text, "\n```")
	for i := 1; i < len(fences); i += 2 { // every second piece is a block, which begins with its language
		language, block, _ := strings.Cut(fences[i], "\n")
		isPrompted := prompted.MatchString(block)
		if !strings.Contains(block, "curl ") || language != "sh" && !isPrompted {
			continue
		}
		if isPrompted {
			var lines []string
			for line := range strings.Lines(block) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if ok && (strings.HasPrefix(command, "curl ") || assigns.MatchString(command)) {
					lines = append(lines, command)
				}
			}
			block = strings.Join(lines, "\n")
		}
		scripts = append(scripts, block)
	}
	for _, m := range inlineCurl.FindAllStringSubmatch(text, -1) {
		scripts = append(scripts, m[1])
	}
	return scripts
}

// Each curl command of the documents is answered by a gateway as it stands there, but for its address, and no secret of it is in
// the audit log.
func TestDocumentsCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	dir := t.TempDir()
	list := os.WriteFile(filepath.Join(dir, "optouts.txt"), []byte("# none\n"), 0o600)
	if err := errors.Join(list, os.Mkdir(filepath.Join(dir, "managed"), 0o700)); err != nil {
		t.Fatal(err)
	}
	r := runServer(t, fmt.Sprintf(curled, dir))
	api := r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String()
	here := strings.NewReplacer(
		"http://localhost:8080", "http://"+api, "http://127.0.0.1:8080", "http://"+api, "http://127.0.0.1:2780", "http://"+r.admin.Addr(),
		"data/admin.sock", filepath.Join(dir, "store", "admin.sock"),
	)
	ran := 0
	for name, text := range documents.All(t, "../..") {
		for _, script := range curls(text) {
			ran += strings.Count(script, "curl ")
			isEndless := false
			for _, part := range endless {
				isEndless = isEndless || strings.Contains(script, part)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			most := "50"
			if isEndless {
				most = "1"
			}
			c := exec.CommandContext(ctx, "bash", "-c", "set -eo pipefail; curl() { command curl --silent --show-error --fail-with-body --max-time "+
				most+` "$@"; }; A=http://127.0.0.1:2780/admin/v1; T="Authorization: Bearer $PMG_ADMIN_TOKEN"`+"\n"+script)
			c.Args[2] = here.Replace(c.Args[2])
			c.Dir = dir
			c.Env = append(os.Environ(), "PMG_ADMIN_TOKEN=pmg_test", "NO_PROXY=*")
			out, err := c.CombinedOutput()
			cancel()
			if e, ok := err.(*exec.ExitError); ok && isEndless && e.ExitCode() == 28 {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: %v\n%s\n%s", name, err, script, out)
			}
		}
		for part := range notRun {
			if strings.Contains(text, part) {
				ran++
			}
		}
	}
	all := 0
	for _, text := range documents.All(t, "../..") {
		all += len(regexp.MustCompile(`curl (?:-|--|")`).FindAllString(text, -1))
	}
	if ran < all || ran < 15 {
		t.Errorf("%d of %d commands were run", ran, all)
	}
	audit, err := os.ReadFile(filepath.Join(dir, "audit"))
	if err != nil || strings.Contains(string(audit), "s3cret") || strings.Contains(string(audit), "hers") || !strings.Contains(string(audit), "accounts/acme") {
		t.Errorf("%v: %s", err, audit)
	}
}
