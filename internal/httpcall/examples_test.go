package httpcall

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What docs/webhooks.md shows of checking a signature takes the calls of the gateway, and no others.
func TestSignatureExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct{ name, program, flag, more string }{
		{"js", "node", "-e", `
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(c => verify(c.Secret, c.Headers, Buffer.from(c.Body)))))`},
		{"python", "python3", "-c", `
import json, sys
print(json.dumps([verify(c["Secret"], c["Headers"], c["Body"].encode()) for c in json.loads(sys.argv[1])]))`},
	} {
		t.Run(l.program, func(t *testing.T) {
			t.Parallel()
			_, block, ok := strings.Cut(string(page), "```"+l.name+"\n")
			block, _, _ = strings.Cut(block, "```")
			if !ok {
				t.Fatal("docs/webhooks.md has no such example")
			}
			if _, err := exec.LookPath(l.program); err != nil {
				t.Skip("there is no " + l.program)
			}
			cases, want := signedCalls(t)
			in, _ := json.Marshal(cases)
			out, err := exec.Command(l.program, l.flag, block+l.more, string(in)).CombinedOutput()
			var got []bool
			if err != nil || json.Unmarshal(out, &got) != nil || len(got) != len(want) {
				t.Fatalf("%v: %s", err, out)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%+v: %v", cases[i], got[i])
				}
			}
		})
	}
}

// A signedCall is what a receiver knows of a call.
type signedCall struct {
	Secret  string
	Headers map[string]string
	Body    string
}

// signedCalls returns calls, and which of them are ours and new.
func signedCalls(t *testing.T) (cases []signedCall, ours []bool) {
	t.Helper()
	secret, newer, now := NewSecret(), NewSecret(), time.Now()
	add := func(isOurs bool, secrets []string, at time.Time, change func(*signedCall)) {
		const body = `{"type":"message.delivered","data":{"from":"Ångström"}}`
		signed, err := Sign(secrets, "evt_7", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		c := signedCall{secret, map[string]string{}, body}
		for _, h := range signed {
			c.Headers[h[0]] = h[1]
		}
		if change != nil {
			change(&c)
		}
		cases, ours = append(cases, c), append(ours, isOurs)
	}
	add(true, []string{secret}, now, nil)
	add(true, []string{newer, secret, NewKey()}, now, nil) // while keys change
	add(false, []string{newer}, now, nil)
	add(false, nil, now, nil)
	add(false, []string{secret}, now.Add(-time.Hour), nil)
	add(false, []string{secret}, now, func(c *signedCall) { c.Body += " " })
	add(false, []string{secret}, now, func(c *signedCall) { c.Headers["webhook-id"] = "evt_8" })
	add(false, []string{secret}, now, func(c *signedCall) { c.Headers["webhook-timestamp"] = strconv.FormatInt(now.Unix()+1, 10) })
	add(false, []string{secret}, now, func(c *signedCall) { c.Headers["webhook-signature"] = "v1,å" })
	return cases, ours
}
