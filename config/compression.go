package config

import "fmt"

// A Compression is how rotated files are compressed.
type Compression string

// The compressions.
const (
	Zstd          Compression = "zstd"
	Gzip          Compression = "gzip"
	NoCompression Compression = "off"
)

func parseCompression(s string) (Compression, error) {
	switch c := Compression(s); c {
	case Zstd, Gzip, NoCompression:
		return c, nil
	case "true": // compress was a boolean in earlier versions
		return Zstd, nil
	case "false":
		return NoCompression, nil
	}
	return "", fmt.Errorf("must be zstd, gzip or off, not %q", s)
}
