package store

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkCommit puts a batch of messages, and deletes as many older ones.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "store"), Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			m := sample(0, "A text of a usual length: a hundred and sixty characters are the most that fit into one SMS.")
			octets := RecordSize(m, sampleLane)
			var batch Batch
			b.ReportAllocs()
			for b.Loop() {
				batch.Reset()
				for range size {
					m.ID++
					batch.Put(m, sampleLane)
					if old := m.ID - uint64(10*size); m.ID > uint64(10*size) {
						batch.Delete(old, octets)
					}
				}
				if err := s.Commit(&batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.ID)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// BenchmarkRecord writes and reads the record of a message, and its head alone.
func BenchmarkRecord(b *testing.B) {
	m := sample(1, "A text of a usual length: a hundred and sixty characters are the most that fit into one SMS.")
	record := AppendRecord(nil, m, sampleLane, 0)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			AppendRecord(record[:0], m, sampleLane, 0)
		}
	})
	b.Run("head", func(b *testing.B) {
		for b.Loop() {
			if _, err := DecodeHead(record); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if err := Decode(record, m, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
