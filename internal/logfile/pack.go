package logfile

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// A packer compresses lines. Each block is a frame, which can be read without the earlier blocks, and what
// blocks have is in an index at the end.
type packer struct {
	out   io.Writer
	zstd  *zstd.Encoder
	index indexer

	blocks []Block
	text   []byte // not compressed yet
	frame  []byte
	at     int64 // position in the plain file
	packed int64 // position in out
}

func newPacker(out io.Writer, keys Keyer) (*packer, error) {
	z, err := zstd.NewWriter(
		nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow),
	)
	return &packer{out: out, zstd: z, index: indexer{keys: keys}}, err
}

// Write adds octets of the file.
func (p *packer) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := cut(len(p.text), rest)
		if n == 0 {
			p.text = append(p.text, rest...)
			break
		}
		text := rest[:n]
		if len(p.text) > 0 {
			p.text = append(p.text, text...)
			text = p.text
		}
		if err := p.add(text); err != nil {
			return 0, err
		}
		p.text, rest = p.text[:0], rest[n:]
	}
	return len(b), nil
}

func (p *packer) add(text []byte) error {
	b := p.index.block(text, p.at)
	p.frame = p.zstd.EncodeAll(text, p.frame[:0])
	b.packedAt, b.packedSize = p.packed, int64(len(p.frame))
	p.blocks = append(p.blocks, b)
	p.at, p.packed = p.at+b.size, p.packed+b.packedSize
	_, err := p.out.Write(p.frame)
	return err
}

// Close writes the rest and the index.
func (p *packer) Close() error {
	if len(p.text) > 0 {
		if err := p.add(p.text); err != nil {
			return err
		}
	}
	_, err := p.out.Write(appendIndex(nil, p.blocks))
	return err
}
