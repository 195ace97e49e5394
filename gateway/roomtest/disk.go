package roomtest

import "pmg/store"

// A Disk is a durable store whose commits end when the test says so, and how.
type Disk struct {
	store.Store
	Permits chan error // receives the result of each commit
	Begun   chan int   // sends the number of changes of each commit
}

// NewDisk returns a disk without messages.
func NewDisk() *Disk { return &Disk{Permits: make(chan error), Begun: make(chan int, 100)} }

// Durable implements store.Store.
func (d *Disk) Durable() bool { return true }

// LastID implements store.Store.
func (d *Disk) LastID() uint64 { return 0 }

// Notes implements store.Store.
func (d *Disk) Notes(store.Kind, []byte, int, func(key, value []byte) error) error {
	return nil
}

// Close implements store.Store.
func (d *Disk) Close() error { return nil }

// Tidy implements store.Store.
func (d *Disk) Tidy() {}

// Stats implements store.Store.
func (d *Disk) Stats() store.Stats { return store.Stats{Engine: "disk"} }

// Commit waits until the test permits it. A batch that has failed may be there all the same, if there is a Store.
func (d *Disk) Commit(b *store.Batch) error {
	d.Begun <- b.Len()
	err := <-d.Permits
	if d.Store != nil {
		_ = d.Store.Commit(b)
	}
	return err
}
