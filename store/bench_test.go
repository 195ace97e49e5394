package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
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

// BenchmarkBacklog opens a store with a million messages, reads all heads, and takes the
// messages away. What is left must be under 50 MB.
func BenchmarkBacklog(b *testing.B) {
	const messages, size = 1_000_000, 1000
	for b.Loop() {
		dir := filepath.Join(b.TempDir(), "store")
		m := sample(0, "A text of a usual length: a hundred and sixty characters are the most that fit into one SMS.")
		m.Set(m.Source(), m.Dest(), m.Text())
		octets := RecordSize(m, sampleLane)
		random, text := rand.New(rand.NewPCG(1, 1)), []byte(string(m.Text())) // what can be compressed takes no room
		var batch Batch
		s := openBench(b, dir)
		began := time.Now()
		for range messages / size {
			batch.Reset()
			for range size {
				m.ID++
				for at := 0; at+8 <= len(text); at += 8 {
					binary.BigEndian.PutUint64(text[at:], random.Uint64())
				}
				copy(m.Text(), text)
				batch.Put(m, sampleLane)
			}
			commitBench(b, s, &batch)
		}
		fill := time.Since(began)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}

		began = time.Now()
		s = openBench(b, dir)
		b.ReportMetric(time.Since(began).Seconds(), "s-open")
		began = time.Now()
		found := 0
		for next := uint64(0); ; {
			var err error
			if next, err = s.Scan(next, 10_000, func(e *Entry) error {
				found++
				_, err := DecodeHead(e.Record)
				return err
			}); err != nil {
				b.Fatal(err)
			}
			if next == 0 {
				break
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "s-scan")
		if found != messages {
			b.Fatalf("%d messages", found)
		}
		full := s.Stats().Octets
		began = time.Now()
		for id := uint64(1); id <= messages; {
			batch.Reset()
			for range size {
				batch.Delete(id, octets)
				id++
			}
			commitBench(b, s, &batch)
			if id%100_000 == 1 {
				s.Tidy()
			}
		}
		drain := time.Since(began)
		for range 2 * shrinkAfter {
			s.Tidy()
		}
		deadline := time.Now().Add(time.Minute)
		for s.Stats().Octets > 50<<20 && time.Now().Before(deadline) {
			time.Sleep(100 * time.Millisecond)
		}
		if left := s.Stats().Octets; left > 50<<20 {
			b.Errorf("%d octets are left", left)
		}
		b.ReportMetric(time.Since(began).Seconds()-drain.Seconds(), "s-shrink")
		b.ReportMetric(float64(full)/(1<<20), "MB-full")
		b.ReportMetric(float64(s.Stats().Octets)/(1<<20), "MB-drained")
		b.ReportMetric(messages/fill.Seconds(), "puts/s")
		b.ReportMetric(messages/drain.Seconds(), "deletes/s")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func openBench(b *testing.B, dir string) Store {
	b.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func commitBench(b *testing.B, s Store, batch *Batch) {
	b.Helper()
	if err := s.Commit(batch); err != nil {
		b.Fatal(err)
	}
}

// A start after a kill under load: 256 MiB of the journal are to be replayed, of messages that were put and deleted soon after.
func BenchmarkReplay(b *testing.B) {
	const octets, perBatch = 256 << 20, 300
	for range b.N {
		b.StopTimer()
		dir := b.TempDir()
		s, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		m := sample(0, "A text of a usual length: a hundred and sixty characters are the most that fit into one SMS.")
		n, written := uint64(0), 0
		for batch := (&Batch{}); written < octets; batch.Reset() { // and none is committed, so that it is all replayed
			for range perBatch {
				n++
				m.ID = n
				batch.Put(m, sampleLane)
				if n > 3*perBatch {
					batch.Delete(n-3*perBatch, 0)
				}
			}
			if err := s.(Writer).Write(batch); err != nil {
				b.Fatal(err)
			}
			written += batch.Size()
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if s, err = Open(dir, Options{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if left := s.Stats().Messages; left != 3*perBatch {
			b.Fatalf("%d messages, want %d", left, 3*perBatch)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "messages")
	}
}
