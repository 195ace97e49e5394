package option

import (
	"math"
	"testing"
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

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"operator": "operator", "a-b_c.d9": "a-b_c.d9", "": `""`, "yes": `"yes"`, "Null": `"Null"`, "0123": `"0123"`,
		"a:1": `"a:1"`, "1e3": `"1e3"`, "a b": `"a b"`, "å": `"å"`, "#": `"#"`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("%q is quoted %s, want %s", text, got, want)
		}
	}
}
