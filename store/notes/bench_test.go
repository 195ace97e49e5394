package notes

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A note is written, found in the newest table, found in the oldest, and looked for in vain, among a million notes and among ten
// million. A busy gateway writes tables of about 100,000 notes.
func BenchmarkLookup(b *testing.B) {
	const perTable = 100_000
	for _, all := range []int{1_000_000, 10_000_000} {
		dir := b.TempDir()
		o := &pebble.Options{FS: vfs.Default, FormatMajorVersion: pebble.FormatValueSeparation, DisableWAL: true, Logger: quiet{}, Cache: pebble.NewCache(64 << 20)}
		o.Levels[lowestLevel].FilterPolicy = bloom.FilterPolicy(10)
		db, err := pebble.Open(dir, o)
		if err != nil {
			b.Fatal(err)
		}
		n, err := Open(db, o, dir, 0, 0, func(err error) error { return err })
		if err != nil {
			b.Fatal(err)
		}
		value := make([]byte, 100)
		key := func(i int) []byte { // ids in no order
			return fmt.Appendf([]byte("north\x00"), "%016x", binary.BigEndian.Uint64(binary.LittleEndian.AppendUint64(nil, uint64(i)*0x9E3779B97F4A7C15)))
		}
		b.Run(fmt.Sprintf("%d/write", all), func(b *testing.B) {
			for i := range all {
				_ = n.Put(nil, 7, key(i), value)
				if (i+1)%perTable == 0 {
					n.Freeze(1)
					if err := n.WriteFrozen(); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(all), "ns/note")
			b.ReportMetric(float64(len(n.tables)), "tables")
		})
		for name, of := range map[string]func() int{
			"newest": func() int { return all - 1 - rand.IntN(perTable) },
			"oldest": func() int { return rand.IntN(perTable) },
			"none":   func() int { return all + rand.IntN(all) },
		} {
			b.Run(fmt.Sprintf("%d/%s", all, name), func(b *testing.B) {
				for b.Loop() {
					if _, ok, err := n.Lookup(key(of())); err != nil || ok == (name == "none") {
						b.Fatal(ok, err)
					}
				}
			})
		}
		_ = db.Close()
	}
}
