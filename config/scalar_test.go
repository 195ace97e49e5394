package config

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"0": 0, "4096": 4096, "7B": 7, "64KiB": 64 << 10, "100 MiB": 100 << 20, "2GiB": 2 << 30, "1025": 1025,
	} {
		got, err := ParseSize(text)
		if got != want || err != nil {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
		if again, err := ParseSize(got.String()); again != want || err != nil {
			t.Errorf("%q is written %q, read as %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1K", "1MB", "1.5MiB", "KiB", "9223372036854775807KiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
	if got := Size(math.MaxInt64).String(); got != "9223372036854775807B" {
		t.Errorf("the largest size is written %s", got)
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "100ms": 100 * time.Millisecond, "10s": 10 * time.Second, "1m": time.Minute,
		"1m30s": 90 * time.Second, "24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "1h0m1s": time.Hour + time.Second,
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%s is written %s", d, got)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"operator": "operator", "a-b_c.d9": "a-b_c.d9", "": `""`, "yes": `"yes"`, "Null": `"Null"`, "0123": `"0123"`,
		"a:1": `"a:1"`, "1e3": `"1e3"`, "a b": `"a b"`, "å": `"å"`, "#": `"#"`,
	} {
		if got := quote(text); got != want {
			t.Errorf("%q is quoted %s, want %s", text, got, want)
		}
	}
}

// A problem line never has a password in it, however the key is spelt.
func TestSourceLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"  password: hunter2", `- {system_id: a, "password": "hunter2"}`, "pasword : hunter2", "Passwd: hunter2", "  password:hunter2",
	} {
		if got := sourceLine([]string{line}, 1); strings.Contains(got, "hunter2") {
			t.Errorf("%q is shown as %q", line, got)
		}
	}
}
