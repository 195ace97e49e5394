package telemetry

import (
	"strings"
	"testing"
)

const example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" // W3C Trace Context, §3.2.2.5

func TestParseParent(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		example:                                               true,
		strings.TrimSuffix(example, "01") + "ff":              true,  // other flags mean nothing yet
		strings.TrimSuffix(example, "01") + "00":              false, // not recorded
		strings.TrimSuffix(example, "01") + "02":              false,
		"cc" + example[2:]:                                    true, // a version to come
		"cc" + example[2:] + "-what-else":                     true,
		"cc" + example[2:] + ".what":                          false,
		"cc" + example[2:] + strings.Repeat("-", 300):         false,
		"ff" + example[2:]:                                    false,
		example + "-":                                         false,
		example + " ":                                         false,
		" " + example:                                         false,
		example[:54]:                                          false,
		"":                                                    false,
		strings.ToUpper(example):                              false,
		strings.Replace(example, "4b", "4g", 1):               false,
		strings.Replace(example, "4b", "é", 1):                false,
		strings.ReplaceAll(example, "-", "_"):                 false,
		"00-" + strings.Repeat("0", 32) + example[35:]:        false,
		example[:36] + strings.Repeat("0", 16) + "-01":        false,
		example + "," + example:                               false,
		"0x" + example[2:]:                                    false,
		strings.TrimSuffix(example, "01") + "1":               false,
		strings.Replace(example, "4736-00f0", "47360-0f0", 1): false,
	} {
		p, sampled := ParseParent(header)
		if sampled != want {
			t.Errorf("%q: %t", header, sampled)
		}
		if sampled && p.Header() != example {
			t.Errorf("%q becomes %q", header, p.Header())
		}
		if again, ok := ParentOf([]byte(p.Octets())); !ok || again != p {
			t.Errorf("%q is read as %+v", header, again)
		}
	}
	for _, n := range []int{0, 23, 25} {
		if _, ok := ParentOf(make([]byte, n)); ok {
			t.Errorf("%d octets are a parent", n)
		}
	}
}

// FuzzParseParent reads headers that anybody may send.
func FuzzParseParent(f *testing.F) {
	f.Add(example)
	f.Add("cc" + example[2:] + "-more")
	f.Fuzz(func(t *testing.T, header string) {
		if p, sampled := ParseParent(header); sampled && p.Header()[3:52] != header[3:52] {
			t.Errorf("%q becomes %q", header, p.Header())
		}
	})
}
