package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/sms"
)

// The forms of retry, and what the lists mean.
func TestRetry(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "[10s 1m 5m repeat] [10s 1m 5m 30m] [10s 1m 5m 30m]",
		"retry: [1s, 2h]":                    "[1s 2h repeat] [1s 2h] [1s 2h]",
		"retry: [1s, repeat]":                "[1s repeat] [1s repeat] [1s repeat]",
		"retry: 5s":                          "[5s repeat] [5s] [5s]",
		"retry: []":                          "[10s 1m 5m repeat] [] []",
		"retry: {lost: [], throttled: [1s]}": "[1s] [10s 1m 5m 30m] []",
		"retry:":                             "[10s 1m 5m repeat] [10s 1m 5m 30m] [10s 1m 5m 30m]",
	} {
		c := mustParse(t, fmt.Sprintf("accounts: []\nconnectors:\n  - {name: a, direction: out, address: \"a:1\", system_id: x, %s}\n", text))
		r := &c.Connectors[0].Retry
		if got := fmt.Sprint(r.Throttled, r.Temporary, r.Lost); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		again := mustParse(t, strings.ReplaceAll(Show(c), "password: \"\"", "password: x"))
		if got := fmt.Sprint(again.Connectors[0].Retry); got != fmt.Sprint(*r) {
			t.Errorf("%s: shown and read again %s", text, got)
		}
		if next := mustParse(t, "connectors:\n  - {name: a, direction: out, address: \"a:1\", system_id: x, retry: [3s]}\n"); text != "" && len(c.Diff(next)) == 0 {
			t.Errorf("%s: no change", text)
		}
	}
	for _, f := range []sms.Failure{sms.Throttling, sms.Temporary, sms.NoAnswer} {
		if !slices.ContainsFunc(Describe(), func(o Option) bool { return o.Path == "connectors[].retry."+f.String() }) {
			t.Errorf("there are no pauses for failures that are %s", f)
		}
	}
	if d := (&Retry{Lost: Pauses{Pause(time.Minute), Repeat}}).Longest(); d != time.Minute {
		t.Errorf("the longest pause is %s", d)
	}
	if d := new(Retry).Longest(); d != 0 {
		t.Errorf("the longest pause of none is %s", d)
	}
}
