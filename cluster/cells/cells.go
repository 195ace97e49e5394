// Package cells keeps small values that all nodes of a cluster share, in a bucket of NATS.
//
// A value is read from the bucket's leader, which may have been deposed and be behind, and is updated by comparing its version.
// So only a successful update proves what the value is.
//
// # Start reading
//
// cells.go
package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"pmg/cluster/lease"
	journal "pmg/store/journal/nats"
)

// Options are the parameters with which a bucket is opened.
type Options struct {
	Servers  string        // URLs, separated by commas
	Connect  []nats.Option // options for the account that owns the bucket: credentials, TLS
	Bucket   string        // name of the bucket
	Replicas int           // number of replicas, if Open creates the bucket
	Failed   func(error)   // called with the error of each failed attempt of Open; nil: it is not called
}

// A Bucket is a bucket of cells. It has its own connection, so that large records do not delay
// heartbeats.
type Bucket struct {
	conn *nats.Conn
	kv   jetstream.KeyValue
}

const (
	openWait = 5 * time.Second
	restWait = 100 * time.Millisecond
)

// Open opens a bucket, and creates it if it does not exist. It tries until it succeeds or ctx ends.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	for {
		b, err := open(ctx, o)
		if err == nil {
			return b, nil
		}
		if o.Failed != nil {
			o.Failed(err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot open the bucket %s of NATS: %w", o.Bucket, err)
		case <-time.After(restWait):
		}
	}
}

func open(ctx context.Context, o Options) (*Bucket, error) {
	conn, err := journal.Connect(o.Servers, o.Connect)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	kv, err := use(ctx, conn, o)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Bucket{conn, kv}, nil
}

func use(ctx context.Context, conn *nats.Conn, o Options) (jetstream.KeyValue, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	_, err = js.KeyValue(ctx, o.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		_, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: o.Bucket, Storage: jetstream.FileStorage, Replicas: o.Replicas, History: 1,
		})
	}
	if err != nil {
		return nil, err
	}
	if err := askLeader(ctx, js, o.Bucket); err != nil {
		return nil, err
	}
	return js.KeyValue(ctx, o.Bucket)
}

// askLeader makes a bucket answer reads by its leader alone. As NATS makes a bucket, any server answers, also one whose answers
// do not arrive because its machine is cut off in that direction: then each such read is lost, until the cut ends.
func askLeader(ctx context.Context, js jetstream.JetStream, bucket string) error {
	s, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return err
	}
	c := s.CachedInfo().Config
	if !c.AllowDirect {
		return nil
	}
	c.AllowDirect = false
	_, err = js.UpdateStream(ctx, c)
	return err
}

// Close ends the connection.
func (b *Bucket) Close() { b.conn.Close() }

// Cell returns the cell with a name. The name may have letters, digits and the characters '.', '-'
// and '_'.
func (b *Bucket) Cell(name string) lease.Cell { return cell{b.kv, name} }

// Put sets the value of a cell without comparing versions.
func (b *Bucket) Put(ctx context.Context, name string, value []byte) error {
	if _, err := b.kv.Put(ctx, name, value); err != nil {
		return fmt.Errorf("cannot write the cell %s: %w", name, err)
	}
	return nil
}

// Remove removes the value of a cell.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := b.kv.Delete(ctx, name); err != nil {
		return fmt.Errorf("cannot remove the cell %s: %w", name, err)
	}
	return nil
}

// A Value is one of several values that All read, perhaps at different times.
type Value struct {
	Name    string // name of the cell, without the prefix
	Octets  []byte
	Version uint64
}

// All returns the values whose names begin with a prefix, in the order of their names.
func (b *Bucket) All(ctx context.Context, prefix string) ([]Value, error) {
	names, err := b.kv.ListKeysFiltered(ctx, prefix+">")
	if err != nil {
		return nil, fmt.Errorf("cannot list the cells: %w", err)
	}
	var all []Value
	for name := range names.Keys() {
		e, err := b.kv.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the cell %s: %w", name, err)
		}
		all = append(all, Value{strings.TrimPrefix(name, prefix), e.Value(), e.Revision()})
	}
	slices.SortFunc(all, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	return all, ctx.Err()
}

// A cell is a key of the bucket.
type cell struct {
	kv   jetstream.KeyValue
	name string
}

// Read implements lease.Cell.
func (c cell) Read(ctx context.Context) ([]byte, uint64, error) {
	e, err := c.kv.Get(ctx, c.name)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("cannot read the cell %s: %w", c.name, err)
	}
	return e.Value(), e.Revision(), nil
}

// Update implements lease.Cell.
func (c cell) Update(ctx context.Context, value []byte, last uint64) (uint64, error) {
	version, err := c.kv.Update(ctx, c.name, value, last)
	switch refused := (*jetstream.APIError)(nil); {
	case err == nil:
		return version, nil
	case errors.Is(err, jetstream.ErrKeyExists),
		errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence,
		refused != nil && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, lease.ErrChanged
	}
	return 0, fmt.Errorf("cannot update the cell %s: %w", c.name, err)
}
