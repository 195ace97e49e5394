package keep

import (
	"strings"
	"testing"
)

const (
	mib = int64(1 << 20)
	gib = int64(1 << 30)
)

// What is to stay free depends on the file system, unless it is configured, and some more is
// asked for before messages are accepted again.
func TestSpaceShortage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s          Space
		configured int64
		again      bool
		why        string
	}{
		{s: Space{Free: gib, Total: 100 * gib}},
		{s: Space{Free: gib - 1, Total: 100 * gib}, why: "only 1023 MiB are free on the file system of store.dir, and store.min_free keeps 1024 MiB"},
		{s: Space{Free: gib, Total: 100 * gib}, again: true, why: "only 1024 MiB"},
		{s: Space{Free: gib + gib/8, Total: 100 * gib}, again: true},
		{s: Space{Free: 500 * mib, Total: 10 * gib}, why: "keeps 512 MiB"},
		{s: Space{Free: 512 * mib, Total: 10 * gib}},
		{s: Space{Free: 31 * mib, Total: 64 * mib}, why: "keeps 32 MiB"},
		{s: Space{Free: 32 * mib, Total: 64 * mib}},
		{s: Space{Free: 60 * mib, Total: 64 * mib}, configured: 60 * mib},
		{s: Space{Free: 62 * mib, Total: 64 * mib}, configured: 60 * mib, again: true},
		{s: Space{Free: 61 * mib, Total: 64 * mib}, configured: 60 * mib, again: true, why: "only 61 MiB"},
		{s: Space{Free: 1, Total: 64 * mib}, configured: 1},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 999, AllInodes: 100_000}, why: "only 999 files can still be made on the file system of store.dir, and 1000 are kept"},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 1000, AllInodes: 100_000}},
		{s: Space{Free: gib, Total: 2 * gib, Inodes: 1000, AllInodes: 100_000}, again: true, why: "only 1000 files"},
		{s: Space{Free: gib, Total: 2 * gib}},
	} {
		if why := c.s.shortage(c.configured, c.again); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%+v, configured %d, again %v: %q, want %q", c.s, c.configured, c.again, why, c.why)
		}
	}
}
